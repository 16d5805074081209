"""Reads are noted at no cost to the answer and written in batches, whole."""

import threading
import time

import pytest
from django.db import OperationalError, connection
from django.test.utils import CaptureQueriesContext

from decisions.actions import create_decision
from projects.models import AgentToken
from records import reads
from records.actor import Actor
from records.models import Read
from records.reads import flush_reads, note_reads, reads_lost

pytestmark = [pytest.mark.database, pytest.mark.django_db]


@pytest.fixture
def decision(agent, project):
    return create_decision(actor=agent, project=project, title="Use Redis", decision="D")


def test_noting_touches_no_database_and_flushing_keeps_who_what_when_and_where(decision, agent, project):
    token = agent.token
    actor = Actor.agent(token, session="ses-1", run="run_1", request_id="req-1")
    with CaptureQueriesContext(connection) as queries:
        note_reads([decision.node_id, "dec_999"], actor=actor, door="api.decisions.list")
    assert len(queries) == 0
    assert flush_reads() == 2
    read = Read.objects.get(node_id=decision.node_id)
    assert (read.token, read.agent_name, read.session, read.run) == (token, "order-bot", "ses-1", "run_1")
    assert (read.door, read.request_id, read.project_id) == ("api.decisions.list", "req-1", project.pk)
    assert Read.objects.get(node_id="dec_999").project_id is None
    assert flush_reads() == 0


def test_a_batch_takes_as_many_queries_as_one(decision, agent):
    def queries_for(count):
        note_reads([decision.node_id] * count, actor=agent, door="api")
        with CaptureQueriesContext(connection) as queries:
            flush_reads()
        return len(queries)

    assert queries_for(1) == queries_for(50)


def test_past_its_capacity_reads_are_counted_as_lost(agent, monkeypatch):
    monkeypatch.setattr(reads, "CAPACITY", 3)
    note_reads([f"dec_{n}" for n in range(5)], actor=agent, door="api")
    assert (flush_reads(), reads_lost()) == (3, 2)


def test_what_an_agent_says_of_itself_always_fits(agent):
    actor = Actor.agent(agent.token, session="s" * 5000, run="half \ud800", request_id="é" * 100)
    note_reads(["dec_1"], actor=actor, door="d" * 99)
    assert flush_reads() == 1
    read = Read.objects.get()
    assert (len(read.session), read.run, len(read.request_id), len(read.door)) == (255, "half ?", 64, 40)


def test_reads_of_a_token_that_was_deleted_are_kept_without_it(agent):
    note_reads(["dec_1"], actor=agent, door="api")
    AgentToken.objects.all().delete()
    assert flush_reads() == 1
    assert Read.objects.get().token is None


def test_one_row_that_the_database_refuses_does_not_take_the_others_along(agent, monkeypatch):
    write = reads._write

    def refusing(batch):
        if any(noted.node_id == "dec_2" for noted in batch):
            raise ValueError("refused")
        write(batch)

    monkeypatch.setattr(reads, "_write", refusing)
    note_reads(["dec_1", "dec_2", "dec_3"], actor=agent, door="api")
    assert (flush_reads(), reads_lost()) == (2, 1)


def test_a_database_that_is_away_loses_no_read(agent, monkeypatch):
    write = reads._write

    def away(batch):
        raise OperationalError("gone")

    monkeypatch.setattr(reads, "_write", away)
    note_reads(["dec_1", "dec_2"], actor=agent, door="api")
    with pytest.raises(OperationalError):
        flush_reads()
    monkeypatch.setattr(reads, "_write", write)
    assert flush_reads() == 2
    assert list(Read.objects.order_by("id").values_list("node_id", flat=True)) == ["dec_1", "dec_2"]


@pytest.mark.skipif("connection.vendor == 'sqlite'", reason="threads share one in-memory database")
@pytest.mark.django_db(transaction=True)
def test_in_a_server_reads_are_written_within_a_second(agent, monkeypatch):
    monkeypatch.setattr(reads, "in_background", True)
    began = time.monotonic()
    threads = [
        threading.Thread(target=note_reads, args=[["dec_1"] * 10], kwargs={"actor": agent, "door": "api"})
        for _ in range(4)
    ]
    for thread in threads:
        thread.start()
    while Read.objects.count() < 40:
        assert time.monotonic() - began < 5
        time.sleep(0.02)
    assert time.monotonic() - began < 3  # on a busy machine, too
    assert reads_lost() == 0
