"""The blast radius: what an origin wrote and changed, what came of it, who was told afterwards; and its quarantine."""

from __future__ import annotations

from datetime import timedelta

import pytest
from django.db import connection
from django.test.utils import CaptureQueriesContext
from django.utils import timezone

from curation.radius import actions, queries
from decisions.actions import create_decision, create_decisions, record_outcome, supersede
from patterns.actions import create_pattern, record_evidence
from records import verbs
from records.actor import Actor
from records.guard import writing
from records.kinds import parse_node_id
from records.links import link
from records.models import Read, Relation, Revision
from records.reads import flush_reads, note_reads
from runs.actions import remember
from tests.conftest import make_token
from tests.records.samples import make, write_as_sql

pytestmark = [pytest.mark.mysql, pytest.mark.django_db]
ADDRESS = "/p/shop/radius/"


@pytest.fixture
def poisoner(agent, project):
    """An agent at work in a run of its own."""
    run = make("run", agent, project)
    return Actor.agent(agent.token, run=run.node_id)


def shown(client, **asked):
    answer = client.get(ADDRESS, asked)
    assert answer.status_code == 200, answer.context["problems"]
    return answer.context


def node_ids(rows):
    return {row.node_id for row in rows}


def reader(project, name, run):
    token, _text = make_token(project, agent_name=name)
    return Actor.agent(token, run=run)


def tell(records, actor):
    note_reads([record.node_id for record in records], actor=actor, door="api.search")
    flush_reads()


def test_what_a_run_wrote_changed_and_touched(as_curator, agent, curator, project, poisoner):
    bad = make("decision", poisoner, project, "Bad")
    pattern = create_pattern(actor=agent, project=project, category="c", name="Lease")
    record_evidence(actor=poisoner, pattern=pattern, worked=True)
    changed = make("pitfall", agent, project, "Old")
    verbs.update([changed], {"title": "New"}, actor=poisoner)
    other = make("decision", agent, project, "Elsewhere")
    context = shown(as_curator, run=poisoner.run)
    rows = {row.node_id: row for row in context["written"]}
    assert set(rows) == {bad.node_id, pattern.node_id, changed.node_id}
    assert other.node_id not in rows
    assert [rows[node].chosen for node in (bad.node_id, pattern.node_id, changed.node_id)] == [
        True,
        False,
        True,
    ]
    assert rows[pattern.node_id].how == "said it worked"


def test_what_came_of_it_step_by_step(as_curator, agent, curator, project, poisoner):
    bad = make("decision", poisoner, project, "Bad")
    outcome = record_outcome(actor=agent, decision=bad, type="outage")
    copy = make("decision", agent, project, "A copy")
    link(copy, Relation.DUPLICATE_OF, bad, actor=agent)
    successor = make("decision", agent, project, "A successor")
    supersede(actor=agent, decision=bad, by=successor)
    of_successor = record_outcome(actor=agent, decision=successor, type="success")
    gave_way = make("decision", agent, project, "Gave way")
    link(bad, Relation.SUPERSEDES, gave_way, actor=agent)
    of_gave_way = record_outcome(actor=agent, decision=gave_way, type="success")
    taken_in = make("decision", poisoner, project, "Merged away")
    survivor = make("decision", agent, project, "Survivor")
    write_as_sql(taken_in, merged_into=survivor.node_id)
    found = {row.node_id: row for row in shown(as_curator, run=poisoner.run)["derived"]}
    assert set(found) == node_ids_of(outcome, copy, successor, of_successor, gave_way, survivor)
    assert of_gave_way.node_id not in found
    assert found[survivor.node_id].how == "has taken in"
    assert found[survivor.node_id].via == taken_in.node_id
    assert not found[gave_way.node_id].chosen
    assert found[of_successor.node_id].via == successor.node_id


def node_ids_of(*records):
    return {record.node_id for record in records}


def test_a_runs_memory_came_of_it(as_curator, agent, project, poisoner):
    run = parse_node_id(poisoner.run)[0].model.objects.get(pk=parse_node_id(poisoner.run)[1])
    memory = remember(actor=agent, project=project, agent_name="order-bot", summary="It went well.", run=run)
    verbs.update([run], {"trigger_type": "alert"}, actor=poisoner)
    assert memory.node_id in node_ids(shown(as_curator, run=poisoner.run)["derived"])


