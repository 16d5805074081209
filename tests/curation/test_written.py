"""What a session or run wrote, in review: record by record, or all that is still unreviewed, as one act."""

import re

import pytest
from django.db import connection
from django.test.utils import CaptureQueriesContext

from curation.written import actions, queries
from decisions.actions import create_decision, edit_decision
from records import verbs
from records.actor import Actor
from records.models import Revision
from tests.records.samples import KINDS, make, page_of, write_as_sql

pytestmark = [pytest.mark.mysql, pytest.mark.django_db]
PAGE, REVIEW = "/p/shop/written/", "/p/shop/written/review/"


def shown(client, **asked):
    answer = client.get(PAGE, asked)
    assert answer.status_code == 200
    return {row.node_id: waits for row, waits in answer.context["written"]}


@pytest.fixture
def by_run(agent, project):
    return Actor.agent(agent.token, run=make("run", agent, project).node_id)


def states(records):
    for record in records:
        record.refresh_from_db()
    return [record.review_state for record in records]


@pytest.mark.parametrize("kind", sorted(set(KINDS) - {"session"}))
def test_a_session_lists_every_kind_that_it_wrote(as_curator, agent, project, kind):
    record = make(kind, agent, project)
    assert shown(as_curator, session="ses-8841")[record.node_id] is True


def test_with_the_state_of_each_and_without_itself(as_curator, agent, curator, project):
    make("session", agent, project, "ses-8841")
    waits, approved, archived = (make("decision", agent, project, f"No {n}") for n in range(3))
    verbs.review([approved], "approved", actor=curator)
    verbs.archive([archived], actor=curator)
    make("decision", Actor.agent(agent.token, session="another"), project)
    assert shown(as_curator, session="ses-8841") == {
        waits.node_id: True,
        approved.node_id: False,
        archived.node_id: False,
    }


def test_a_run_and_what_plain_sql_wrote_in_its_name(as_curator, agent, project, by_run):
    one = make("decision", by_run, project)
    by_sql = make("pitfall", agent, project)
    write_as_sql(by_sql, source_run=by_run.run, source_kind="sql")
    assert set(shown(as_curator, run=by_run.run)) == {one.node_id, by_sql.node_id}


@pytest.mark.parametrize("state", ["approved", "rejected", "quarantined"])
def test_one_record_by_its_button(as_curator, agent, project, state):
    one, two = make("decision", agent, project), make("pitfall", agent, project)
    answer = as_curator.post(
        f"{REVIEW}?session=ses-8841", {"one": f"{state}:{one.node_id}", "reason": "seen"}, follow=True
    )
    assert one.node_id in answer.content.decode()
    assert states([one, two]) == [state, "unreviewed"]
    assert answer.context["focus"] == two.node_id


def test_rejecting_asks_why(as_curator, agent, project):
    one = make("decision", agent, project)
    for posted in ({"one": f"rejected:{one.node_id}"}, {"all": "rejected", "reason": " "}):
        answer = as_curator.post(f"{REVIEW}?session=ses-8841", posted, follow=True)
        assert "Say why" in answer.content.decode()
    assert states([one]) == ["unreviewed"]


@pytest.mark.parametrize("state", ["approved", "rejected", "quarantined"])
def test_all_that_is_unreviewed_is_one_act(as_curator, agent, curator, project, by_run, state, monkeypatch):
    monkeypatch.setattr(queries, "PART", 3)
    bad = [create_decision(actor=by_run, project=project, title=f"No {n}", decision="D") for n in range(5)]
    bad += [make("pitfall", by_run, project), make("pattern", by_run, project)]
    settled = make("decision", by_run, project, "Settled")
    verbs.review([settled], "rejected", actor=curator, reason="no")
    answer = as_curator.post(f"{REVIEW}?run={by_run.run}", {"all": state, "reason": "x"}, follow=True)
    assert "7 records" in answer.content.decode()
    assert set(states(bad)) == {state}
    verb = {"approved": "approve", "rejected": "reject", "quarantined": "quarantine"}[state]
    rows = Revision.objects.filter(verb=verb, reason="x")
    assert len(rows) == 7
    assert len({row.act for row in rows}) == 1
    assert states([settled]) == ["rejected"]


def test_what_was_changed_since_it_was_shown_is_left_and_said(as_curator, agent, project):
    one, two = make("decision", agent, project, "One"), make("pitfall", agent, project, "Two")
    page = as_curator.get(PAGE, {"session": "ses-8841"}).content.decode()
    seen = re.findall(r'name="shown" value="([^"]+)"', page)
    assert len(seen) == 2
    edit_decision(actor=agent, decision=one, changes={"decision": "Other words."})
    for posted, became in (
        ({"one": f"approved:{one.node_id}"}, "unreviewed"),
        ({"all": "approved"}, "approved"),
    ):
        answer = as_curator.post(f"{REVIEW}?session=ses-8841", {**posted, "shown": seen}, follow=True)
        said = [str(message) for message in answer.context["messages"]]
        assert f"{one.node_id} is at version 2, not 1: someone else saved it first." in said
        assert states([one, two]) == ["unreviewed", became]


