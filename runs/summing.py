"""Keeps figures and sums true, in the transaction of whatever writes a run.

Level-triggered: each time a run is written its figures are computed anew and compared with those that the sums hold;
what differs is taken out and put in. So it does not matter who wrote, how often, or in which order.
"""

from __future__ import annotations

import hashlib
import json
from collections.abc import Collection, Iterable, Sequence
from datetime import UTC, datetime
from typing import Any

from database.transactions import transactional
from records.kinds import parse_node_id
from runs.figures import NO_LEVEL, RunFigures, RunSummary, level_of
from runs.models import Run
from runs.payload import index_payload, index_payloads

HOUR, DAY = RunSummary.Grain.values
DIMENSIONS = ("project_id", "agent_name", "agent_version", "trigger_type", "status", "escalated")
SAID = ("agent_name", "agent_version", "trigger_type")
COPIED = (*DIMENSIONS, "active", "started_at", "hour", "token_cost", "duration_ms")
KEY = ("grain", "start", "level", *DIMENSIONS)
IDS_A_QUERY = 500
ROWS_AT_ONCE = 1_000
LONGEST_MS = 2**62

Key = tuple[Any, ...]
Sums = dict[Key, list[int]]


def keep_written(records: Sequence[Any]) -> None:
    """A follower of every act (records.followers): the runs among these records."""
    runs = [record for record in records if isinstance(record, Run)]
    for start in range(0, len(runs), IDS_A_QUERY):
        keep(runs[start : start + IDS_A_QUERY])


def forget_gone(node_ids: Collection[str]) -> None:
    """A follower: of rows that were deleted."""
    parsed = [parse_node_id(node_id) for node_id in node_ids]
    keys = sorted(found[1] for found in parsed if found is not None and found[0].model is Run)
    for start in range(0, len(keys), IDS_A_QUERY):
        forget(keys[start : start + IDS_A_QUERY])


def keep(runs: Sequence[Run]) -> None:
    """Figures, sums and indexed payload of these runs as they are now. The caller's transaction has written or locked them."""
    held = _held([run.pk for run in runs])
    sums: Sums = {}
    new, changed, renamed = [], [], set()
    for run in runs:
        figures, before = figures_of(run), held.get(run.pk)
        if before is None:
            new.append((run, figures))
        elif any(getattr(before, name) != getattr(figures, name) for name in (*COPIED, "payload_digest")):
            figures.pk = before.pk
            changed.append((run, before, figures))
            if any(getattr(before, name) != getattr(figures, name) for name in SAID):
                renamed.add(before.project_id)
            _add(sums, before, -1)
        else:
            continue
        _add(sums, figures, 1)
    RunFigures.objects.bulk_create([figures for _run, figures in new])
    if changed:
        RunFigures.objects.bulk_update(
            [figures for *_, figures in changed], [*COPIED, "payload_digest"], batch_size=100
        )
    add_rows(sums)
    for project_id in renamed:
        merge_all(project_id)  # erased for good, perhaps: no row keeps what was said
    index_payloads([run for run, _figures in new])
    for run, before, figures in changed:
        if before.payload_digest != figures.payload_digest:
            index_payload(run)


def forget(run_ids: Sequence[str]) -> None:
    """The rows are gone: out of the sums with them."""
    held = _held(run_ids)
    sums: Sums = {}
    for figures in held.values():
        _add(sums, figures, -1)
    RunFigures.objects.filter(pk__in=[figures.pk for figures in held.values()]).delete()
    add_rows(sums)


def _held(run_ids: Sequence[str]) -> dict[str, RunFigures]:
    rows = RunFigures.objects.select_for_update().filter(run_id__in=run_ids).order_by("run_id")
    return {figures.run_id: figures for figures in rows}


def figures_of(run: Run) -> RunFigures:
    started = run.started_at.astimezone(UTC)
    return RunFigures(
        run_id=run.pk,
        project_id=run.project_id,
        active=run.is_active,
        started_at=started,
        hour=started.replace(minute=0, second=0, microsecond=0),
        agent_name=run.agent_name,
        agent_version=run.agent_version or "",
        trigger_type=run.trigger_type or "",
        status=run.status,
        escalated=run.escalated_to_human,
        token_cost=run.token_cost,
        duration_ms=duration_of(run.started_at, run.ended_at),
        payload_digest=_payload_digest(run),
    )


def duration_of(started: datetime, ended: datetime | None) -> int | None:
    """Milliseconds; None while it runs, and where it ended before it began."""
    if ended is None or ended < started:
        return None
    return min(int((ended - started).total_seconds() * 1000), LONGEST_MS)


def _payload_digest(run: Run) -> str:
    """Of what the index of key/values holds: whose payload, and which."""
    try:
        said = json.dumps([run.project_id, run.trigger_payload], sort_keys=True)
    except (TypeError, ValueError):  # keys of several types, a number of thousands of digits
        said = repr([run.project_id, run.trigger_payload])
    return hashlib.sha256(said.encode("utf-8", "backslashreplace")).hexdigest()


def _keys_of(figures: RunFigures) -> Iterable[tuple[Key, int]]:
    """(key, tokens) of the sums that these figures are in."""
    if not figures.active:
        return
    dimensions = tuple(getattr(figures, name) for name in DIMENSIONS)
    yield (HOUR, figures.hour, NO_LEVEL, *dimensions), figures.token_cost or 0
    if figures.duration_ms is not None:
        yield (DAY, figures.hour.replace(hour=0), level_of(figures.duration_ms), *dimensions), 0


def _add(sums: Sums, figures: RunFigures, sign: int) -> None:
    for key, tokens in _keys_of(figures):
        held = sums.setdefault(key, [0, 0])
        held[0] += sign
        held[1] += sign * tokens


def add_rows(sums: Sums, *, merged: bool = False) -> None:
    """Insert these sums as rows of their own; what comes to nothing is no row."""
    RunSummary.objects.bulk_create(
        [
            RunSummary(**dict(zip(KEY, key, strict=True)), runs=runs, tokens=tokens, merged=merged)
            for key, (runs, tokens) in sums.items()
            if runs or tokens
        ],
        batch_size=200,
    )


@transactional
def merge(project_id: int | None, grain: str, start: datetime) -> None:
    """The rows of one hour or day of a project into one a key. What is true stays true throughout: it is their sum."""
    rows = RunSummary.objects.filter(project_id=project_id, grain=grain, start=start)
    ids = list(rows.order_by("pk").values_list("pk", flat=True))
    sums: Sums = {}
    for first in range(0, len(ids), ROWS_AT_ONCE):
        some = ids[first : first + ROWS_AT_ONCE]
        # Locked by their keys alone: who adds rows to the same hour does not wait for this.
        locked = list(RunSummary.objects.select_for_update().filter(pk__in=some).order_by("pk"))
        for row in locked:
            held = sums.setdefault(tuple(getattr(row, name) for name in KEY), [0, 0])
            held[0] += row.runs
            held[1] += row.tokens
        RunSummary.objects.filter(pk__in=[row.pk for row in locked]).delete()
    add_rows(sums, merged=True)


def merge_all(project_id: int | None) -> None:
    """Merge every hour and day of a project that has rows to be merged: what no active run says is in none any more."""
    rows = RunSummary.objects.filter(merged=False, project_id=project_id).order_by("grain", "start")
    for grain, start in list(rows.values_list("grain", "start").distinct()):
        merge(project_id, grain, start)
