"""Runs and run memories as JSON lines beside the tables."""

from __future__ import annotations

import json

import pytest

from records.kinds import kind_of
from records.models import Revision
from runs.models import Memory, PayloadValue, Run
from tests.transfer.test_adopt import bring

pytestmark = [pytest.mark.django_db, pytest.mark.database]
RUN_ID = "0b7d3a52-3f2c-4b3e-9a37-0d8e4f1c2a55"
VECTOR = [1.0] + [0.0] * 383


@pytest.fixture
def lines(tmp_path):
    path = tmp_path / "runs.jsonl"

    def write(*rows, raw=b""):
        path.write_bytes("".join(json.dumps(row) + "\n" for row in rows).encode() + raw)
        return path

    return write


RUN = {
    "id": RUN_ID, "agent_name": "dba-agent", "agent_version": "1.4.0", "trigger_type": "alert",
    "trigger_payload": {"alert": "replica lag", "host": "db-2"}, "started_at": "2025-03-01T10:00:00Z",
    "ended_at": "2025-03-01 10:05:00", "status": "success", "outcome": {"fixed": True}, "tool_calls": [{"name": "sql"}],
    "token_cost": 812, "escalated_to_human": 1, "confidence": 0.87, "project_id": 1,
}  # fmt: skip
MEMORY = {"agent_name": "dba-agent", "summary": "Replica lag after a bulk delete.", "source_run_id": RUN_ID}


def test_runs_and_memories_keep_their_ids_and_the_memory_finds_its_run_that_comes_later(plain_source, lines):
    named = {**MEMORY, "id": "a" * 32, "embedding": VECTOR, "embedding_model": "all-MiniLM-L6-v2"}
    report, problems = bring(plain_source, runs=lines(named, RUN))
    run, memory = Run.objects.get(), Memory.objects.get()
    assert (run.pk, memory.pk, memory.source_run_fk) == (RUN_ID.replace("-", ""), "a" * 32, run)
    assert (run.status, run.escalated_to_human, str(run.confidence)) == ("succeeded", True, "0.87")
    assert (run.ended_at - run.started_at).seconds == 300
    assert run.project.slug == memory.project.slug == "project-1"  # a memory without one is where its run is
    assert PayloadValue.objects.filter(run=run, path="host", value="db-2").exists()
    assert Revision.objects.filter(channel="import").count() == 2
    assert (report.lines["agent_runs"].adopted, report.lines["agent_memory"].adopted, problems) == (1, 1, [])
    again, problems = bring(plain_source, runs=lines(named, RUN))
    assert (again.adopted, problems, Revision.objects.count()) == (0, [], 2)


@pytest.mark.parametrize(
    ("said", "option", "reused"),
    [
        ("all-MiniLM-L6-v2", None, True),
        (None, None, False),
        (None, "all-MiniLM-L6-v2", True),
        ("other", None, False),
    ],
)
def test_a_vector_is_used_again_where_its_model_is_named(plain_source, lines, said, option, reused):
    from recall.embedder import _given_vector
    from recall.encoders import get_encoder

    row = {**MEMORY, "embedding": VECTOR} | ({"embedding_model": said} if said else {})
    bring(plain_source, runs=lines(RUN, row), runs_model=option)
    memory = Memory.objects.get()
    assert memory.embedding == VECTOR  # as written, whatever it is used for
    given = _given_vector(kind_of(memory).vector_of(memory), get_encoder())
    assert (given is not None) is reused


def test_odd_lines_are_told_by_their_number_and_the_others_are_adopted(plain_source, lines):
    raw = b'{broken\n\n[1]\n{"agent_name": NaN}\n\xff\xfe\n'
    path = lines(
        {
            **RUN,
            "id": "run-17",
            "project_id": None,
            "confidence": 3,
            "status": "exploded",
            "started_at": "soon",
        },
        {"id": "x", "summary": "", "agent_name": "a"},
        {**MEMORY, "source_run_id": "nowhere"},
        {**MEMORY, "id": "m-1", "source_run_id": "run-17"},
        raw=raw,
    )
    report, problems = bring(plain_source, runs=path)
    text = "\n".join(problems)
    for number in (5, 7, 8, 9):
        assert f"runs.jsonl line {number}: left out: is no JSON" in text
    assert "agent_runs run-17.id: is no UUID" in text
    assert "is no number from 0 to 1 (3)" in text
    assert "'exploded', which is not known here: 'running'" in text
    assert "there is no run 'nowhere'" in text
    run = Run.objects.get()
    assert (run.project, run.confidence) == (None, None)
    assert Memory.objects.get(source_run_fk=run).summary == MEMORY["summary"]
    assert Memory.objects.count() == 2
    assert (report.lines["agent_runs"].left_out, report.lines["agent_memory"].left_out) == (4, 1)
    again, _ = bring(plain_source, runs=path)
    assert (again.adopted, Run.objects.count(), Memory.objects.count()) == (0, 1, 2)


def test_runs_without_a_project_go_where_they_are_mapped(plain_source, lines):
    bring(plain_source, runs=lines({**RUN, "project_id": None}), mapped={"none": "ops"})
    assert Run.objects.get().project.slug == "ops"
