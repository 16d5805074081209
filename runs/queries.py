"""Every read of runs and run memories."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

from django.utils import timezone

from runs.kind import MEMORY, RUN
from runs.models import CacheEntry, Memory, Run


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


def memories_told_with(records: Sequence[Any]) -> list[Memory]:
    """All summaries of those of the records that are runs, hidden ones too: what is erased with a run."""
    runs = [record for record in records if isinstance(record, Run)]
    if not runs:
        return []
    rows = Memory.objects.select_related("project").filter(source_run_fk__in=runs).order_by("pk")
    return [memory for memory in rows if memory.project_id in {run.project_id for run in runs}]


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
