"""A session's page: its course in time, its context against that of the session before, ending it by hand."""

import json
import re
from datetime import timedelta

import pytest
from django.core.cache import cache
from django.db import connection
from django.test.utils import CaptureQueriesContext
from django.urls import reverse
from django.utils import timezone

from decisions.actions import create_decision, record_outcome
from patterns.actions import create_pattern, record_evidence
from records.models import ProjectionMark, Revision
from records.pages.json_tree import Before, Difference, difference, draw_tree, same
from records.verbs import archive, review
from tests.records.samples import write_as_sql
from tests.records.test_pages import queries_of
from work_sessions.actions import end_session, start_session
from work_sessions.course import session_before
from work_sessions.models import WorkSession

pytestmark = [pytest.mark.database, pytest.mark.django_db]
BEFORE = {"branch": "main", "step": "tests", "tries": 1, "list": [1, 2], "deep": {"a": {"b": 1}, "same": [1]}}
NOW = {
    "branch": "main",
    "step": "deploy",
    "tries": True,
    "list": [1, 2, 3],
    "deep": {"a": {"b": 2}, "same": [1]},
    "new": None,
}


@pytest.fixture
def session(agent, project):
    return start_session(actor=agent, project=project, session_id="ses-8841", context=BEFORE)


def url(name, *args):
    return reverse(f"work_sessions:{name}", args=["shop", *args])


def events_of(client, session):
    answer = client.get(url("detail", session.pk))
    assert answer.status_code == 200
    return [(event.said, event.title) for event in answer.context["events"]], answer.content.decode()


# --- Its course -----------------------------------------------------------------------------------------------------
def test_the_course_tells_what_it_wrote_what_followed_and_that_it_ended(
    as_curator, session, agent, curator, project
):
    decision = create_decision(actor=agent, project=project, title="Use Redis", decision="D")
    pattern = create_pattern(actor=agent, project=project, category="c", name="Cache-aside")
    record_evidence(actor=agent, pattern=pattern, worked=True)
    record_outcome(actor=curator, decision=decision, type="outage")
    end_session(actor=curator, session=session, summary="Done.", reason="It was left open.")
    events, page = events_of(as_curator, session)
    assert events[:4] == [
        ("began", ""), ("created", "Use Redis"), ("created", "Cache-aside"), ("said it worked", "Cache-aside"),
    ]  # fmt: skip
    assert {said for said, _title in events[4:]} == {"followed", "ended"}
    assert "It was left open." in page
    assert "outage" in page
    assert ">ended</span>" in page


def test_what_is_hidden_keeps_its_name_alone_in_the_course(as_curator, session, agent, curator, project):
    hidden = create_decision(
        actor=agent, project=project, title="Drop the tables", decision="D", reason="Because I say so"
    )
    review([hidden], "rejected", actor=curator, reason="No.")
    archived = create_pattern(actor=agent, project=project, category="c", name="Put away")
    archive([archived], actor=curator)
    events, page = events_of(as_curator, session)
    course = page.partition('id="course"')[2].partition("</section>")[0]
    assert ("created", "") in events
    assert hidden.node_id in course
    for text in ("Drop the tables", "Because I say so", "Put away"):
        assert text not in course, text


def test_a_session_of_very_much_shows_the_first_acts_and_where_the_rest_is(
    as_curator, session, agent, project
):
    pattern = create_pattern(actor=agent, project=project, category="c", name="Cache-aside")
    for _time in range(104):
        record_evidence(actor=agent, pattern=pattern, worked=True)
    events, page = events_of(as_curator, session)
    assert len(events) == 101
    assert "the first 100 acts are shown" in page
    assert "/p/shop/history/?session=ses-8841" in page


def test_a_session_without_a_name_or_a_context_has_a_page(as_curator, session):
    write_as_sql(session, session_id="", context=None, source_name=None)
    events, _page = events_of(as_curator, session)
    assert events == [("began", "")]


def test_what_anybody_wrote_elsewhere_is_not_in_its_course(as_curator, session, curator, project):
    create_decision(actor=curator, project=project, title="Another's", decision="D")
    assert events_of(as_curator, session)[0] == [("began", "")]


