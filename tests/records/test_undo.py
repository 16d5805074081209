"""Undo: each verb's inverse, in the history, and undone in its turn."""

import pytest
from django.db import connection

from decisions.actions import (
    change_status,
    create_decision,
    create_decisions,
    edit_decision,
    record_outcome,
    supersede,
)
from patterns.actions import adjust_confidence, create_pattern, record_evidence
from patterns.models import Evidence
from pitfalls.actions import create_pitfall, meet_again
from pitfalls.models import Encounter
from records.errors import NotAllowed, Refused
from records.links import link, links_of, unlink
from records.models import ProjectionMark, RecordTag, Revision
from records.undo import undo
from records.verbs import archive, review
from runs.actions import edit_run, record_run
from runs.models import PayloadValue
from tests.conftest import person
from tests.records.samples import write_as_sql

pytestmark = [pytest.mark.database, pytest.mark.django_db]


def last_act(record, verb=None) -> str:
    rows = Revision.objects.filter(node_id=record.node_id)
    return (rows.filter(verb=verb) if verb else rows).order_by("-id").first().act


def again(record):
    return type(record).objects.get(pk=record.pk)


@pytest.fixture
def decision(agent, project):
    return create_decision(
        actor=agent, project=project, title="Use Redis", decision="Cache totals.", tags=["redis"]
    )


@pytest.fixture
def pattern(agent, project):
    return create_pattern(actor=agent, project=project, category="retry", name="Back off", confidence=0.5)


@pytest.fixture
def pitfall(agent, project):
    return create_pitfall(actor=agent, project=project, category="db", title="Lock waits")


def test_an_edit_goes_back_as_a_new_version(decision, curator):
    edit_decision(actor=curator, decision=decision, changes={"title": "Use Valkey", "tags": ["valkey"]})
    outcome = undo(last_act(decision), actor=curator, reason="was right")
    now = again(decision)
    assert (now.title, now.tags, now.version) == ("Use Redis", ["redis"], 3)
    assert outcome.record == now
    assert [*RecordTag.objects.filter(node_id=now.node_id).values_list("tag", flat=True)] == ["redis"]
    row = Revision.objects.get(node_id=now.node_id, version=3)
    assert (row.verb, row.reason, {*row.changed}) == ("undo", "was right", {"tags", "title"})
    assert row.detail["verb"] == "edit"
    assert row.detail["back"] is True
    assert ProjectionMark.objects.get(node_id=now.node_id).wanted_version == 3


def test_an_undo_is_undone(decision, curator):
    edit_decision(actor=curator, decision=decision, changes={"title": "Use Valkey"})
    undo(last_act(decision), actor=curator)
    undo(last_act(decision), actor=curator)
    assert again(decision).title == "Use Valkey"
    assert Revision.objects.filter(node_id=decision.node_id).first().detail["back"] is False
    undo(last_act(decision), actor=curator)
    assert again(decision).title == "Use Redis"


def test_undone_already_is_no_act(decision, curator):
    edit_decision(actor=curator, decision=decision, changes={"title": "Use Valkey"})
    act = last_act(decision)
    undo(act, actor=curator)
    outcome = undo(act, actor=curator)
    assert (outcome.updated, outcome.refused) == ([], [])
    assert again(decision).version == 3


def test_later_changes_of_other_columns_stay(decision, curator):
    edit_decision(actor=curator, decision=decision, changes={"title": "Use Valkey"})
    act = last_act(decision)
    edit_decision(actor=curator, decision=decision, changes={"rationale": "It is free."})
    undo(act, actor=curator)
    now = again(decision)
    assert (now.title, now.rationale) == ("Use Redis", "It is free.")


def test_a_column_changed_since_is_said_and_stays(decision, curator):
    edit_decision(actor=curator, decision=decision, changes={"title": "Use Valkey"})
    act = last_act(decision)
    edit_decision(actor=curator, decision=decision, changes={"title": "Use Dragonfly"})
    outcome = undo(act, actor=curator)
    assert outcome.updated == []
    ((node_id, refusal),) = outcome.refused
    assert node_id == decision.node_id
    assert "title" in str(refusal)
    assert again(decision).title == "Use Dragonfly"


