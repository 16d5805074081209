"""Why an agent believes it: source, evidence, reviews, merges and readers, as a chain in words."""

import pytest
from django.db import connection
from django.test.utils import CaptureQueriesContext

from decisions.actions import edit_decision, record_outcome, supersede
from patterns.actions import create_pattern, record_evidence
from pitfalls.actions import create_pitfall, meet_again
from records import verbs
from records.actor import Actor
from records.guard import writing
from records.links import link
from records.models import Read, Relation, Revision
from records.undo import undo
from tests.records.samples import KINDS, make, page_of, write_as_sql

pytestmark = [pytest.mark.mysql, pytest.mark.django_db]


def part(client, record):
    answer = client.get(f"/p/shop/r/{record.node_id}/belief/", headers={"HX-Request": "true"})
    assert answer.status_code == 200
    return answer.content.decode()


def read(record, times=1, agent="dba", session="ses-9", run=""):
    Read.objects.bulk_create(
        [
            Read(
                node_id=record.node_id, project_id=record.project_id, agent_name=agent, session=session, run=run,
                door="api.search",
            )
            for _ in range(times)
        ]
    )  # fmt: skip


@pytest.mark.parametrize("kind", KINDS)
def test_every_kind_has_a_chain(as_viewer, agent, project, kind):
    text = part(as_viewer, make(kind, agent, project))
    for said in (
        "Written by order-bot (agent)", "through API", "ses-8841", "order-bot on ci", "trust 0.50",
        "Nobody has reviewed it", "No agent was told it yet",
    ):  # fmt: skip
        assert said in text, said


def test_a_decisions_chain(as_viewer, agent, curator, project):
    run = make("run", agent, project)
    decision = make("decision", Actor.agent(agent.token, run=run.node_id), project, "Use Redis")
    old = make("decision", agent, project, "Use <files>")
    supersede(actor=agent, decision=old, by=decision, reason="slow")
    edit_decision(actor=curator, decision=decision, changes={"title": "Use Valkey"}, reason="<i>licence</i>")
    decision.refresh_from_db()
    verbs.review([decision], "approved", actor=curator, reason="measured")
    record_outcome(actor=agent, decision=decision, type="outage", note="On the third.")
    read(decision, 3, run=run.node_id)
    read(decision, 2, agent="order-bot", session="")
    text = part(as_viewer, decision)
    for said in (
        f"/r/{run.node_id}/", "supersedes", "Use &lt;files&gt;", "Changed 1 time since", "edited by cleo through web",
        "&lt;i&gt;licence&lt;/i&gt;", "approved by cleo through web", "measured", "1 outcome followed", "outage",
        "Told 5 times, to 2 agents in 1 run", "dba, 3 times", "5 times since its latest review",
    ):  # fmt: skip
        assert said in text, said


def test_evidence_with_its_sessions_and_runs(as_viewer, agent, project):
    pattern = create_pattern(actor=agent, project=project, category="c", name="Lease")
    record_evidence(actor=agent, pattern=pattern, worked=True, note="In staging.")
    record_evidence(actor=Actor.agent(agent.token, session="ses-2"), pattern=pattern, worked=False)
    text = part(as_viewer, pattern)
    for said in ("it worked 1 time, it failed 1 time", "In staging.", "ses-2", "it failed, says order-bot"):
        assert said in text, said
    pitfall = create_pitfall(actor=agent, project=project, category="c", title="Stampede")
    meet_again(actor=agent, pitfall=pitfall, note="At noon.")
    assert "At noon." in part(as_viewer, pitfall)


def test_who_reviewed_it_is_told_as_it_is(as_viewer, agent, curator, project):
    """By its own writer, by nobody that is known, long ago beneath many edits, and taken back."""
    own = make("decision", curator, project, "Own")
    assert "Approved without a review of its own" in part(as_viewer, own)
    assert "by cleo" in part(as_viewer, own)
    by_sql = make("decision", agent, project, "By SQL")
    write_as_sql(by_sql, review_state="approved")
    assert "whoever wrote the row" in part(as_viewer, by_sql)
    decision = make("decision", agent, project, "Often changed")
    verbs.review([decision], "approved", actor=curator, reason="measured")
    act = Revision.objects.filter(node_id=decision.node_id, verb="approve").latest("pk").act
    with writing():
        Revision.objects.bulk_create(
            Revision(node_id=decision.node_id, kind="decision", project=project, verb="worked", actor_name="x", channel="api")
            for _n in range(230)
        )  # fmt: skip
    assert "measured" in part(as_viewer, decision)
    undo(act, actor=curator)
    text = part(as_viewer, decision)
    assert "Its review was taken back" in text
    assert "since its latest review" not in text
    verbs.review([decision], "approved", actor=curator)
    write_as_sql(decision, review_state="rejected")
    assert "It is rejected now" in part(as_viewer, decision)


