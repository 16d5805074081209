"""The session pages: list, detail with what was written in it, and the way from a session's own name."""

import pytest
from django.urls import reverse

from decisions.actions import create_decision
from patterns.actions import create_pattern
from records.verbs import archive
from runs.actions import record_run
from tests.records.samples import write_as_sql
from work_sessions.actions import start_session

pytestmark = pytest.mark.django_db

ODD_JSON = [
    0, 1.5, True, False, "text", "", [], {}, [[[[]]]], {"a": {"b": [1, None, "x"]}}, [None, 1, "a", {"k": [True]}],
    {"": ""}, {"<script>": "javascript:alert(1)"}, "```\n</code><script>", {"name": {"name": {"name": 1}}}, "שלום 🙂",
]  # fmt: skip


@pytest.fixture
def session(agent, project):
    return start_session(actor=agent, project=project, session_id="ses-8841", context={"branch": "main"})


def url(name, *args):
    return reverse(f"work_sessions:{name}", args=["shop", *args])


def test_the_list_and_the_detail(as_viewer, session, agent, project, curator):
    written = create_decision(actor=agent, project=project, title="Written here", decision="D")
    hidden = create_pattern(actor=agent, project=project, category="c", name="Put away")
    archive([hidden], actor=curator)
    record_run(actor=agent, project=project, agent_name="order-bot", trigger_type="cron")
    assert "ses-8841" in as_viewer.get(url("list")).content.decode()
    page = as_viewer.get(url("detail", session.pk)).content.decode()
    for text in ("still open", "branch", written.title, "cron"):
        assert text in page, text
    assert "Put away" not in page


def test_a_name_leads_to_its_session(as_viewer, session, agent, other_project):
    answer = as_viewer.get(url("by_session_id"), {"id": "ses-8841"})
    assert (answer.status_code, answer["Location"]) == (302, url("detail", session.pk))
    for name in ("ses-8842", "SES-8841", "", "\x00", "x" * 5000):
        assert as_viewer.get(url("by_session_id"), {"id": name}).status_code == 404, name
    assert as_viewer.get(url("by_session_id")).status_code == 404


@pytest.mark.parametrize("context", ODD_JSON)
def test_a_context_of_any_shape_is_shown(as_viewer, session, context):
    write_as_sql(session, context=context)
    answer = as_viewer.get(url("detail", session.pk))
    assert answer.status_code == 200
    page = answer.content.decode()
    assert "<script>" not in page.replace("<script src=", "")


@pytest.mark.parametrize("method", ["post", "put", "delete"])
def test_sessions_are_read_only_here(as_viewer, session, method):
    for address in (url("list"), url("detail", session.pk), url("by_session_id")):
        assert getattr(as_viewer, method)(address).status_code == 405


def test_a_stranger_finds_nothing(client, stranger_user, session):
    client.force_login(stranger_user)
    for address in (url("list"), url("detail", session.pk), url("by_session_id") + "?id=ses-8841"):
        assert client.get(address).status_code == 404
