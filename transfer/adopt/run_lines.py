"""agent_runs and agent_memory as JSON lines: read twice, runs first, since a memory names its run."""

from __future__ import annotations

import json
from collections.abc import Iterator
from pathlib import Path
from typing import Any

from database.columns import new_hex_id
from records.kinds import parse_node_id
from runs.models import Run
from transfer.adopt.cells import Problem
from transfer.adopt.kinds import MEMORIES, RUNS, Plan, hex_id
from transfer.adopt.source import SourceProblem
from transfer.adopt.writer import Item, Writer
from transfer.models import Arrival

LINES_A_BATCH = 200
BYTES_A_BATCH = 2 * 1024 * 1024
LONGEST_LINE = 32 * 1024 * 1024
Row = dict[str, Any]


def adopt_runs(path: Path, writer: Writer, model: str | None) -> None:
    """`model` names the vectors of lines that do not name theirs."""
    for plan in (RUNS, MEMORIES):
        batch: list[tuple[int, Row]] = []
        size = 0
        for number, length, row in _lines(path, writer, say=plan is RUNS):
            if _plan_of(row) is not plan:
                continue
            writer.report.line(plan.table).there += 1
            if batch and (len(batch) >= LINES_A_BATCH or size + length > BYTES_A_BATCH):
                _write(plan, batch, writer, model)
                batch, size = [], 0
            batch.append((number, row))
            size += length
        if batch:
            _write(plan, batch, writer, model)


def _lines(path: Path, writer: Writer, *, say: bool) -> Iterator[tuple[int, int, Row]]:
    """Line number, its bytes, and the object on it; what is none is told, once."""
    try:
        with path.open("rb") as file:
            number = 0
            while line := file.readline(LONGEST_LINE + 1):
                number += 1
                row, reason = _parsed(line, file)
                if row is not None:
                    yield number, len(line), row
                elif reason and say:
                    writer.report.line(RUNS.table).left_out += 1
                    writer.report.tell([Problem(path.name, f"line {number}", "", f"left out: {reason}")])
    except OSError as error:
        raise SourceProblem(f"{path}: {error.strerror}") from error


def _parsed(line: bytes, file: Any) -> tuple[Row | None, str]:
    if len(line) > LONGEST_LINE:
        while line and not line.endswith(b"\n"):
            line = file.readline(LONGEST_LINE)
        return None, f"is longer than {LONGEST_LINE} bytes"
    if not line.strip():
        return None, ""
    try:
        row = json.loads(line.decode("utf-8-sig"), parse_constant=_refuse)
    except (ValueError, RecursionError) as error:
        return None, f"is no JSON: {error}"
    return (row, "") if isinstance(row, dict) else (None, "is no JSON object")


def _refuse(word: str) -> Any:
    raise ValueError(f"{word} is no number of JSON")


def _plan_of(row: Row) -> Plan:
    """By its `table` (or `kind`); a line that says none is a memory when it has a summary."""
    named = str(row.get("table") or row.get("kind") or "")
    if named:
        return MEMORIES if "memory" in named else RUNS
    return MEMORIES if "summary" in row else RUNS


def _write(plan: Plan, batch: list[tuple[int, Row]], writer: Writer, model: str | None) -> None:
    runs = _runs_of(batch, writer.origin) if plan is MEMORIES else {}
    items, told = [], []
    for number, row in batch:
        written = row.get("id")
        key, kept = hex_id(written if written is not None else _content(row), f"{writer.origin} {plan.table}")
        if not kept and written is not None:
            told.append(
                Problem(
                    plan.table, str(written)[:60], "id", f"is no UUID: it is {plan.kind.node_id(key)} here"
                )
            )
        beside, reason = _run_of(plan, row, runs)
        if reason:
            told.append(Problem(plan.table, f"line {number}", "source_run_id", reason))
        fields = {"embedding_model": model, **row} if model and plan is MEMORIES else row
        items.append(Item(key, fields, key, beside))
    before = writer.report.line(plan.table).adopted
    writer.write(plan, items, new_hex_id)
    if writer.report.line(plan.table).adopted > before:  # else all of it was told when they were adopted
        writer.report.tell(told)


def _content(row: Row) -> str:
    """What names a line without an id: all that it says."""
    return json.dumps(row, sort_keys=True, ensure_ascii=True)


def _run_of(plan: Plan, row: Row, runs: dict[str, Run]) -> tuple[dict[str, Any], str]:
    """The run that a memory names, and its project where the line names none; else what is wrong."""
    named = row.get("source_run_id")
    if plan is not MEMORIES or named is None:
        return {}, ""
    run = runs.get(str(named))
    if run is None:
        return {}, f"there is no run {str(named)[:60]!r}: left open"
    beside: dict[str, Any] = {"source_run_fk": run}
    if row.get("project_id") is None and run.project is not None:
        beside["project"] = run.project
    return beside, ""


def _runs_of(batch: list[tuple[int, Row]], origin: str) -> dict[str, Run]:
    """The runs that these memories name, by the name that they use."""
    names = {str(row["source_run_id"]) for _, row in batch if row.get("source_run_id") is not None}
    key_of = {name: hex_id(name, f"{origin} {RUNS.table}")[0] for name in names}
    rows = Arrival.objects.filter(
        origin=origin, kind=RUNS.kind.name, source_key__in=set(key_of.values())
    ).values_list("source_key", "node_id")
    here = {source: parsed[1] for source, node_id in rows if (parsed := parse_node_id(node_id)) is not None}
    found = Run.objects.select_related("project").in_bulk(list(here.values()))
    return {name: found[here[key]] for name, key in key_of.items() if here.get(key) in found}