def test_votes_that_were_taken_back_are_no_evidence(as_viewer, agent, curator, project):
    pattern = create_pattern(actor=agent, project=project, category="c", name="Lease")
    pitfall = create_pitfall(actor=agent, project=project, category="c", title="Stampede")
    for note in ("Kept.", "Taken."):
        record_evidence(actor=agent, pattern=pattern, worked=True, note=note)
        meet_again(actor=agent, pitfall=pitfall, note=note)
    for record in (pattern, pitfall):
        undo(Revision.objects.filter(node_id=record.node_id).latest("pk").act, actor=curator)
        assert "Kept." in part(as_viewer, record)
        assert "Taken." not in part(as_viewer, record)
    assert "it worked 1 time" in part(as_viewer, pattern)


def test_what_is_counted_no_further_says_so(as_viewer, agent, project, monkeypatch):
    for module in ("records.paging", "curation.history.belief", "curation.history.chain"):
        monkeypatch.setattr(f"{module}.COUNT_EXACT_TO", 4)
    kept = make("decision", agent, project, "Use Redis")
    for n in range(6):
        edit_decision(actor=agent, decision=kept, changes={"title": f"Use Redis {n}"})
        kept.refresh_from_db()
        record_outcome(actor=agent, decision=kept, type="outage")
        write_as_sql(make("decision", agent, project, f"M {n}"), merged_into=kept.node_id)
        read(kept, agent=f"a{n}", run=f"r{n}")
    for n in range(14):
        link(kept, Relation.SUPERSEDES, make("decision", agent, project, f"Old {n}"), actor=agent)
    text = part(as_viewer, kept)
    for said in (
        "Changed 4+ times", "4+ outcomes followed", "4+ records were merged", "Told 4+ times, to 5+ agents in 5+ runs",
        "More links are on its page",
    ):  # fmt: skip
        assert said in text, said


def test_ends_that_are_hidden_now_are_not_named(as_viewer, agent, curator, project):
    kept, hidden = make("decision", agent, project, "Kept"), make("decision", agent, project, "Poison")
    link(kept, Relation.CONTRADICTS, hidden, actor=agent)
    verbs.review([hidden], "quarantined", actor=curator)
    text = part(as_viewer, kept)
    assert "Poison" not in text
    assert "It stands beside" not in text


def test_the_record_page_leads_to_it_and_it_is_a_page(as_viewer, agent, project):
    decision = make("decision", agent, project, "Use Redis")
    page = as_viewer.get(page_of(decision)).content.decode()
    address = f"/p/shop/r/{decision.node_id}/belief/"
    assert page.count(address) == 2  # a link, and what htmx asks for
    assert "<html" in as_viewer.get(address).content.decode()
    assert as_viewer.get(f"/p/shop/r/dec_{2**31 - 1}/belief/").status_code == 404
    assert as_viewer.get("/p/shop/r/nonsense/belief/").status_code == 404


def test_it_asks_no_more_of_a_record_with_a_long_story(as_viewer, agent, curator, project):
    pattern = create_pattern(actor=agent, project=project, category="c", name="Lease")

    def asked():
        part(as_viewer, pattern)
        with CaptureQueriesContext(connection) as captured:
            part(as_viewer, pattern)
        return len(captured)

    record_evidence(actor=agent, pattern=pattern, worked=True)
    read(pattern)
    few = asked()
    for number in range(12):
        record_evidence(actor=Actor.agent(agent.token, session=f"s{number}"), pattern=pattern, worked=True)
        read(pattern, 2, session=f"s{number}")
        verbs.review([pattern], ["rejected", "approved"][number % 2], actor=curator, reason="x")
        pattern.refresh_from_db()
    assert asked() == few


def test_nobody_from_elsewhere_sees_it(client, stranger_user, agent, project):
    client.force_login(stranger_user)
    decision = make("decision", agent, project)
    assert client.get(f"/p/shop/r/{decision.node_id}/belief/").status_code == 404