def test_what_sql_changed_since_is_said_and_stays(decision, curator):
    edit_decision(actor=curator, decision=decision, changes={"title": "Use Valkey"})
    act = last_act(decision)
    with connection.cursor() as cursor:
        cursor.execute("UPDATE architecture_decisions SET title = 'SQL' WHERE id = %s", [decision.pk])
    assert undo(act, actor=curator).refused
    assert again(decision).title == "SQL"


def test_a_review_goes_back_with_who_and_when(decision, curator, admin_user):
    review([decision], "rejected", actor=curator, reason="no")
    before = again(decision)
    review([decision], "approved", actor=person(admin_user))
    undo(last_act(decision), actor=curator)
    now = again(decision)
    assert (now.review_state, now.reviewed_by, now.reviewed_at) == (
        "rejected",
        before.reviewed_by,
        before.reviewed_at,
    )


def test_an_archive_and_a_creation_go_back(decision, curator):
    archive([decision], actor=curator)
    undo(last_act(decision), actor=curator)
    assert again(decision).archived_at is None
    made = create_decision(actor=curator, project=decision.project, title="T", decision="D")
    undo(last_act(made), actor=curator)
    assert again(made).archived_at is not None
    undo(last_act(made), actor=curator)
    assert again(made).archived_at is None


def test_a_creation_that_others_worked_on_stays(decision, curator):
    act = last_act(decision)
    review([decision], "approved", actor=curator)
    assert undo(act, actor=curator).refused
    assert again(decision).archived_at is None


def test_a_date_goes_back_with_what_lists_are_sorted_by(decision, curator):
    from django.utils import timezone

    before = again(decision)
    edit_decision(actor=curator, decision=decision, changes={"decided_at": timezone.now().replace(year=2020)})
    undo(last_act(decision), actor=curator)
    now = again(decision)
    assert (now.decided_at, now.sort_at) == (before.decided_at, before.sort_at)


def test_links_go_and_come_back_as_they_were(decision, pattern, curator, agent):
    made = link(decision, "RELATES_TO", pattern, actor=agent, reason="same cache")
    act = last_act(decision)
    undo(act, actor=curator)
    assert links_of([decision.node_id]) == []
    undo(last_act(decision), actor=curator)
    (back,) = links_of([decision.node_id])
    assert (back.note, back.source_name, back.created_at) == ("same cache", "order-bot", made.created_at)
    unlink(back, pattern, decision, actor=curator)
    undo(last_act(pattern), actor=curator)
    (back,) = links_of([decision.node_id])
    assert back.note == "same cache"
    assert {row.act for row in Revision.objects.filter(verb="undo", node_id=pattern.node_id)} == {
        row.act for row in Revision.objects.filter(verb="undo", node_id=decision.node_id)
    }


def test_two_who_bring_a_link_back_at_once_are_both_answered(decision, pattern, curator, monkeypatch):
    unlink(link(decision, "RELATES_TO", pattern, actor=curator), decision, pattern, actor=curator)
    act = last_act(decision)
    undo(act, actor=curator)
    monkeypatch.setattr("records.undo_events.link_between", lambda *ends: None)  # as the other one saw it
    assert "right now" in str(undo(act, actor=curator).refused[0][1])
    assert len(links_of([decision.node_id])) == 1


def test_a_link_whose_opposite_is_said_by_now_stays_away(project, curator):
    one, two = create_decisions(
        actor=curator, project=project, rows=[{"title": t, "decision": t} for t in ("A", "B")]
    )
    made = link(one, "SUPERSEDES", two, actor=curator)
    unlink(made, one, two, actor=curator)
    act = last_act(one)
    link(two, "SUPERSEDES", one, actor=curator)
    assert undo(act, actor=curator).refused
    assert [(made.source, made.target) for made in links_of([one.node_id])] == [(two.node_id, one.node_id)]


