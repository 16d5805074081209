"""The worker brings the projection up to the marks, whatever fails and whoever works beside it."""

import threading
from datetime import timedelta

import pytest
from django.db import OperationalError, connection, transaction
from django.utils import timezone

from decisions.actions import create_decision, edit_decision
from decisions.models import Decision
from graph import claims, worker_thread
from graph import worker as worker_module
from graph.sweeper import SWEEP, Sweeper
from graph.worker import DatabaseAway, Stopping, Worker
from graph.worker_thread import drain, due_count, start_worker_thread
from recall import embedder, vectors
from recall.encoders import EncoderUnavailable
from recall.models import Embedding, Similarity
from records import leases, marks
from records.guard import writing
from records.leases import Lease
from records.models import ProjectionMark
from records.sweep import sweep

pytestmark = [pytest.mark.database, pytest.mark.django_db]


@pytest.fixture
def decision(agent, project):
    return create_decision(actor=agent, project=project, title="Use Redis", decision="Cache totals.")


def many(agent, project, count):
    return [
        create_decision(actor=agent, project=project, title=f"Use Redis {n}", decision=f"Cache totals {n}.")
        for n in range(count)
    ]


def mark_of(record):
    return ProjectionMark.objects.get(node_id=record.node_id)


def now_due():
    ProjectionMark.objects.exclude(next_try_at=None).update(next_try_at=timezone.now())


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


class Poison:
    """An encoder that fails on one word."""

    def __init__(self, word, error=None):
        self.encoder = vectors.configured_encoder()
        self.name, self.dimension = self.encoder.name, self.encoder.dimension
        self.word, self.error = word, error or ValueError("poison")

    def encode(self, texts):
        if any(self.word in text for text in texts):
            raise self.error
        return self.encoder.encode(texts)


def use(monkeypatch, encoder):
    monkeypatch.setattr(worker_module, "configured_encoder", lambda: encoder)


def test_a_poisoned_record_backs_off_alone_and_ends_dead_with_its_error(agent, project, monkeypatch):
    records = many(agent, project, 9)
    use(monkeypatch, Poison("Redis 4"))
    worker = Worker()
    worker.work_once()
    poisoned = mark_of(records[4])
    assert ProjectionMark.objects.filter(projected_version=1).count() == 8
    assert (poisoned.attempts, poisoned.dead, poisoned.error) == (1, False, "ValueError: poison")
    assert timezone.now() < poisoned.next_try_at < timezone.now() + timedelta(seconds=4)
    assert worker.work_once() == 0
    for _ in range(claims.ATTEMPTS - 1):
        now_due()
        assert worker.work_once() == 1
    assert mark_of(records[4]).dead
    now_due()
    assert worker.work_once() == 0


def test_a_dead_record_is_tried_again_when_it_is_edited(agent, curator, project, monkeypatch):
    record = many(agent, project, 1)[0]
    ProjectionMark.objects.update(dead=True, attempts=claims.ATTEMPTS, error="x")
    edit_decision(actor=curator, decision=record, changes={"title": "Better"})
    assert Worker().work_once() == 1
    assert mark_of(record).projected_version == 2


def test_a_record_that_ends_the_process_each_time_ends_dead_and_takes_no_other_along(agent, project):
    records = many(agent, project, 6)
    crashes = 0
    while due_count() and crashes < 40:
        token = claims.new_token()
        batch = claims.claim(token, 64) or claims.claim(token, 1, again=True)
        for claim in batch:
            if claim.node_id == records[2].node_id:  # here the process ends: nothing is written down
                crashes += 1
                break
            claims.acknowledge(token, [claim])
        ProjectionMark.objects.exclude(lease_until=None).update(lease_until=timezone.now())
    assert crashes == claims.ATTEMPTS
    assert list(ProjectionMark.objects.filter(dead=True).values_list("node_id", flat=True)) == [
        records[2].node_id
    ]
    assert ProjectionMark.objects.filter(projected_version=1).count() == 5


def test_a_missing_encoder_is_not_the_records_fault(decision, monkeypatch):
    use(monkeypatch, Poison("", EncoderUnavailable("pip install onnxruntime")))
    for _ in range(3):
        with pytest.raises(EncoderUnavailable):
            Worker().work_once()
    mark = mark_of(decision)
    assert (mark.attempts, mark.dead, mark.error, mark.lease_token) == (0, False, None, None)
    assert mark.next_try_at <= timezone.now()
    assert drain(timeout=5) == 1


def test_a_locked_database_is_not_the_records_fault(decision, monkeypatch):
    use(monkeypatch, Poison("", OperationalError("database is locked")))
    with pytest.raises(DatabaseAway):
        Worker().work_once()
    assert mark_of(decision).attempts == 0


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


def test_a_chore_that_fails_holds_no_other_up(transactional_db, monkeypatch, caplog):
    done = []
    chores = {"bad": lambda: 1 / 0, "good": lambda: done.append(1) or False}
    monkeypatch.setattr("records.followers._chores", chores)
    for _round in range(2):
        sweeper = Sweeper("one")
        sweeper._look_for_chores_at = 0
        assert sweeper.chores_if_due() is False
    assert done == [1, 1]
    assert "bad failed" in caplog.text


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


def test_the_loop_outlives_a_round_that_failed(decision, monkeypatch):
    worker = Worker()
    monkeypatch.setattr(worker._sweeper, "start", lambda: None)
    rounds = []

    def failing():
        rounds.append(1)
        if len(rounds) == 1:
            raise RuntimeError("a mistake")
        worker.stop()
        return 1

    monkeypatch.setattr(worker, "work_once", failing)
    monkeypatch.setattr(connection, "close", lambda: None)
    worker.run(lambda seconds: None, 0)
    assert len(rounds) == 2


def test_no_thread_starts_by_itself(decision):
    assert worker_thread._thread is None
    if connection.vendor != "sqlite":
        assert start_worker_thread() is None


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