def test_of_many_that_refuse_the_first_say_why_and_the_others_are_counted(as_curator, agent, project):
    changed = [make("decision", agent, project, f"No {n}") for n in range(7)]
    page = as_curator.get(PAGE, {"session": "ses-8841"}).content.decode()
    seen = re.findall(r'name="shown" value="([^"]+)"', page)
    for record in changed:
        edit_decision(actor=agent, decision=record, changes={"decision": "Other words."})
    posted = {"all": "approved", "shown": seen}
    answer = as_curator.post(f"{REVIEW}?session=ses-8841", posted, follow=True)
    said = [str(message) for message in answer.context["messages"]]
    assert ["is at version 2" in one for one in said] == [True] * 5 + [False]
    assert said[-1] == "2 more stay as they are."
    assert set(states(changed)) == {"unreviewed"}


def test_a_part_stays_open_after_a_review_and_plain_sqls_rows_are_read_to_the_end(
    as_curator, agent, project, by_run, monkeypatch
):
    monkeypatch.setattr(queries, "PART", 3)
    written = [
        create_decision(actor=by_run, project=project, title=f"No {n}", decision="D") for n in range(3)
    ]
    by_sql = [make(kind, agent, project, f"{kind} {n}") for kind in ("decision", "pitfall") for n in range(4)]
    for record in by_sql:
        write_as_sql(record, source_run=by_run.run, source_kind="sql")
    seen, address = [], f"{PAGE}?run={by_run.run}"
    while address:
        answer = as_curator.get(address)
        part = [row.node_id for row, _waits in answer.context["written"]]
        again = as_curator.post(
            f"{REVIEW}?{answer.context['here']}", {"one": f"approved:{part[0]}"}, follow=True
        )
        assert [row.node_id for row, _waits in again.context["written"]] == part
        seen, address = seen + part, answer.context["next_url"]
    assert seen == [record.node_id for record in (*written, *by_sql)]
    as_curator.post(f"{REVIEW}?run={by_run.run}", {"all": "approved"})
    assert set(states([*written, *by_sql])) == {"approved"}


def test_too_many_are_refused_whole(as_curator, agent, project, monkeypatch):
    monkeypatch.setattr(actions, "MOST", 2)
    bad = [make("decision", agent, project, f"No {n}") for n in range(3)]
    answer = as_curator.post(f"{REVIEW}?session=ses-8841", {"all": "approved"}, follow=True)
    assert "More than 2 wait" in answer.content.decode()
    assert set(states(bad)) == {"unreviewed"}


@pytest.mark.parametrize(
    "posted", [{}, {"all": "burnt"}, {"one": "burnt:dec_1"}, {"one": "approved:"}, {"all": ""}]
)
def test_what_is_no_review_changes_nothing(as_curator, agent, project, posted):
    one = make("decision", agent, project)
    if posted.get("one", "").endswith("dec_1"):
        posted = {"one": f"burnt:{one.node_id}"}
    answer = as_curator.post(f"{REVIEW}?session=ses-8841", posted, follow=True)
    assert "Must be one of" in answer.content.decode()
    assert states([one]) == ["unreviewed"]


@pytest.mark.parametrize("node_id", ["dec_999999", "x", "dec_1' OR 1=1", "\x00"])
def test_a_record_that_is_not_here_is_absent(as_curator, agent, project, node_id):
    assert as_curator.post(f"{REVIEW}?session=s", {"one": f"approved:{node_id}"}).status_code == 404


@pytest.mark.parametrize(
    "asked", [{}, {"session": "a", "run": "b"}, {"session": "\x00"}, {"session": "x" * 300}, {"run": ""}]
)
def test_a_source_that_is_none_is_absent(as_curator, project, asked):
    assert as_curator.get(PAGE, asked).status_code == 404


def test_another_projects_records_are_out_of_reach(as_curator, agent, other_project, project):
    record = make("decision", agent, project)
    write_as_sql(record, project=other_project)
    assert shown(as_curator, session="ses-8841") == {}
    answer = as_curator.post(f"{REVIEW}?session=ses-8841", {"one": f"approved:{record.node_id}"})
    assert answer.status_code == 404


def test_the_pages_of_session_and_run_bring_it(as_curator, agent, project, by_run):
    session = make("session", agent, project, "ses 8841&x")
    assert f"{PAGE}?session=ses%208841%26x" in as_curator.get(page_of(session)).content.decode()
    run = type(make("run", agent, project)).objects.get(pk=by_run.run.removeprefix("run_"))
    assert f"{PAGE}?run={by_run.run}" in as_curator.get(page_of(run)).content.decode()
    part = as_curator.get(PAGE, {"run": by_run.run}, headers={"HX-Request": "true"}).content.decode()
    assert "<html" not in part


def test_queries_do_not_grow_with_what_was_written(as_curator, agent, project, by_run):
    def asked():
        shown(as_curator, run=by_run.run)
        with CaptureQueriesContext(connection) as captured:
            shown(as_curator, run=by_run.run)
        return len(captured)

    make("decision", by_run, project)
    few = asked()
    for number in range(12):
        make("decision", by_run, project, f"No {number}")
    assert asked() == few
