"""What fails costs the worker that record at most, and is counted against nobody else."""

from datetime import timedelta

import pytest
from django.db import OperationalError, connection
from django.utils import timezone

from decisions.actions import edit_decision
from graph import claims
from graph import worker as worker_module
from graph.sweeper import Sweeper
from graph.worker import DatabaseAway, Worker
from graph.worker_thread import drain, due_count
from recall import vectors
from recall.encoders import EncoderUnavailable
from records.models import ProjectionMark
from tests.recall.marked import many, mark_of

pytestmark = [pytest.mark.database, pytest.mark.django_db]


def now_due():
    ProjectionMark.objects.exclude(next_try_at=None).update(next_try_at=timezone.now())


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
