"""The rows that a context pack is made of. Each answers for all of its records in one statement."""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Collection, Iterable
from datetime import UTC, date, datetime, time, timedelta
from typing import Any, NamedTuple

from django.db.models import Count, F, Window
from django.db.models.functions import RowNumber
from django.utils import timezone

from decisions.models import Decision, Outcome
from patterns.models import Pattern
from pitfalls.models import Pitfall
from projects.models import Project
from records.kinds import Kind, kind_named
from records.models import Link, Read, Relation, ReviewState
from runs.models import Memory, Run
from work_sessions.models import WorkSession

RECENT_DAYS = 30
OUTCOMES_SHOWN = 3
CATEGORIES_MOST = 500
TELLING = (Relation.SUPERSEDES, Relation.CONTRADICTS, Relation.DUPLICATE_OF)


def active_records(project: Project, kind: Kind, keys: Collection[Any]) -> list[Any]:
    """The active ones of these, without the long columns that no pack shows."""
    if not keys:
        return []
    rows = kind.model.objects.active().filter(project_id=project.pk, pk__in=keys).defer(*kind.unpacked)  # type: ignore[attr-defined]
    return in_project(project, rows)


def in_project(project: Project, records: Iterable[Any]) -> list[Any]:
    """The records, their project at hand."""
    found = list(records)
    for record in found:
        record.project = project
    return found


def recent_decisions(project: Project, as_of: date, limit: int) -> list[Decision]:
    """Decided in the 30 days before the end of the day, newest first."""
    end = datetime.combine(as_of + timedelta(days=1), time.min, tzinfo=UTC)
    rows = Decision.objects.active().filter(
        project_id=project.pk, decided_at__gte=end - timedelta(days=RECENT_DAYS + 1), decided_at__lt=end
    )
    unpacked = kind_named("decision").unpacked
    return in_project(project, rows.defer(*unpacked).order_by("-sort_at", "-id")[:limit])


def categories(project: Project) -> list[str]:
    """Every category of the project's pitfalls and patterns, each once."""
    pitfalls = Pitfall.objects.filter(project_id=project.pk).order_by().values_list("category").distinct()
    patterns = Pattern.objects.filter(project_id=project.pk).order_by().values_list("category").distinct()
    return [name for (name,) in pitfalls.union(patterns)[:CATEGORIES_MOST]]


def newest_outcomes(
    project: Project, decision_ids: Collection[int], *, reviewed_only: bool = False
) -> dict[int, list[Outcome]]:
    """By decision its newest active outcomes, one more than are shown."""
    if not decision_ids:
        return {}
    place = Window(
        RowNumber(), partition_by=F("decision_id"), order_by=[F("occurred_at").desc(), F("id").desc()]
    )
    states = {"review_state": ReviewState.APPROVED} if reviewed_only else {}
    rows = (
        Outcome.objects.active()
        .filter(project_id=project.pk, decision_id__in=decision_ids, **states)
        .annotate(place=place)
        .filter(place__lte=OUTCOMES_SHOWN + 1)
        .order_by("decision_id", "place")
    )
    found: dict[int, list[Outcome]] = defaultdict(list)
    for outcome in in_project(project, rows):
        found[outcome.decision_id].append(outcome)
    return found


class Said(NamedTuple):
    """An explicit relation, without its note."""

    id: int
    relation: str
    source: str
    target: str


def telling_links(project: Project, node_ids: Collection[str]) -> list[Said]:
    """What supersedes, contradicts or duplicates these records or is so by them, in the order it was said."""
    ids = list(node_ids)
    if not ids:
        return []
    links = Link.objects.filter(project_id=project.pk, relation__in=TELLING).order_by()
    rows = links.values_list("id", "relation", "source", "target")
    both = rows.filter(source__in=ids).union(rows.filter(target__in=ids))
    return sorted(Said(*row) for row in both)


def memories_of_runs(project: Project, run_ids: Collection[str]) -> dict[str, Memory]:
    """By run its newest active summary."""
    if not run_ids:
        return {}
    rows = Memory.objects.active().filter(project_id=project.pk, source_run_fk__in=run_ids).defer("embedding")
    memories = in_project(project, rows.order_by("created_at", "id"))
    return {memory.source_run_fk_id: memory for memory in memories}


def runs_named(project: Project, run_ids: Collection[str]) -> dict[str, Run]:
    """The active runs of these ids."""
    return {run.pk: run for run in active_records(project, kind_named("run"), run_ids)}


def served_this_week(node_ids: Collection[str]) -> dict[str, int]:
    """How often each of the records was told to agents in the last seven days, by any door; once at least."""
    since = timezone.now() - timedelta(days=7)
    rows = (
        Read.objects.filter(node_id__in=list(node_ids), read_at__gte=since).order_by().values_list("node_id")
    )
    return dict(rows.annotate(times=Count("id")))


def session_named(project: Project, session_id: str) -> WorkSession | None:
    """The active session by the agent's own name for it."""
    found = in_project(
        project, WorkSession.objects.active().filter(project_id=project.pk, session_id=session_id)
    )
    return found[0] if found else None
