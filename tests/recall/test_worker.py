"""The worker brings the projection up to the marks, sweeps, and says what it does."""

import pytest
from django.db import connection
from django.utils import timezone

from decisions.actions import edit_decision
from graph import worker_thread
from graph.worker import Worker
from graph.worker_thread import drain, start_worker_thread
from recall import embedder
from recall.models import Embedding, Similarity
from records import marks
from records.guard import writing
from records.leases import Lease
from records.models import ProjectionMark
from records.sweep import sweep
from tests.recall.marked import many, mark_of

pytestmark = [pytest.mark.database, pytest.mark.django_db]


def test_a_write_is_embedded_listed_and_acknowledged(agent, project):
    first, second = many(agent, project, 2)
    assert Worker().work_once() == 2
    mark = mark_of(first)
    assert (mark.embedded_version, mark.projected_version, mark.next_try_at) == (1, 1, None)
    assert (mark.lease_token, mark.attempts, mark.error) == (None, 0, None)
    assert Embedding.objects.filter(node_id=first.node_id).count() == 2
    assert list(Similarity.objects.filter(source=first.node_id).values_list("target", flat=True)) == [
        second.node_id
    ]
    assert Worker().work_once() == 0


def test_many_edits_collapse_into_one(decision, curator):
    for title in ("A", "B", "C"):
        edit_decision(actor=curator, decision=decision, changes={"title": title})
    assert Worker().work_once() == 1
    assert mark_of(decision).projected_version == mark_of(decision).wanted_version == 4
    assert Worker().work_once() == 0


def test_what_is_wanted_during_the_work_stays_due(decision, curator, monkeypatch):
    embed = embedder.embed

    def edited_meanwhile(plans, encoder, **options):
        monkeypatch.setattr(embedder, "embed", embed)
        edit_decision(actor=curator, decision=decision, changes={"title": "Use Valkey"})
        return embed(plans, encoder, **options)

    monkeypatch.setattr(embedder, "embed", edited_meanwhile)
    worker = Worker()
    worker.work_once()
    mark = mark_of(decision)
    assert (mark.projected_version, mark.wanted_version) == (1, 2)
    assert mark.next_try_at is not None
    assert worker.work_once() == 1
    assert mark_of(decision).next_try_at is None


def test_a_deleted_row_takes_its_vectors_and_its_place_in_lists_along(agent, project):
    first, second = many(agent, project, 2)
    Worker().work_once()
    with connection.cursor() as cursor:
        cursor.execute("DELETE FROM architecture_decisions WHERE id = %s", [first.pk])
    assert sweep() == 1
    assert Worker().work_once() == 1
    assert not Embedding.objects.filter(node_id=first.node_id).exists()
    assert not Similarity.objects.exists()
    assert Embedding.objects.filter(node_id=second.node_id).exists()


def test_a_mark_whose_row_is_missing_is_no_failure(decision):
    with connection.cursor() as cursor:
        cursor.execute("DELETE FROM architecture_decisions")
    assert Worker().work_once() == 1
    assert (mark_of(decision).error, mark_of(decision).next_try_at) == (None, None)


def test_a_heartbeat_says_what_the_worker_does(decision):
    worker = Worker()
    worker.work_once()
    worker._beat_at = 0.0
    worker.beat()
    beat = Lease.objects.get(name=f"worker {worker.holder}")
    assert (beat.state["done"], beat.state["problem"]) == (1, "")
    assert beat.until > timezone.now()


def test_commands_drain_what_they_wrote(agent, project):
    many(agent, project, 70)
    assert drain(timeout=60) == 0
    assert ProjectionMark.objects.filter(projected_version=1).count() == 70


def test_a_row_with_no_project_is_embedded(db):
    from runs.models import Run

    with writing():
        run = Run.objects.create(agent_name="bot", project=None)
        marks.want([Run.objects.get(pk=run.pk)], new=True)
    assert Worker().work_once() == 1
    assert Embedding.objects.filter(project_id=None, part=0).count() == 1


def test_whoever_waits_is_woken_after_the_commit_only(
    agent, project, monkeypatch, django_capture_on_commit_callbacks
):
    woken = []
    monkeypatch.setattr(marks, "_wakers", [lambda: woken.append(1)])
    with django_capture_on_commit_callbacks() as callbacks:
        many(agent, project, 1)
        assert woken == []
    for callback in callbacks:
        callback()
    assert woken


def test_no_thread_starts_by_itself(decision):
    assert worker_thread._thread is None
    if connection.vendor != "sqlite":
        assert start_worker_thread() is None
