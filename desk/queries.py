"""Reads across kinds: what waits, what came in, what failed, what contradicts, what changed."""

from __future__ import annotations

from dataclasses import dataclass
from datetime import datetime, timedelta
from typing import Any

from django.db import connection
from django.db.models import F

from graph.queries import LAG_COLUMNS
from projects.models import Project
from records.kinds import Kind, all_kinds, kind_named
from records.leases import WORKER, Lease
from records.models import Link, ProjectionMark, Record, Relation, Revision
from records.queries import NEWEST_REVISION, records_by_node_id

# A decision that no longer holds contradicts nobody.
SETTLED = ("superseded", "deprecated", "rejected")
LINKS_LOOKED_AT = 50
LATE = timedelta(minutes=1)
MOST_NEW = 100


def newest_and_lag(project: Project) -> tuple[int, int, int]:
    """What the frame of each page asks, in one statement: the number of the project's newest history row (0 before
    there is one), how many marks wait and how many are dead. Raw: see newest_revision."""
    with connection.cursor() as cursor:
        cursor.execute(f"SELECT ({NEWEST_REVISION}), {LAG_COLUMNS}", [project.pk])
        newest, waiting, dead = cursor.fetchone()
    return newest or 0, waiting, dead


def why_nothing_moves(now: datetime) -> str | None:
    """Where the oldest record that waits for its vector is late: what its workers say hinders them, "" when no worker runs at all.

    None while all goes on. A worker that starts or works through a batch is given a minute.
    """
    due = ProjectionMark.objects.filter(
        dead=False, next_try_at__lt=now - LATE, embedded_version__lt=F("wanted_version")
    )
    if not due.exists():
        return None
    alive = Lease.objects.filter(name__startswith=WORKER, until__gt=now).values_list("state", flat=True)
    states = list(alive[:20])
    problems = [state.get("problem") for state in states]
    return next((str(problem) for problem in problems if problem), None) if states else ""


def newest_memories(project: Project, limit: int = 10) -> list[Record]:
    """The newest active records of all kinds together; one indexed query a kind."""
    found: list[tuple[datetime, Record]] = []
    for kind in all_kinds():
        found += [(getattr(record, kind.when), record) for record in _newest(kind, project, limit)]
    found.sort(key=lambda pair: pair[0], reverse=True)
    return [record for _when, record in found[:limit]]


def _newest(kind: Kind, project: Project, limit: int) -> list[Any]:
    rows = kind.model.objects.active().filter(project=project)  # type: ignore[attr-defined]
    return list(rows.select_related("project", *kind.select).order_by(f"-{kind.when}", "-pk")[:limit])


def newest_node(project: Project, kind_name: str) -> str | None:
    """The node id of the newest active record of a kind."""
    kind = kind_named(kind_name)
    rows = kind.model.objects.active().filter(project=project)  # type: ignore[attr-defined]
    key = rows.order_by(f"-{kind.when}", "-pk").values_list("pk", flat=True).first()
    return kind.node_id(key) if key is not None else None


def failed_runs(project: Project, limit: int = 5) -> list[Any]:
    kind = kind_named("run")
    rows = kind.model.objects.active().filter(project=project, status="failed")  # type: ignore[attr-defined]
    return list(rows.select_related("project").order_by("-started_at", "-pk")[:limit])


@dataclass(frozen=True)
class Contradiction:
    """Two active memories that cannot both hold."""

    one: Any
    other: Any
    note: str | None


def open_contradictions(project: Project, limit: int = 5) -> list[Contradiction]:
    """Of the newest CONTRADICTS links, those whose ends are both active and still hold."""
    links = list(
        Link.objects.filter(project=project, relation=Relation.CONTRADICTS).order_by("-pk")[:LINKS_LOOKED_AT]
    )
    ends = records_by_node_id({node for link in links for node in (link.source, link.target)}, [project.pk])
    found = []
    for link in links:
        pair = ends.get(link.source), ends.get(link.target)
        if all(record is not None and _holds(record) for record in pair):
            found.append(Contradiction(*pair, note=link.note))
    return found[:limit]


def _holds(record: Any) -> bool:
    return record.is_active and getattr(record, "status", None) not in SETTLED


def latest_changes(project: Project, limit: int = 8) -> tuple[list[Revision], dict[str, Any]]:
    """The newest acts in the project, and their records by node id."""
    acts = list(Revision.objects.filter(project=project).defer("after").order_by("-pk")[:limit])
    return acts, records_by_node_id({act.node_id for act in acts}, [project.pk], brief=True)


def new_since(project: Project, since: int, kind: str, reader: Any) -> int:
    """How many records others wrote after that row of the history, of a kind or of any; at most MOST_NEW + 1. One query."""
    rows = Revision.objects.filter(project=project, pk__gt=since, version=1)
    if kind in {known.name for known in all_kinds()}:
        rows = rows.filter(kind=kind)
    return rows.exclude(user=reader).order_by()[: MOST_NEW + 1].count()