def test_only_later_readers_and_never_itself(as_curator, agent, project, poisoner):
    old = make("decision", agent, project, "Old")
    early = reader(project, "early", "run_" + "1" * 32)
    tell([old], early)
    Read.objects.update(read_at=timezone.now() - timedelta(hours=1))
    verbs.update([old], {"title": "Poisoned"}, actor=poisoner)
    bad = make("decision", poisoner, project, "Bad")
    late, other = reader(project, "late", "run_" + "2" * 32), reader(project, "late", "run_" + "3" * 32)
    tell([old, bad], late)
    tell([bad], late)
    tell([bad], other)
    tell([bad], poisoner)
    readers = {row.run: row for row in shown(as_curator, run=poisoner.run)["readers"]}
    assert set(readers) == {late.run, other.run}
    assert (readers[late.run].records, readers[late.run].times) == (2, 3)
    assert readers[late.run].radius_url.endswith(f"?run={late.run}")


@pytest.mark.parametrize("origin", ["session", "token", "agent", "act", "person", "import"])
def test_every_origin_is_one(as_curator, agent, curator, project, origin):
    token, _text = make_token(project, agent_name="rogue")
    rogue = Actor.agent(token, session="ses-bad")
    by = {"person": curator, "import": Actor.command("adr", channel="import")}.get(origin, rogue)
    bad = create_decisions(actor=by, project=project, rows=[{"title": "A", "decision": "D"}] * 2)
    make("decision", agent, project, "Good")
    asked = {
        "session": {"session": "ses-bad"},
        "token": {"token": token.pk},
        "agent": {"agent": "rogue"},
        "act": {"act": Revision.objects.filter(node_id=bad[0].node_id).earliest("pk").act},
        "person": {"person": "cleo"},
        "import": {"door": "import", "when": "today"},
    }[origin]
    assert node_ids(shown(as_curator, **asked)["written"]) == node_ids_of(*bad)


def test_what_plain_sql_wrote_in_its_name_is_found(as_curator, agent, project):
    record = make("decision", agent, project, "By SQL")
    write_as_sql(record, source_session="ses-sql")
    (row,) = shown(as_curator, session="ses-sql")["written"]
    assert (row.node_id, row.how) == (record.node_id, "written by SQL in its name")


def test_it_goes_part_by_part_and_says_so(as_curator, agent, project, poisoner, monkeypatch):
    monkeypatch.setattr(queries, "PART", 4)
    bad = [create_decision(actor=poisoner, project=project, title=f"No {n}", decision="D") for n in range(9)]
    verbs.update(bad, {"title": "again"}, actor=poisoner)  # touched twice, told once
    seen, address, parts = [], f"{ADDRESS}?run={poisoner.run}", 0
    while address:
        answer = as_curator.get(address)
        assert "further parts" in answer.content.decode()
        seen += [row.node_id for row in answer.context["written"]]
        address, parts = answer.context["next_url"], parts + 1
    assert seen == [record.node_id for record in bad]
    assert parts == 3
    outcome = as_curator.post(
        f"{ADDRESS}quarantine/?run={poisoner.run}", {"what": "all", "reason": "poisoned"}
    )
    assert outcome.status_code == 303
    assert {type(record).objects.get(pk=record.pk).review_state for record in bad} == {"quarantined"}


def quarantined(records):
    return {type(record).objects.get(pk=record.pk).review_state == "quarantined" for record in records}


def test_a_quarantine_of_everything_takes_what_no_part_shows_or_nothing(
    as_curator, agent, project, poisoner, monkeypatch
):
    """Beyond what the page lists: derived records, and what plain SQL wrote beside many that the history tells of."""
    for name, most in (("PART", 2), ("DERIVED_MOST", 2), ("LOOKED_AT", 1)):
        monkeypatch.setattr(queries, name, most)
    bad = [make("decision", poisoner, project, f"Bad {n}") for n in range(3)]
    came = [record_outcome(actor=agent, decision=bad[2], type="outage") for _n in range(4)]
    by_sql = [make("decision", agent, project, f"By SQL {n}") for n in range(5)]
    for record in by_sql:
        write_as_sql(record, source_run=poisoner.run)
    page = as_curator.get(f"{ADDRESS}?run={poisoner.run}")
    assert "quarantining everything looks at all of it" in page.content.decode()
    everything = [*bad, *came, *by_sql]
    for name, most in (("LINKS_MOST", -1), ("LINKS_MOST", 2000)):
        monkeypatch.setattr(queries, name, most)
        answer = as_curator.post(
            f"{ADDRESS}quarantine/?run={poisoner.run}", {"what": "all", "reason": "x"}, follow=True
        )
        if most < 0:
            assert "narrow the filters" in answer.content.decode()
        assert quarantined(everything) == {most > 0}


def test_too_many_at_once_are_refused_whole(as_curator, project, poisoner, monkeypatch):
    monkeypatch.setattr(queries, "PART", 2)
    monkeypatch.setattr(actions, "MOST", 3)
    bad = [create_decision(actor=poisoner, project=project, title=f"No {n}", decision="D") for n in range(6)]
    answer = as_curator.post(
        f"{ADDRESS}quarantine/?run={poisoner.run}", {"what": "all", "reason": "x"}, follow=True
    )
    assert "narrow the filters" in answer.content.decode()
    assert {type(record).objects.get(pk=record.pk).review_state for record in bad} == {"unreviewed"}


