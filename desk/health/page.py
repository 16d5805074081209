"""View-models of the health page: all that an operator sees, or what concerns an admin's own projects."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, field
from datetime import datetime
from functools import cached_property
from typing import Any

from django.conf import settings
from django.db.models import Q
from django.utils import timezone

from desk.health import counts, database, projection
from desk.health.findings import Finding, Level
from graph.queries import graph_lag
from projects.access import Access, Capability
from projects.models import Project
from records.kinds import all_kinds, kind_named
from records.models import ProjectionMark
from records.pages.rows import record_url, title_of
from records.queries import records_by_node_id
from records.retention import policies

WHATS = ("missing", "outdated", "orphans")
NAMED = 10


@dataclass(frozen=True)
class GivenUp:
    node_id: str
    kind: str
    title: str
    url: str
    project: str
    error: str
    attempts: int
    since: datetime


@dataclass(frozen=True)
class DriftRow:
    """Of one kind. `records` and `nodes` are of the whole desk, so None for whoever sees a part of it."""

    label: str
    kind: str
    records: int | None
    nodes: int | None
    without_vector: int | None
    missing: int
    outdated: int
    orphans: int
    named: Sequence[str]

    @property
    def differs(self) -> int:
        return self.missing + self.outdated + self.orphans


@dataclass(frozen=True)
class Counted:
    """What was counted last; every number of it is of that moment."""

    at: datetime
    seconds: float
    asked_by: str
    graph_problem: str
    drift: Sequence[DriftRow] | None  # None: there is no second store to compare, or it did not answer
    relations: Sequence[tuple[str, int, int]]
    waited: int
    orphans: Sequence[tuple[str, int]]
    old_vectors: Sequence[tuple[str, int]]
    rows: Sequence[tuple[str, int]]

    @property
    def differing(self) -> int:
        return sum(row.differs for row in self.drift or ())

    @property
    def unequal_relations(self) -> bool:
        return any(one != other for _name, one, other in self.relations)


@dataclass
class Health:
    """`health` in templates. Each property is asked for once; nothing here reads a table whole."""

    access: Access
    now: datetime = field(default_factory=timezone.now)

    @property
    def sees_all(self) -> bool:
        return self.access.everywhere

    @cached_property
    def project_ids(self) -> list[int] | None:
        """None: all."""
        return None if self.sees_all else self.access.project_ids(Capability.MANAGE)

    @cached_property
    def projects(self) -> dict[int, Project]:
        rows = Project.objects.all()
        return rows.in_bulk() if self.project_ids is None else rows.in_bulk(self.project_ids)

    @cached_property
    def within(self) -> Q:
        return Q() if self.project_ids is None else Q(project_id__in=self.project_ids)

    @cached_property
    def findings(self) -> list[Finding]:
        """What is not well, worst first."""
        found = [
            *projection.check_workers(self.now),
            *projection.check_queue(self.now, self.graph),
            *projection.check_given_up(self.within),
        ]
        if self.sees_all:
            found += [*projection.check_graph(self.graph), *database.check_database(), *database.check_disk()]
        wrong = [finding for finding in found if finding.level != Level.OK]
        return sorted(wrong, key=lambda finding: finding.level != Level.BAD)

    @cached_property
    def database(self) -> database.Server | None:
        return database.server() if self.sees_all else None

    @cached_property
    def database_facts(self) -> list[Finding]:
        return database.check_database()[1:] if self.sees_all else []  # the first names the server

    @cached_property
    def graph(self) -> projection.GraphServer | None:
        return projection.graph_server()

    @cached_property
    def lag(self) -> Any:
        return graph_lag()

    @cached_property
    def queue(self) -> projection.Queue:
        return projection.queue()

    @cached_property
    def workers(self) -> list[projection.WorkerBeat]:
        return projection.workers()

    @cached_property
    def rounds(self) -> projection.Rounds:
        return projection.rounds()

    @property
    def policies(self) -> list[tuple[str, int]]:
        return list(policies().items())

    @property
    def encoder(self) -> str:
        return str(settings.ENCODER)

    @cached_property
    def encoder_lacks(self) -> str:
        return projection.encoder_lacks()

    @cached_property
    def given_up_count(self) -> int:
        return ProjectionMark.objects.filter(self.within, dead=True).count()

    @cached_property
    def given_up(self) -> list[GivenUp]:
        """The first of those that nobody tries any more."""
        found = list(ProjectionMark.objects.filter(self.within, dead=True).order_by("pk")[: projection.SHOWN])
        records = records_by_node_id({mark.node_id for mark in found}, self.project_ids)
        return [self._given_up(mark, records.get(mark.node_id)) for mark in found]

    def _given_up(self, mark: ProjectionMark, record: Any) -> GivenUp:
        project = self.projects.get(mark.project_id) if mark.project_id else None
        return GivenUp(
            node_id=mark.node_id,
            kind=mark.kind,
            title=title_of(record) if record is not None else "",
            url=record_url(record) if record is not None and record.project_id else "",
            project=project.name if project else "",
            error=mark.error or "",
            attempts=mark.attempts,
            since=mark.wanted_at,
        )

    @cached_property
    def is_counting(self) -> bool:
        return counts.is_counting()

    @cached_property
    def counted(self) -> Counted | None:
        state = counts.last_count()
        at = projection.moment(state.get("counted_at"))
        if at is None:
            return None
        graph = state.get("graph") or {}
        known = {kind.name for kind in all_kinds()}
        return Counted(
            at=at,
            seconds=state["seconds"],
            asked_by=state.get("asked_by", ""),
            graph_problem=graph.get("problem", "") if self.sees_all else "",
            drift=[self._drift_row(kind) for kind in graph["kinds"] if kind["name"] in known]
            if "kinds" in graph
            else None,
            relations=[(name, *pair) for name, pair in graph.get("relations", {}).items()]
            if self.sees_all
            else [],
            waited=graph.get("waiting", 0),
            orphans=[(table, count) for table, count in state["orphans"].items() if count],
            old_vectors=list(state["old_vectors"].items()),
            rows=sorted(state["rows"].items(), key=lambda pair: -pair[1]),
        )

    def _drift_row(self, kind: dict[str, Any]) -> DriftRow:
        whole = self.sees_all
        named = [node_id for what in WHATS for node_id in kind["named"].get(what, [])]
        missing, outdated, orphans = (counts.in_projects(kind[what], self.project_ids) for what in WHATS)
        return DriftRow(
            label=str(kind_named(kind["name"]).label_plural),
            kind=kind["name"],
            records=kind["records"] if whole else None,
            nodes=kind["nodes"] if whole else None,
            without_vector=kind["without_vector"] if whole else None,
            missing=missing,
            outdated=outdated,
            orphans=orphans,
            named=named[:NAMED] if whole else (),
        )
