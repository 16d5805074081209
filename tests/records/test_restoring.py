"""An old version brought back: a new version with the old words, and nothing else."""

import pytest

from decisions.actions import create_decision, edit_decision
from patterns.actions import create_pattern, edit_pattern, record_evidence
from records.errors import Conflict, InvalidInput, NotAllowed
from records.models import Revision
from records.restoring import restore_version
from records.undo import undo
from records.verbs import archive, review
from runs.actions import edit_run, record_run
from runs.models import PayloadValue

pytestmark = [pytest.mark.database, pytest.mark.django_db]


@pytest.fixture
def decision(agent, project, curator):
    made = create_decision(actor=agent, project=project, title="One", decision="First.", tags=["a"])
    edit_decision(actor=curator, decision=made, changes={"title": "Two", "tags": ["b"]})
    return edit_decision(actor=curator, decision=made, changes={"title": "Three", "decision": "Third."})


def test_a_version_comes_back_as_a_new_one(decision, curator):
    now = restore_version(decision, 1, actor=curator, reason="it was right", expected_version=3).record
    assert (now.title, now.decision, now.tags, now.version) == ("One", "First.", ["a"], 4)
    row = Revision.objects.get(node_id=now.node_id, version=4)
    assert (row.verb, row.reason, row.detail) == ("restore_version", "it was right", {"restored": 1})
    assert Revision.objects.filter(node_id=now.node_id, version__isnull=False).count() == 4


def test_review_archive_and_votes_stay(agent, project, curator):
    made = create_pattern(actor=agent, project=project, category="c", name="Old", confidence=0.9)
    edit_pattern(actor=curator, pattern=made, changes={"name": "New"})
    review([made], "approved", actor=curator)
    record_evidence(actor=agent, pattern=made, worked=True)
    before = archive([made], actor=curator).record
    now = restore_version(made, 1, actor=curator).record
    assert now.name == "Old"
    for name in ("review_state", "reviewed_by", "archived_at", "worked_count", "confidence_score"):
        assert getattr(now, name) == getattr(before, name)


def test_the_version_that_stands_is_no_act(decision, curator):
    outcome = restore_version(decision, 3, actor=curator)
    assert (outcome.updated, outcome.record.version) == ([], 3)


def test_a_stale_page_conflicts(decision, curator):
    with pytest.raises(Conflict):
        restore_version(decision, 1, actor=curator, expected_version=2)


@pytest.mark.parametrize("version", [-1, 0, 99, 2**31 - 1, 10**40])
def test_a_version_that_never_was_is_refused(decision, curator, version):
    with pytest.raises(InvalidInput, match="version"):
        restore_version(decision, version, actor=curator)


def test_a_text_that_is_not_kept_is_refused(decision, curator):
    from records.guard import writing

    with writing():
        Revision.objects.filter(node_id=decision.node_id, version=1).update(after=None)
    with pytest.raises(InvalidInput, match="not kept"):
        restore_version(decision, 1, actor=curator)


def test_a_viewer_restores_nothing(decision, viewer):
    with pytest.raises(NotAllowed):
        restore_version(decision, 1, actor=viewer)


def test_it_is_undone_like_any_act(decision, curator):
    restore_version(decision, 1, actor=curator)
    undo(Revision.objects.get(node_id=decision.node_id, version=4).act, actor=curator)
    now = type(decision).objects.get(pk=decision.pk)
    assert (now.title, now.decision, now.tags) == ("Three", "Third.", ["b"])


def test_a_runs_payload_is_found_as_that_version_had_it(agent, project, curator):
    run = record_run(actor=agent, project=project, agent_name="order-bot", trigger_payload={"order": "17"})
    edit_run(actor=curator, run=run, changes={"trigger_payload": {"order": "18"}})
    restore_version(run, 1, actor=curator)
    assert [*PayloadValue.objects.filter(run=run).values_list("value", flat=True)] == ["17"]