def test_a_quarantine_of_the_selected_is_one_act(as_curator, agent, project, poisoner, curator):
    bad, kept = make("decision", poisoner, project, "Bad"), make("decision", poisoner, project, "Kept")
    pitfall = make("pitfall", poisoner, project, "Bad too")
    rejected = make("decision", poisoner, project, "Rejected before")
    verbs.review([rejected], "rejected", actor=curator, reason="no")
    answer = as_curator.post(
        f"{ADDRESS}quarantine/?run={poisoner.run}",
        {
            "what": "selected", "reason": "poisoned",
            "node_id": [bad.node_id, pitfall.node_id, rejected.node_id, "dec_999", "x"],
        },
        follow=True,
    )  # fmt: skip
    assert "Quarantined 2 records" in answer.content.decode()
    rows = Revision.objects.filter(verb="quarantine")
    assert {row.node_id for row in rows} == node_ids_of(bad, pitfall)
    assert len({row.act for row in rows}) == 1
    assert {row.reason for row in rows} == {"poisoned"}
    for record, state in ((kept, "unreviewed"), (rejected, "rejected")):
        record.refresh_from_db()
        assert record.review_state == state


@pytest.mark.parametrize(
    ("query", "posted", "said"),
    [
        ("run=run_x", {"what": "selected", "reason": "x"}, "Nothing was selected"),
        ("run=run_x", {"what": "all", "reason": "x"}, "Nothing was selected"),
        ("", {"what": "all", "reason": "x"}, "names no origin"),
        ("colour=red", {"what": "all", "reason": "x"}, "names no origin"),
        ("session=ses-8841", {"what": "all", "reason": "  "}, "Say why"),
    ],
)
def test_what_cannot_be_quarantined_is_explained(as_curator, agent, project, query, posted, said):
    record = make("decision", agent, project)
    answer = as_curator.post(f"{ADDRESS}quarantine/?{query}", posted, follow=True)
    assert said in answer.content.decode()
    record.refresh_from_db()
    assert record.review_state == "unreviewed"


def test_records_of_another_project_are_out_of_reach(as_curator, agent, other_project, project, poisoner):
    bad = make("decision", poisoner, project, "Bad")
    write_as_sql(bad, project=other_project)
    as_curator.post(
        f"{ADDRESS}quarantine/?run={poisoner.run}",
        {"what": "selected", "node_id": bad.node_id, "reason": "x"},
    )
    bad.refresh_from_db()
    assert bad.review_state == "unreviewed"
    assert bad.node_id not in {
        row.node_id for row in shown(as_curator, run=poisoner.run)["written"] if row.row
    }
    assert as_curator.get("/p/bank/radius/", {"run": poisoner.run}).status_code == 404


@pytest.mark.parametrize(
    "asked",
    [{"run": "\x00"}, {"act": "zz"}, {"token": "0"}, {"colour": "red"}, {"kind": "run"}, {"run": "r", "after": "x"}],
)  # fmt: skip
def test_an_origin_that_is_none_is_explained(as_curator, project, asked):
    answer = as_curator.get(ADDRESS, asked)
    assert answer.status_code == 422
    assert answer.context["problems"]


def test_without_an_origin_it_asks_for_one(as_curator, project):
    page = as_curator.get(ADDRESS)
    assert page.status_code == 200
    assert "Where did it begin?" in page.content.decode()
    assert "It wrote nothing here" in as_curator.get(ADDRESS, {"run": "run_" + "0" * 32}).content.decode()


def test_queries_do_not_grow_with_what_was_written(as_curator, agent, project, poisoner):
    def asked():
        shown(as_curator, run=poisoner.run)
        with CaptureQueriesContext(connection) as captured:
            shown(as_curator, run=poisoner.run)
        return len(captured)

    def more(number):
        for n in range(number):
            bad = create_decision(actor=poisoner, project=project, title=f"No {n}", decision="D")
            record_outcome(actor=agent, decision=bad, type="outage")
            tell([bad], reader(project, "late", f"run-{n}"))

    more(2)
    few = asked()
    more(12)
    assert asked() == few


def test_a_gone_record_keeps_its_name(as_curator, project, poisoner):
    bad = make("decision", poisoner, project, "Bad")
    with writing():
        type(bad).objects.filter(pk=bad.pk).delete()
    (row,) = shown(as_curator, run=poisoner.run)["written"]
    assert (row.node_id, row.row, row.can_be_chosen) == (bad.node_id, None, False)
