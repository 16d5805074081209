"""The pitfall pages: list, detail, create, edit, severity with a reason, met again."""

import pytest
from django.urls import reverse

from pitfalls.actions import change_severity, create_pitfall, edit_pitfall
from pitfalls.models import Encounter, Pitfall
from records.models import ProjectionMark, Revision

pytestmark = pytest.mark.django_db


@pytest.fixture
def pitfall(agent, project):
    return create_pitfall(
        actor=agent, project=project, category="cache", title="Stampede on expiry", description="All *at once*.",
        how_to_avoid="Jitter the TTL.", severity="high",
    )  # fmt: skip


def url(name, *args):
    return reverse(f"pitfalls:{name}", args=["shop", *args])


def test_the_list_and_the_detail_show_what_was_written(as_curator, pitfall):
    assert "Stampede on expiry" in as_curator.get(url("list")).content.decode()
    page = as_curator.get(url("detail", pitfall.pk)).content.decode()
    for text in (
        "<em>at once</em>",
        "Jitter the TTL.",
        "high",
        "Met 1 time",
        "Only when it was first written down.",
    ):
        assert text in page, text


def test_create_and_edit_with_a_conflict_in_between(as_curator, project, curator):
    data = {
        "title": "Lost update",
        "category": "db",
        "severity": "low",
        "description": "",
        "how_to_avoid": "Lock.",
    }
    answer = as_curator.post(url("create"), data)
    made = Pitfall.objects.get()
    assert (answer.status_code, answer["Location"]) == (303, url("detail", made.pk))
    assert (made.description, made.how_to_avoid, made.severity) == (None, "Lock.", "low")
    edit_pitfall(actor=curator, pitfall=made, changes={"how_to_avoid": "Version column."})
    mine = {**data, "how_to_avoid": "SELECT FOR UPDATE", "version": "1"}
    answer = as_curator.post(url("edit", made.pk), mine)
    assert answer.status_code == 409
    for text in ("Version column.", "SELECT FOR UPDATE", 'name="version" value="2"'):
        assert text in answer.content.decode(), text
    assert as_curator.post(url("edit", made.pk), {**mine, "version": "2"}).status_code == 303
    assert Pitfall.objects.get().how_to_avoid == "SELECT FOR UPDATE"


@pytest.mark.parametrize(
    "bad",
    [{"title": ""}, {"category": ""}, {"severity": "awful"}, {"title": "x" * 256}, {"category": "y" * 51}],
)
def test_an_invalid_form_is_422_and_keeps_what_was_typed(as_curator, project, bad):
    answer = as_curator.post(
        url("create"), {"title": "T", "category": "c", "severity": "low", "description": "typed", **bad}
    )
    assert answer.status_code == 422
    assert "errorlist" in answer.content.decode()
    assert "typed" in answer.content.decode()
    assert not Pitfall.objects.exists()


def test_severity_changes_with_a_reason_only(as_curator, pitfall, curator):
    address = url("severity", pitfall.pk)
    assert as_curator.get(address).status_code == 200
    assert as_curator.post(address, {"severity": "critical", "version": "1"}).status_code == 422
    assert (
        as_curator.post(address, {"severity": "critical", "reason": "   ", "version": "1"}).status_code == 422
    )
    assert as_curator.post(address, {"severity": "dire", "reason": "x", "version": "1"}).status_code == 422
    assert (
        as_curator.post(address, {"severity": "critical", "reason": "outage", "version": "1"}).status_code
        == 303
    )
    revision = Revision.objects.first()
    assert (revision.verb, revision.changed, revision.reason) == ("change_severity", ["severity"], "outage")
    assert ProjectionMark.objects.get().wanted_version == 2
    assert (
        as_curator.post(address, {"severity": "critical", "reason": "again", "version": "2"}).status_code
        == 303
    )
    assert Pitfall.objects.get().version == 2, "already done is a no-op"
    change_severity(actor=curator, pitfalls=[pitfall], severity="low", reason="fixed")
    answer = as_curator.post(address, {"severity": "medium", "reason": "typed reason", "version": "2"})
    assert answer.status_code == 409
    assert "typed reason" in answer.content.decode()


def test_met_again_counts_and_changes_no_version(as_curator, pitfall):
    address = url("met", pitfall.pk)
    assert as_curator.get(address).status_code == 200
    assert as_curator.post(address, {"note": "on <b>Monday</b>"}).status_code == 303
    assert as_curator.post(address, {}).status_code == 303
    kept = Pitfall.objects.get()
    assert (kept.encountered_count, kept.version, Encounter.objects.count()) == (3, 1, 2)
    assert Revision.objects.first().detail == {"encountered_count": 3}
    page = as_curator.get(url("detail", pitfall.pk)).content.decode()
    for text in ("Met 3 times", "on &lt;b&gt;Monday&lt;/b&gt;", "met it again"):
        assert text in page, text


@pytest.mark.parametrize("note", ["a\x00b", "x" * (1024 * 1024 + 1)])
def test_a_note_that_no_database_keeps_is_explained(as_curator, pitfall, note):
    assert as_curator.post(url("met", pitfall.pk), {"note": note}).status_code == 422
    assert Pitfall.objects.get().encountered_count == 1


@pytest.mark.parametrize("name", ["detail", "edit", "severity", "met"])
def test_strangers_and_viewers(client, stranger_user, viewer_user, pitfall, name):
    client.force_login(stranger_user)
    assert client.get(url(name, pitfall.pk)).status_code == 404
    client.force_login(viewer_user)
    assert client.get(url(name, pitfall.pk)).status_code == (200 if name == "detail" else 403)
    if name != "detail":
        assert client.post(url(name, pitfall.pk)).status_code == 403
    else:
        assert client.post(url(name, pitfall.pk)).status_code == 405