def test_the_page_costs_the_same_however_much_was_written(as_curator, session, agent, curator, project):
    def write(count):
        for number in range(count):
            decision = create_decision(actor=agent, project=project, title=f"D {number}", decision="D")
            record_outcome(actor=curator, decision=decision, type="success")
            create_pattern(actor=agent, project=project, category="c", name=f"P {count} {number}")
        ProjectionMark.objects.update(next_try_at=None)
        cache.clear()

    address = url("detail", session.pk)
    as_curator.get(address)
    write(2)
    with CaptureQueriesContext(connection) as few:
        as_curator.get(address)
    write(12)
    with CaptureQueriesContext(connection) as many:
        as_curator.get(address)
    assert len(many) == len(few)


# --- Its context ----------------------------------------------------------------------------------------------------
def later(agent, project, name, context=None, **fields):
    return start_session(
        actor=agent, project=project, session_id=name, context=context,
        started_at=timezone.now() + timedelta(seconds=1), **fields,
    )  # fmt: skip


def test_the_session_before_is_the_same_agents_last_active_one(
    session, agent, curator, project, other_project
):
    now = later(agent, project, "second", NOW)
    start_session(actor=curator, project=project, session_id="a person's")
    assert session_before(now) == session
    assert session_before(session) is None
    archive([session], actor=curator)
    assert session_before(now) is None
    write_as_sql(now, source_name=None)
    assert session_before(WorkSession.objects.select_related("project").get(pk=now.pk)) is None


def test_the_context_says_what_differs_from_the_session_before(as_curator, session, agent, project):
    page = as_curator.get(url("detail", later(agent, project, "second", NOW).pk)).content.decode()
    assert "2 added, 0 removed, 3 changed since the session before" in page
    assert url("detail", session.pk) in page
    page = as_curator.get(url("detail", session.pk)).content.decode()
    assert "the session before" not in page
    twin = later(agent, project, "third", BEFORE, tags=["x"])
    write_as_sql(WorkSession.objects.get(session_id="second"), context=BEFORE)
    write_as_sql(twin, started_at=timezone.now() + timedelta(seconds=9))
    assert "The same as in the session before" in as_curator.get(url("detail", twin.pk)).content.decode()


DIFFERENCES = [
    (BEFORE, BEFORE, (0, 0, 0)), (NOW, BEFORE, (2, 0, 3)), (BEFORE, NOW, (0, 2, 3)), ({}, None, (0, 0, 1)),
    (None, None, (0, 0, 0)), ({"a": 1}, {"a": True}, (0, 0, 1)), ({"a": [1]}, {"a": {"1": 1}}, (0, 0, 1)),
    ([1, [2]], [1, [3], 4], (0, 1, 1)), ({"b": 1, "a": 2}, {"a": 2, "b": 1}, (0, 0, 0)), ("x", {"a": 1}, (0, 0, 1)),
    ({"a": None}, {}, (1, 0, 0)), ([], {}, (0, 0, 1)), (1, 1.0, (0, 0, 1)),
]  # fmt: skip


@pytest.mark.parametrize(("now", "before", "counts"), DIFFERENCES)
def test_a_difference_is_counted_as_json_has_it(now, before, counts):
    assert difference(now, before) == Difference(*counts)
    assert difference(now, before).is_none == same(now, before)
    drawn = draw_tree(now, Before(before))
    marks = re.findall(r">(added|removed|changed)</span>", drawn)
    if isinstance(now, type(before)) and isinstance(now, dict | list):
        assert [marks.count(word) for word in ("added", "removed", "changed")] == list(counts)


def test_what_differs_is_drawn_also_at_the_end_of_very_much():
    before = {f"k{number:05}": number for number in range(5000)}
    drawn = draw_tree({**before, "k04999": "<b>new</b>"}, Before(before))
    assert "<del><code" in drawn
    assert "&lt;b&gt;new" in drawn
    assert drawn.count("<li>") == 601
    assert "4,399 more lines" in drawn


def test_a_context_at_its_limits_is_drawn():
    deep: object = "end"
    for _ in range(99):
        deep = [deep]
    wide = {"\x00": "\u202e", **{str(number): "x" * 50 for number in range(15_000)}}
    for now, before in ((deep, []), ([], deep), (deep, deep), (wide, {}), ({}, wide), ("text", deep)):
        drawn = draw_tree(now, Before(before))
        assert len(drawn) < 300_000
        assert difference(now, before).is_none == (now is before)


