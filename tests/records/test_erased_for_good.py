"""What was erased stays so: no verb, undo, link, sweep or write sent again brings it back or fails at it."""

from __future__ import annotations

import contextlib

import pytest

from curation.pairs.actions import settle
from decisions.actions import create_decision, edit_decision, record_outcome
from decisions.models import Decision, Outcome
from patterns.actions import record_evidence
from records.erasing import erase
from records.errors import Refused
from records.links import link, unlink
from records.merging import merge
from records.models import Attention, Link, ProjectionMark, Revision
from records.sweep import sweep
from records.undo import undo
from records.verbs import archive, restore, review
from runs.actions import write_runs
from tests.records.erased import WHY, WORD, left
from tests.records.samples import make, write_as_sql

pytestmark = [pytest.mark.database, pytest.mark.django_db]


def test_no_verb_changes_or_brings_back_what_was_erased(agent, curator, admin, project):
    record = create_decision(actor=agent, project=project, title=WORD, decision="D")
    (erased,) = erase([record], actor=admin, reason=WHY).updated
    for act in (
        lambda: restore([erased], actor=admin),
        lambda: review([erased], "approved", actor=curator),
        lambda: edit_decision(actor=admin, decision=erased, changes={"title": "Back"}),
    ):
        with pytest.raises(Refused, match="erased for good"):
            act()
    pattern = make("pattern", agent, project)
    erase([pattern], actor=admin, reason=WHY)
    with pytest.raises(Refused, match="erased for good"):
        record_evidence(actor=agent, pattern=pattern, worked=True)


def test_undo_brings_nothing_back(agent, curator, admin, project):
    record = create_decision(actor=agent, project=project, title=WORD, decision="D")
    edited = edit_decision(actor=curator, decision=record, changes={"title": f"Now {WORD}"})
    erase([edited], actor=admin, reason=WHY)
    acts = list(Revision.objects.filter(node_id=record.node_id).values_list("act", flat=True))
    assert len(acts) == 3
    for act in acts:
        outcome = undo(act, actor=admin)
        assert outcome.updated == []
        assert "erased for good" in str(outcome.refused[0][1])
    assert left() == []


def test_no_link_is_made_to_it_nor_comes_back(agent, curator, admin, project):
    one, gone, away = (make("decision", agent, project, title=title) for title in ("A", "B", "C"))
    unlink(link(one, "RELATES_TO", gone, actor=curator), one, gone, actor=curator)
    act = Revision.objects.filter(node_id=one.node_id, verb="unlink").get().act
    write_as_sql(away, merged_into=gone.node_id)
    sweep()
    erase([gone], actor=admin, reason=WHY)
    for end in (gone, away):
        end.refresh_from_db()
        with pytest.raises(Refused, match="erased for good"):
            link(one, "RELATES_TO", end, actor=curator)
    assert "erased for good" in str(undo(act, actor=curator).refused[0][1])
    assert not Link.objects.exists()


def test_what_an_erased_event_did_cannot_be_undone_and_that_is_said(agent, curator, admin, project):
    """Whatever the act was, taken back already or not: a refusal, never an error, and nothing half done."""
    gone, one, two = (make("decision", agent, project, title=title) for title in "ABC")
    link(gone, "RELATES_TO", one, actor=curator)
    settle(gone, one, "contradicts", actor=curator)
    settle(two, gone, "supersedes", actor=curator)
    for verb in ("link", "settle", "supersede"):
        undo(Revision.objects.filter(node_id=gone.node_id, verb=verb).first().act, actor=curator)
    undo(Revision.objects.filter(node_id=gone.node_id, verb="undo").first().act, actor=curator)
    pattern, other = (make("pattern", agent, project, title=title) for title in "XY")
    record_evidence(actor=agent, pattern=other, worked=True)
    merge(pattern, [other], actor=curator)
    undo(Revision.objects.filter(node_id=pattern.node_id).first().act, actor=curator)
    undo(Revision.objects.filter(node_id=pattern.node_id).first().act, actor=curator)
    acts = set(
        Revision.objects.filter(node_id__in=[gone.node_id, other.node_id]).values_list("act", flat=True)
    )
    erase([gone, other], actor=admin, reason=WHY)
    kept = list(Link.objects.values_list("source", "relation", "target"))
    for act in acts:
        with contextlib.suppress(Refused):
            undo(act, actor=admin)
    assert {*Link.objects.values_list("source", "relation", "target")} <= {*kept}
    assert Decision.objects.get(pk=one.pk).status == Decision.objects.get(pk=two.pk).status == "accepted"
    assert type(other).objects.get(pk=other.pk).merged_into == pattern.node_id


def test_a_decision_with_an_erased_outcome_is_merged_and_parted(agent, curator, admin, project):
    one, two = (make("decision", agent, project, title=title) for title in "AB")
    outcomes = [record_outcome(actor=agent, decision=two, type="outage", note=WORD) for _ in range(2)]
    erase(outcomes[:1], actor=admin, reason=WHY)
    merge(one, [two], actor=curator)
    assert [row.decision_id for row in Outcome.objects.order_by("pk")] == [two.pk, one.pk]
    undo(Revision.objects.filter(node_id=one.node_id).first().act, actor=curator)
    assert {row.decision_id for row in Outcome.objects.all()} == {two.pk}


def test_in_a_bulk_act_the_erased_one_is_reported_and_the_others_go_on(agent, curator, admin, project):
    one, two = (
        create_decision(actor=agent, project=project, title=title, decision="D") for title in ("A", "B")
    )
    erase([one], actor=admin, reason=WHY)
    outcome = archive([one, two], actor=curator, partial=True)
    assert next((node_id, str(why)) for node_id, why in outcome.refused)[0] == one.node_id
    assert [record.node_id for record in outcome.updated] == [two.node_id]


def test_the_sweep_leaves_an_erased_row_alone_and_takes_a_new_text_as_a_new_version(agent, admin, project):
    record = create_decision(actor=agent, project=project, title=WORD, decision="D")
    erase([record], actor=admin, reason=WHY)
    assert sweep() == 0
    assert Revision.objects.filter(node_id=record.node_id).count() == 2
    assert Attention.objects.get(node_id=record.node_id).standing == "hidden"
    mark = ProjectionMark.objects.get(node_id=record.node_id)
    assert (mark.erased, mark.gone, mark.text_hash) == (True, False, "")
    write_as_sql(record, title="Written again by SQL")
    assert sweep() == 1
    newest = Revision.objects.filter(node_id=record.node_id).first()
    assert (newest.channel, newest.verb, newest.version) == ("sql", "edit", 3)
    assert not ProjectionMark.objects.get(node_id=record.node_id).erased
    restore([Decision.objects.get()], actor=admin)  # it is a memory like any other again
    assert Decision.objects.get().is_active


def test_a_run_of_a_chosen_id_sent_again_brings_nothing_back(agent, admin, project):
    sent = {"agent_name": "order-bot", "id": "a" * 32, "trigger_payload": {"alert": WORD}, "summary": WORD}
    ((run, _),) = write_runs(actor=agent, project=project, rows=[sent])
    erase([run], actor=admin, reason=WHY)
    with pytest.raises(Refused):
        write_runs(actor=agent, project=project, rows=[sent])
    assert left() == []