def test_supersede_goes_back_status_and_link_together(decision, curator, project):
    newer = create_decision(actor=curator, project=project, title="Use Valkey", decision="D")
    supersede(actor=curator, decision=decision, by=newer)
    act = last_act(decision, "supersede")
    undo(act, actor=curator)
    assert again(decision).status == "accepted"
    assert links_of([decision.node_id]) == []
    undo(last_act(decision), actor=curator)
    assert again(decision).status == "superseded"
    assert len(links_of([decision.node_id])) == 1


def test_a_link_stays_where_its_record_had_to(decision, curator, project):
    newer = create_decision(actor=curator, project=project, title="Use Valkey", decision="D")
    supersede(actor=curator, decision=decision, by=newer)
    act = last_act(decision, "supersede")
    change_status(actor=curator, decisions=[decision], status="deprecated", reason="no longer")
    outcome = undo(act, actor=curator)
    assert [node_id for node_id, _why in outcome.refused] == [decision.node_id]
    assert len(links_of([decision.node_id])) == 1


def test_a_vote_is_taken_back_and_given_again(pattern, agent, curator):
    record_evidence(actor=agent, pattern=pattern, worked=True)
    record_evidence(actor=agent, pattern=pattern, worked=False)
    act = last_act(pattern, "failed")
    undo(act, actor=curator)
    now = again(pattern)
    assert (now.worked_count, now.failed_count, now.usage_count, now.version) == (1, 0, 1, 1)
    assert now.confidence_score == pytest.approx(3 / 5)
    assert Evidence.objects.get(cause="failed").taken_back_at is not None
    assert undo(act, actor=curator).updated == []
    undo(last_act(pattern), actor=curator)
    now = again(pattern)
    assert (now.worked_count, now.failed_count, now.usage_count) == (1, 1, 2)
    assert Evidence.objects.get(cause="failed").taken_back_at is None


def test_an_adjusted_confidence_goes_back_with_its_votes(pattern, agent, curator):
    record_evidence(actor=agent, pattern=pattern, worked=True)
    adjust_confidence(actor=curator, pattern=pattern, confidence=0.9, reason="seen it work")
    act = last_act(pattern)
    record_evidence(actor=agent, pattern=pattern, worked=True)
    undo(act, actor=curator)
    now = again(pattern)
    assert (now.prior_confidence, now.worked_count, now.usage_count) == (0.5, 2, 2)
    assert now.confidence_score == pytest.approx(4 / 6)
    assert Evidence.objects.get(cause="adjusted").taken_back_at is not None


def test_a_judgement_that_says_what_the_prior_said_goes_back_once(pattern, agent, curator):
    record_evidence(actor=agent, pattern=pattern, worked=True)
    write_as_sql(pattern, worked_faded=0.5, confidence_score=2.5 / 4.5)
    before = again(pattern)
    adjust_confidence(actor=curator, pattern=before, confidence=0.5, reason="seen it work")
    assert again(pattern).confidence_score == 0.5
    act = last_act(pattern)
    for _twice in range(2):
        undo(act, actor=curator)
        now = again(pattern)
        assert (now.worked_count, now.worked_faded, now.version) == (1, 0.5, 3)
        assert now.confidence_score == pytest.approx(before.confidence_score)
        assert Evidence.objects.get(cause="adjusted").taken_back_at is not None
    redo = last_act(pattern)
    for _twice in range(2):
        undo(redo, actor=curator)
        now = again(pattern)
        assert (now.votes, now.confidence_score, now.version) == ((0, 0), 0.5, 4)


def test_an_undo_is_written_with_all_that_belongs_to_it_or_not_at_all(pattern, curator, monkeypatch):
    adjust_confidence(actor=curator, pattern=pattern, confidence=0.9, reason="seen it work")
    monkeypatch.setattr("records.undo_versions._flip_counted", lambda *args: 1 / 0)
    with pytest.raises(ZeroDivisionError):
        undo(last_act(pattern), actor=curator)
    assert again(pattern).prior_confidence == 0.9
    assert not Revision.objects.filter(verb="undo").exists()


