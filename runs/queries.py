"""Every read of runs and run memories."""

from __future__ import annotations

from collections.abc import Collection, Sequence
from dataclasses import dataclass
from typing import Any

from django.utils import timezone

from recall.search import search
from records.errors import InvalidInput
from records.models import ReviewState
from records.query_language import Condition, Query
from runs.kind import MEMORY, RUN
from runs.models import CacheEntry, Memory, Run

NAME_LENGTH = 120


def memories_of(run: Run) -> list[Memory]:
    """The active summaries of a run, newest first."""
    return list(
        Memory.objects.active()
        .select_related("project")
        .filter(source_run_fk=run, project_id=run.project_id)
        .order_by("-created_at")
    )


def memory_ids_of(runs: Sequence[Run]) -> dict[str, list[str]]:
    """Node id of each run -> those of its active memories, newest first; one query."""
    rows = (
        Memory.objects.active()
        .filter(source_run_fk__in=[run.pk for run in runs])
        .order_by("-created_at")
        .values_list("source_run_fk_id", "pk", "project_id")
    )
    projects = {run.pk: run.project_id for run in runs}
    found: dict[str, list[str]] = {run.node_id: [] for run in runs}
    for run_id, key, project_id in rows:
        if projects[run_id] == project_id:
            found[RUN.node_id(run_id)].append(MEMORY.node_id(key))
    return found


def runs_summed_up(memories: Sequence[Memory]) -> dict[str, str]:
    """Node id of each memory -> that of its run, where it lies in the same project; one query."""
    projects = dict(
        Run.objects.filter(pk__in={memory.source_run_fk_id for memory in memories}).values_list(
            "pk", "project_id"
        )
    )
    return {
        memory.node_id: RUN.node_id(memory.source_run_fk_id)
        for memory in memories
        if memory.source_run_fk_id in projects and projects[memory.source_run_fk_id] == memory.project_id
    }


def cache_entry(project_id: int, key: str) -> CacheEntry | None:
    """What is kept under a key, until it expires."""
    entries = CacheEntry.objects.filter(project_id=project_id, key=key, expires_at__gt=timezone.now())
    return entries.select_related("project").first()


@dataclass(frozen=True)
class Incident:
    """A past run that is like a text: by its own trigger and outcome, or by a memory of it. `cosine` is None where
    words alone found it; `run` is None for a memory that names none."""

    run: Run | None
    memory: Memory | None
    score: float
    cosine: float | None
    why: tuple[str, ...]


def incidents_like(
    project_ids: Sequence[int], text: str, *, k: int = 5, agent: str = "", reviewed_only: Collection[int] = ()
) -> tuple[list[Incident], list[str]]:
    """The runs and run memories most like a text, each run once, best first; and notes on how they were looked for.

    Of the projects in `reviewed_only` only what was approved.
    """
    kinds = [RUN.name, MEMORY.name]
    conditions = [Condition("agent", f"agent:{agent}", (("agent", agent),))] if agent else []
    query = Query(text=text, words=text, kinds=kinds, conditions=conditions)
    found = search(project_ids, query, limit=2 * k, reviewed_only=reviewed_only)
    if found.problems:
        raise InvalidInput({"text": found.problems})
    memories = [hit.record for hit in found.hits if isinstance(hit.record, Memory)]
    runs = Run.objects.select_related("project").in_bulk(
        {memory.source_run_fk_id for memory in memories} - {None}
    )
    incidents: list[Incident] = []
    seen: set[str] = set()
    for hit in found.hits:
        memory = hit.record if isinstance(hit.record, Memory) else None
        run = hit.record if memory is None else runs.get(memory.source_run_fk_id)
        if run is not None and (run.project_id != hit.record.project_id or not run.is_active):
            run = None
        if run is not None and run.project_id in reviewed_only and run.review_state != ReviewState.APPROVED:
            run = None
        name = run.node_id if run is not None else hit.record.node_id
        if name not in seen:
            seen.add(name)
            incidents.append(Incident(run, memory, hit.score, hit.cosine, hit.why))
    return incidents[:k], found.notes


@dataclass(frozen=True)
class ToolCall:
    """One tool call as its writer sent it (`value`), and what can be told from it."""

    name: str
    value: Any
    duration_ms: float | None = None
    failed: bool = False


def tool_calls_of(run: Run) -> list[ToolCall]:
    """The run's tool calls in order, whatever shape their writer gave them."""
    if run.tool_calls is None:
        return []
    calls = run.tool_calls if isinstance(run.tool_calls, list) else [run.tool_calls]
    return [_tool_call(call) for call in calls]


def _tool_call(value: Any) -> ToolCall:
    if not isinstance(value, dict):
        return ToolCall(str(value)[:NAME_LENGTH], value)
    function = value.get("function")
    names = (
        value.get("name"), value.get("tool"), value.get("tool_name"),
        function.get("name") if isinstance(function, dict) else function,
    )  # fmt: skip
    name = next((name for name in names if isinstance(name, str) and name.strip()), "")
    took = value.get("duration_ms")
    is_number = isinstance(took, int | float) and not isinstance(took, bool)
    return ToolCall(name[:NAME_LENGTH], value, took if is_number else None, bool(value.get("error")))