@pytest.mark.parametrize(
    "kept", ['{"a": ' * 300 + "1" + "}" * 300, '{"a": 1e999}', "[" * 40 + "]" * 40, '{"a":1,"a":2}']
)
def test_a_context_that_plain_sql_wrote_is_never_an_error(as_curator, session, agent, project, kept):
    if connection.vendor != "sqlite":
        kept = json.dumps({"a": [1, {"": kept}]})
    second = later(agent, project, "second", {"a": 1})
    for one in (session, second):
        with connection.cursor() as cursor:
            cursor.execute("UPDATE work_sessions SET context = %s WHERE id = %s", [kept, session.pk])
        assert as_curator.get(url("detail", one.pk)).status_code == 200


# --- Ending it ------------------------------------------------------------------------------------------------------
def test_a_curator_ends_and_summarises_with_a_reason_in_the_history(as_curator, session):
    page = as_curator.get(url("end", session.pk)).content.decode()
    assert "End the session" in page
    answer = as_curator.post(
        url("end", session.pk),
        {"summary": "Deployed.\r\nAll green.", "reason": "Left open", "version": "1"},
        follow=True,
    )
    assert "has ended" in answer.content.decode()
    session.refresh_from_db()
    assert (session.summary, session.version) == ("Deployed.\nAll green.", 2)
    assert session.ended_at is not None
    act = Revision.objects.filter(node_id=session.node_id).latest("pk")
    assert (act.verb, act.reason, act.channel, act.actor_name) == ("end", "Left open", "web", "cleo")
    assert ProjectionMark.objects.get(node_id=session.node_id).wanted_version == 2


def test_of_an_ended_session_the_summary_alone_changes(as_curator, session, agent):
    ended = end_session(actor=agent, session=session).ended_at
    assert "Summarise the session" in as_curator.get(url("end", session.pk)).content.decode()
    as_curator.post(url("end", session.pk), {"summary": "Late words", "version": "2"})
    session.refresh_from_db()
    assert (session.ended_at, session.summary) == (ended, "Late words")
    assert (
        as_curator.post(url("end", session.pk), {"summary": "Late words", "version": "3"}).status_code == 303
    )
    session.refresh_from_db()
    assert session.version == 3, "nothing changed, nothing written"


def test_a_stale_end_meets_the_other_version(as_curator, session, agent):
    end_session(actor=agent, session=session, summary="The agent's words")
    answer = as_curator.post(url("end", session.pk), {"summary": "Mine", "version": "1"})
    assert answer.status_code == 409
    page = answer.content.decode()
    assert "The agent&#x27;s words" in page
    assert "Mine" in page
    session.refresh_from_db()
    assert session.summary == "The agent's words"


def test_the_end_can_be_taken_back(as_curator, session):
    as_curator.post(url("end", session.pk), {"summary": "Done", "version": "1"})
    act = Revision.objects.filter(node_id=session.node_id).latest("pk").act
    assert as_curator.post(reverse("records:undo", args=["shop", act])).status_code == 303
    session.refresh_from_db()
    assert (session.ended_at, session.summary) == (None, None)


@pytest.mark.parametrize(
    "wrong", [{"summary": "a\x00b"}, {"summary": "x" * 1_100_000}, {"reason": "r" * 501, "summary": "ok"}]
)
def test_what_cannot_be_kept_is_said_beside_its_field(as_curator, session, wrong):
    answer = as_curator.post(url("end", session.pk), {**wrong, "version": "1"})
    assert answer.status_code == 422
    session.refresh_from_db()
    assert (session.ended_at, session.version) == (None, 1)


def test_a_viewer_is_offered_no_end_and_refused_one(client, viewer_user, session):
    client.force_login(viewer_user)
    assert "End and summarise" not in client.get(url("detail", session.pk)).content.decode()
    assert client.post(url("end", session.pk), {"summary": "x"}).status_code == 403
    session.refresh_from_db()
    assert session.ended_at is None


def test_the_list_shows_which_are_open(as_curator, session, agent):
    queries_of(as_curator, url("list"))
    assert "open" in as_curator.get(url("list"), {"open": "true"}).content.decode()
    end_session(actor=agent, session=session)
    assert "ses-8841" not in as_curator.get(url("list"), {"open": "true"}).content.decode()