def test_a_vote_that_a_judgement_holds_stays(pattern, agent, curator):
    record_evidence(actor=agent, pattern=pattern, worked=True)
    act = last_act(pattern)
    adjust_confidence(actor=curator, pattern=pattern, confidence=0.9, reason="seen it work")
    adjusted = last_act(pattern)
    assert undo(act, actor=curator).refused
    assert again(pattern).worked_count == 0
    undo(adjusted, actor=curator)
    assert undo(act, actor=curator).updated
    assert (again(pattern).worked_count, again(pattern).usage_count) == (0, 0)


def test_an_encounter_is_taken_back(pitfall, agent, curator):
    meet_again(actor=agent, pitfall=pitfall)
    undo(last_act(pitfall), actor=curator)
    assert again(pitfall).encountered_count == 1
    assert Encounter.objects.get().taken_back_at is not None


def test_a_bulk_act_goes_back_but_for_those_changed_since(project, agent, curator):
    made = create_decisions(
        actor=agent, project=project, rows=[{"title": f"T{n}", "decision": f"D{n}"} for n in range(4)]
    )
    review(made, "approved", actor=curator, partial=True)
    act = last_act(made[0])
    review([made[2]], "rejected", actor=curator, reason="no")
    outcome = undo(act, actor=curator)
    assert [node_id for node_id, _why in outcome.refused] == [made[2].node_id]
    assert {record.review_state for record in outcome.updated} == {"unreviewed"}
    assert len(outcome.updated) == 3
    assert len({row.act for row in Revision.objects.filter(verb="undo")}) == 1


def test_a_repetition_linked_on_arrival_goes_with_it(project, agent, curator):
    first, second = (
        create_decision(actor=agent, project=project, title="Same", decision="Words.") for _ in range(2)
    )
    assert links_of([second.node_id])
    undo(last_act(second, "create"), actor=curator)
    assert again(second).archived_at is not None
    assert again(first).archived_at is None
    assert links_of([second.node_id]) == []


def test_a_runs_payload_is_found_again_as_it_was(project, agent, curator):
    run = record_run(
        actor=agent,
        project=project,
        agent_name="order-bot",
        trigger_payload={"order": "17"},
    )
    edit_run(actor=curator, run=run, changes={"trigger_payload": {"order": "18"}})
    undo(last_act(run), actor=curator)
    assert [*PayloadValue.objects.filter(run=run).values_list("value", flat=True)] == ["17"]


def test_an_outcome_goes_back(decision, agent, curator):
    made = record_outcome(actor=agent, decision=decision, type="outage")
    undo(last_act(made), actor=curator)
    assert again(made).archived_at is not None


def test_who_may_not_review_takes_no_review_back(decision, curator, agent, viewer):
    review([decision], "approved", actor=curator)
    act = last_act(decision)
    for actor in (agent, viewer):
        ((_node_id, refusal),) = undo(act, actor=actor).refused
        assert isinstance(refusal, NotAllowed)
    assert again(decision).review_state == "approved"


def test_a_strangers_act_is_none(decision, stranger):
    with pytest.raises(Refused):
        undo(last_act(decision), actor=stranger)


@pytest.mark.parametrize("act", ["", "0" * 32, "x" * 32, "é", "1" * 5000])
def test_what_names_no_act_is_refused(act, curator):
    with pytest.raises(Refused):
        undo(act, actor=curator)


def test_of_one_project_leaves_the_others_alone(decision, curator, other_project):
    edit_decision(actor=curator, decision=decision, changes={"title": "Use Valkey"})
    with pytest.raises(Refused):
        undo(last_act(decision), actor=curator, project=other_project)


def test_a_record_that_is_gone_is_said(project, agent, curator):
    made = create_decision(actor=agent, project=project, title="T", decision="D")
    edit_decision(actor=curator, decision=made, changes={"title": "U"})
    act = last_act(made)
    with connection.cursor() as cursor:
        cursor.execute("DELETE FROM architecture_decisions WHERE id = %s", [made.pk])
    ((node_id, _why),) = undo(act, actor=curator).refused
    assert node_id == made.node_id
