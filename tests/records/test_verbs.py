"""The write verbs: row, revision and mark together or not at all."""

import pytest
from django.db import connection

from decisions.actions import change_status, create_decision, edit_decision, supersede
from decisions.models import Decision
from patterns.actions import adjust_confidence, create_pattern, record_evidence
from pitfalls.actions import create_pitfall, meet_again
from records.errors import Conflict, InvalidInput, NotAllowed, Refused
from records.guard import OutsideVerb
from records.models import ProjectionMark, Revision
from records.sweep import sweep
from records.verbs import archive, restore, review

pytestmark = [pytest.mark.database, pytest.mark.zone, pytest.mark.django_db]


@pytest.fixture
def decision(agent, project):
    return create_decision(
        actor=agent, project=project, title="Use Redis", decision="Cache totals.", tags=["redis"]
    )


def test_a_creation_keeps_who_where_and_what(decision, agent):
    assert (decision.review_state, decision.source_kind, decision.source_name) == (
        "unreviewed",
        "agent",
        "order-bot",
    )
    assert decision.source_session == "ses-8841"
    revision = Revision.objects.get(node_id=decision.node_id)
    assert (revision.verb, revision.version, revision.channel, revision.actor_name) == (
        "create",
        1,
        "api",
        "order-bot",
    )
    assert revision.after["title"] == "Use Redis"
    mark = ProjectionMark.objects.get(node_id=decision.node_id)
    assert (mark.wanted_version, mark.embedded_version, mark.gone) == (1, 0, False)
    assert mark.next_try_at is not None


def test_what_a_person_writes_is_approved_by_their_own_hand(curator, project):
    made = create_decision(actor=curator, project=project, title="T", decision="D")
    assert (made.review_state, made.reviewed_by) == ("approved", curator.user)


def test_an_edit_bumps_the_version_and_says_what_changed(decision, curator):
    edited = edit_decision(
        actor=curator, decision=decision, changes={"title": "Use Valkey"}, reason="renamed"
    )
    assert edited.version == 2
    revision = Revision.objects.filter(node_id=decision.node_id).first()
    assert (revision.changed, revision.reason, revision.version) == (["title"], "renamed", 2)
    assert ProjectionMark.objects.get(node_id=decision.node_id).wanted_version == 2


def test_an_edit_that_changes_nothing_writes_nothing(decision, curator):
    edited = edit_decision(actor=curator, decision=decision, changes={"title": "Use Redis"})
    assert edited.version == 1
    assert Revision.objects.count() == 1


def test_a_stale_version_is_a_conflict_that_writes_nothing(decision, curator):
    edit_decision(actor=curator, decision=decision, changes={"title": "A"})
    with pytest.raises(Conflict) as conflict:
        edit_decision(actor=curator, decision=decision, changes={"title": "B"}, expected_version=1)
    assert conflict.value.record.title == "A"
    assert Decision.objects.get().title == "A"


def test_plain_sql_since_the_page_was_read_is_a_conflict_too(decision, curator):
    with connection.cursor() as cursor:
        cursor.execute("UPDATE architecture_decisions SET rationale = 'by hand' WHERE id = %s", [decision.pk])
    with pytest.raises(Conflict):
        edit_decision(actor=curator, decision=decision, changes={"title": "B"}, expected_version=1)
    kept = Decision.objects.get()
    assert (kept.title, kept.rationale, kept.version) == ("Use Redis", "by hand", 2)
    assert Revision.objects.filter(channel="sql", verb="edit", changed=["rationale"]).count() == 1


def test_the_sweep_takes_in_what_plain_sql_inserted_changed_and_deleted(decision, project):
    with connection.cursor() as cursor:
        cursor.execute(
            "INSERT INTO architecture_decisions (project_id, title, decision) VALUES (%s, 'By hand', 'x')",
            [project.pk],
        )
    assert sweep() == 1
    assert sweep() == 0
    made = Decision.objects.get(title="By hand")
    assert (made.source_kind, made.review_state, made.status) == ("sql", "unreviewed", "accepted")
    assert list(Revision.objects.filter(node_id=made.node_id).values_list("verb", "channel")) == [
        ("create", "sql")
    ]
    with connection.cursor() as cursor:
        cursor.execute("DELETE FROM architecture_decisions WHERE id = %s", [made.pk])
    from records.models import SweepWatermark

    SweepWatermark.objects.update(missing_checked_at=None)
    assert sweep() == 1
    assert ProjectionMark.objects.get(node_id=made.node_id).gone


