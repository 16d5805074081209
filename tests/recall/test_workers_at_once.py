"""Workers beside others and beside people who write: claims, leases, locks, a connection that is cut."""

import threading
from datetime import timedelta

import pytest
from django.db import connection, transaction
from django.utils import timezone

from decisions.actions import edit_decision
from decisions.models import Decision
from graph import claims
from graph.sweeper import SWEEP, Sweeper
from graph.worker import Stopping, Worker
from graph.worker_thread import due_count
from recall import embedder, vectors
from recall.models import Similarity
from records import leases
from records.leases import Lease
from records.models import ProjectionMark
from tests.recall.marked import many, mark_of

pytestmark = [pytest.mark.database, pytest.mark.django_db]


def test_asked_to_stop_a_worker_gives_back_what_it_has_not_finished(agent, project, monkeypatch):
    many(agent, project, 3)
    monkeypatch.setattr(embedder, "TEXTS_A_PORTION", 2)
    worker = Worker()
    finish = worker._finish

    def finish_one(claimed):
        finish(claimed)
        worker.stop()

    monkeypatch.setattr(worker, "_finish", finish_one)
    with pytest.raises(Stopping):
        worker.work_once()
    assert ProjectionMark.objects.filter(projected_version=1).count() == 1
    left = ProjectionMark.objects.filter(projected_version=0)
    assert set(left.values_list("lease_token", "attempts")) == {(None, 0)}


def test_a_worker_whose_lease_ran_out_writes_nothing(decision, curator, monkeypatch):
    embed = embedder.embed

    def late(plans, encoder, **options):
        monkeypatch.setattr(embedder, "embed", embed)
        ProjectionMark.objects.update(lease_until=timezone.now() - timedelta(seconds=1))
        edit_decision(actor=curator, decision=decision, changes={"title": "Newer"})
        assert Worker().work_once() == 1
        return embed(plans, encoder, **options)

    monkeypatch.setattr(embedder, "embed", late)
    Worker().work_once()
    mark = mark_of(decision)
    assert mark.projected_version == mark.wanted_version == 2
    assert mark.next_try_at is None
    [row] = embedder.plan([Decision.objects.get(pk=decision.pk)], vectors.configured_encoder())
    assert row.missing == row.stale == []


def test_claims_are_not_shared_and_run_out(decision):
    assert len(claims.claim("a", 64)) == 1
    assert claims.claim("b", 64) == claims.claim("b", 64, again=True) == []
    ProjectionMark.objects.update(lease_until=timezone.now() - timedelta(seconds=1))
    assert [claim.attempts for claim in claims.claim("b", 64, again=True)] == [2]


def test_a_lease_is_prolonged_by_its_holder_only(decision):
    held = claims.claim("a", 64)
    ProjectionMark.objects.update(lease_until=timezone.now() + timedelta(seconds=5))
    claims.prolong("b", held)
    assert mark_of(decision).lease_until < timezone.now() + timedelta(seconds=10)
    claims.prolong("a", held)
    assert mark_of(decision).lease_until > timezone.now() + timedelta(seconds=50)


def test_the_sweep_runs_once_for_all_workers_and_is_told_of(project, settings):
    with connection.cursor() as cursor:
        cursor.execute(
            "INSERT INTO architecture_decisions (project_id, title, decision) VALUES (%s, 'By hand', 'x')",
            [project.pk],
        )
    assert Sweeper("one").sweep_if_due()
    assert not Sweeper("two").sweep_if_due()
    assert Lease.objects.get(name=SWEEP).state["taken_in"] == 1
    assert Worker().work_once() == 1
    Lease.objects.filter(name=SWEEP).update(state={})
    leases.take(SWEEP, "one", 60)
    assert not Sweeper("two").sweep_if_due()
    settings.SWEEP_SECONDS = 1
    leases.give_back(SWEEP, "one")
    assert Sweeper("two").sweep_if_due()


needs_server = pytest.mark.skipif(
    "connection.vendor == 'sqlite'", reason="threads share one in-memory database; see test_worker_processes"
)


@needs_server
@pytest.mark.django_db(transaction=True)
def test_several_workers_share_the_marks_and_agree_on_the_lists(agent, project):
    made = many(agent, project, 150)
    done, errors = [], []

    def work():
        worker = Worker()
        try:
            while due_count():
                done.append(worker.work_once())
        except Exception as error:
            errors.append(error)
        finally:
            connection.close()

    threads = [threading.Thread(target=work) for _ in range(3)]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()
    assert errors == []
    assert sum(done) == 150
    assert ProjectionMark.objects.filter(projected_version=1, next_try_at=None).count() == 150
    before = list(Similarity.objects.order_by("id").values_list("id", flat=True))
    assert len(before) == 150 * 20
    from recall.similar import rebuild_similarities

    rebuild_similarities(project.pk)
    after = set(Similarity.objects.values_list("id", flat=True))
    assert len(set(before) - after) <= len(made) // 50  # cosines that agree to six places may change places


@needs_server
@pytest.mark.django_db(transaction=True)
def test_nobody_waits_for_a_transaction_that_holds_a_mark(agent, curator, project):
    held, free = many(agent, project, 2)
    entered, leave = threading.Event(), threading.Event()

    def save_slowly():
        with transaction.atomic():
            edit_decision(actor=curator, decision=held, changes={"title": "Slow"})
            entered.set()
            leave.wait(20)
        connection.close()

    thread = threading.Thread(target=save_slowly)
    thread.start()
    try:
        assert entered.wait(10)
        began = timezone.now()
        assert Worker().work_once() == 1
        assert timezone.now() - began < timedelta(seconds=3)
        assert mark_of(free).projected_version == 1
    finally:
        leave.set()
        thread.join()
    assert Worker().work_once() == 1
    assert mark_of(held).projected_version == 2


@needs_server
@pytest.mark.django_db(transaction=True)
def test_a_worker_goes_on_by_itself_after_its_connection_was_cut(agent, project):
    worker = Worker()
    ids, failed = [], []

    def cut(seconds):
        with connection.cursor() as cursor:
            cursor.execute("SELECT CONNECTION_ID()")
            ids.append(cursor.fetchone()[0])
        if len(ids) > 200:
            worker.stop()
        threading.Event().wait(0.05)

    def run():
        try:
            worker.run(cut, 0.05)
        except Exception as error:
            failed.append(error)

    thread = threading.Thread(target=run)
    thread.start()
    try:
        while not ids:
            threading.Event().wait(0.05)
        with connection.cursor() as cursor:
            cursor.execute(f"KILL {ids[-1]}")
        many(agent, project, 3)
        for _ in range(200):
            if not due_count() and len(set(ids)) > 1:
                break
            threading.Event().wait(0.1)
    finally:
        worker.stop()
        thread.join(20)
    assert failed == []
    assert len(set(ids)) > 1
    assert ProjectionMark.objects.filter(projected_version=1).count() == 3
    assert not Lease.objects.filter(name__startswith="worker ").exists()