def test_approve_reject_archive_restore(decision, curator, agent, viewer):
    assert review([decision], "approved", actor=curator).record.review_state == "approved"
    with pytest.raises(InvalidInput):
        review([decision], "rejected", actor=curator)
    assert review([decision], "rejected", actor=curator, reason="wrong").record.is_active is False
    for actor in (agent, viewer):
        with pytest.raises(NotAllowed):
            review([decision], "approved", actor=actor)
    assert archive([decision], actor=curator).record.archived_at
    assert restore([decision], actor=curator).record.archived_at is None


def test_supersede_sets_status_and_link_together_and_never_in_a_circle(decision, curator, project):
    new = create_decision(actor=curator, project=project, title="Use Valkey", decision="Valkey.")
    assert supersede(actor=curator, decision=decision, by=new, reason="licence").status == "superseded"
    with pytest.raises(Refused):
        supersede(actor=curator, decision=new, by=decision)
    assert Decision.objects.get(pk=new.pk).status == "accepted"
    assert Revision.objects.filter(node_id=new.node_id, verb="link", version=None).count() == 1


def test_a_status_needs_a_reason(decision, curator):
    with pytest.raises(InvalidInput):
        change_status(actor=curator, decisions=[decision], status="rejected", reason=" ")


def test_writing_around_the_verbs_is_refused(decision):
    decision.title = "x"
    with pytest.raises(OutsideVerb):
        decision.save()
    with pytest.raises(OutsideVerb):
        Decision.objects.update(title="x")
    with pytest.raises(OutsideVerb):
        Revision.objects.all().delete()


@pytest.mark.parametrize("bad", ["a\x00b", "half \ud800", "x" * (1024 * 1024 + 1)])
def test_text_no_database_keeps_is_refused_by_name(agent, project, bad):
    with pytest.raises(InvalidInput) as refused:
        create_decision(actor=agent, project=project, title="T", decision=bad)
    assert list(refused.value.errors) == ["decision"]
    assert not Decision.objects.exists()


def test_votes_count_move_confidence_and_bump_no_version(agent, project, curator):
    pattern = create_pattern(
        actor=agent, project=project, category="caching", name="Cache-aside", confidence=0.5
    )
    voted = record_evidence(actor=agent, pattern=pattern, worked=True)
    assert (voted.version, voted.worked_count, voted.usage_count) == (1, 1, 1)
    assert voted.confidence_score == pytest.approx((0.5 * 4 + 1) / 5)
    adjusted = adjust_confidence(actor=curator, pattern=voted, confidence=0.9, reason="proved in production")
    assert (adjusted.confidence_score, adjusted.worked_count, adjusted.version) == (0.9, 0, 2)


def test_a_confidence_written_by_sql_becomes_the_new_prior(agent, project):
    pattern = create_pattern(actor=agent, project=project, category="caching", name="Cache-aside")
    with connection.cursor() as cursor:
        cursor.execute("UPDATE code_patterns SET confidence_score = 0.9 WHERE id = %s", [pattern.pk])
    voted = record_evidence(actor=agent, pattern=pattern, worked=False)
    assert voted.prior_confidence == 0.9
    assert voted.confidence_score == pytest.approx(0.9 * 4 / 5)
    assert list(voted.evidence.order_by("id").values_list("cause", flat=True)) == ["start", "sql", "failed"]


def test_met_again_counts(agent, project):
    pitfall = create_pitfall(
        actor=agent, project=project, category="db", title="Pool drains", severity="critical"
    )
    assert meet_again(actor=agent, pitfall=pitfall, note="again").encountered_count == 2
    assert sweep() == 0
