"""An adoption from beginning to end: tables, runs, the graph; counts before and after."""

from __future__ import annotations

import hashlib
import time
from collections.abc import Callable, Mapping
from dataclasses import dataclass, field
from pathlib import Path

from django.conf import settings
from django.db import connection

from graph.address import parse_graph_url
from records import leases
from records.arrivals import greatest_key
from records.leases import LeaseBusy
from records.models import Link
from transfer.adopt.cells import Problem
from transfer.adopt.graph import GraphSource
from transfer.adopt.keys import NewKeys
from transfer.adopt.kinds import MEMORIES, OF_TABLES, OUTCOMES, RUNS, Plan
from transfer.adopt.projects import Projects
from transfer.adopt.relations import LINKS, adopt_outcomes, adopt_relations
from transfer.adopt.report import Line, Report
from transfer.adopt.run_lines import adopt_runs
from transfer.adopt.source import WHOLE, Source, SourceProblem, Table, row_keys
from transfer.adopt.writer import Item, Writer

LEASE, LEASE_SECONDS = "adopt", 20.0  # prolonged with every batch; a killed run is waited for so long


@dataclass(frozen=True)
class Options:
    """`name` says which source this is, where its address is another one than before; `runs_model` names vectors."""

    mysql: str
    neo4j: str = ""
    runs: Path | None = None
    mapped: Mapping[str, str] = field(default_factory=dict)
    zone: str | None = None
    name: str = ""
    runs_model: str | None = None


def adopt(
    options: Options,
    *,
    say_problem: Callable[[Problem], None] = lambda problem: None,
    progress: Callable[[str, int, int], None] = lambda what, done, total: None,
) -> Report:
    """Bring all of it into this desk. May be stopped and run again; what is here already is not brought twice."""
    source = graph = None
    try:
        with leases.held(LEASE, seconds=LEASE_SECONDS, wait=LEASE_SECONDS + 5) as holder:
            source = Source(options.mysql)
            _refuse_our_own(source)
            graph = GraphSource(options.neo4j) if options.neo4j else None
            if graph is not None:
                _refuse_our_graph(graph)
            return _Adoption(options, source, graph, Report(say_problem), progress, holder).run()
    except LeaseBusy as error:
        raise SourceProblem("Another adoption is at work.") from error
    finally:
        for opened in (source, graph):
            if opened is not None:
                opened.close()


def _refuse_our_own(source: Source) -> None:
    """The desk's tables have the names of the source's: both in one database cannot be."""
    if connection.vendor != "mysql":
        return
    with connection.cursor() as cursor:
        cursor.execute("SELECT @@hostname, @@port, DATABASE()")
        ours = tuple(str(value) for value in cursor.fetchone())
    if ours == source.who():
        raise SourceProblem(
            f"{source.name} is the desk's own database. Make an empty one beside it (CREATE DATABASE …; the same server"
            " will do), name that in DATABASE_URL, run `manage.py migrate`, then adopt from the old one."
        )


def _refuse_our_graph(graph: GraphSource) -> None:
    ours = parse_graph_url(settings.GRAPH_URL)
    if ours is not None and _place(ours.uri, ours.database) == _place(
        graph.address.uri, graph.address.database
    ):
        raise SourceProblem(
            "--neo4j is the graph of this desk (GRAPH_URL), into which its worker writes; a source is never written."
            " Give the desk another Neo4j or another database of it."
        )


def _place(uri: str, database: str | None) -> tuple[str, str]:
    return uri.rpartition("//")[2].replace("localhost", "127.0.0.1"), database or "neo4j"


class _Adoption:
    def __init__(
        self, options: Options, source: Source, graph: GraphSource | None, report: Report,
        progress: Callable[[str, int, int], None], holder: str,
    ) -> None:  # fmt: skip
        self.options, self.source, self.graph, self.report = options, source, graph, report
        self._progress = progress
        name = options.name or source.name
        origin = hashlib.sha256(f"adopt {name}".encode()).hexdigest()
        self.tables = source.tables()
        numbers = [source.greatest(table, "project_id") for table in self.tables.values()]
        self.projects = Projects(origin, options.mapped, max(numbers, default=0))
        self.writer = Writer(
            origin, self.projects, report, source.zone(options.zone), name, lambda: _keep(holder)
        )
        report.notes.append(f"Source: {name}; times without a zone are read as of {self.writer.zone}.")

    def run(self) -> Report:
        began = time.monotonic()
        for plan in OF_TABLES:
            if plan.table not in self.tables:
                self.report.notes.append(f"{plan.table}: there is no such table in the source.")
                continue
            self._table(plan, self.tables[plan.table])
        if self.options.runs is not None:
            self._counted(RUNS, MEMORIES)
            adopt_runs(self.options.runs, self.writer, self.options.runs_model)
        if self.graph is not None:
            self._graph(self.graph)
        self._count_after()
        if self.projects.made:
            self.report.notes.append(f"Projects made: {', '.join(self.projects.made)}.")
        self.report.seconds = time.monotonic() - began
        return self.report

    def _table(self, plan: Plan, table: Table) -> None:
        line = self._counted(plan)[0]
        line.there = self.source.count(table)
        if table.columns.get("id") not in WHOLE:
            line.left_out = line.there
            reason = "left out: the table has no such column of whole numbers"
            self.report.tell([Problem(plan.table, "", "id", reason)])
            return
        for name in table.columns.keys() - set(plan.reads):
            self.report.notes.append(
                f"{plan.table}: the column {name} has no place here and is left where it is."
            )
        new_key = NewKeys(self.source.greatest(table), greatest_key(plan.kind))
        seen = 0
        for rows in self.source.batches(table, plan.reads):
            items = [Item(key, row, _own_key(key)) for key, row in zip(row_keys(rows), rows, strict=True)]
            self.writer.write(plan, items, new_key, table.columns)
            seen += len(rows)
            self._progress(plan.table, seen, line.there)
        if line.there > seen:
            line.left_out += line.there - seen
            reason = f"{line.there - seen} rows have no id: left out, since nothing tells them apart"
            self.report.tell([Problem(plan.table, "", "id", reason)])

    def _graph(self, graph: GraphSource) -> None:
        line = self._counted(OUTCOMES)[0]
        links = self.report.line(LINKS)
        links.before = Link.objects.count()
        links.there, line.there = graph.counts()
        adopt_outcomes(graph, self.writer)
        adopt_relations(graph, self.writer)

    def _counted(self, *plans: Plan) -> list[Line]:
        lines = []
        for plan in plans:
            line = self.report.line(plan.table)
            line.before = plan.kind.model.objects.count()
            lines.append(line)
        return lines

    def _count_after(self) -> None:
        for plan in (*OF_TABLES, RUNS, MEMORIES, OUTCOMES):
            if plan.table in self.report.lines:
                self.report.line(plan.table).after = plan.kind.model.objects.count()
        if LINKS in self.report.lines:
            self.report.line(LINKS).after = Link.objects.count()


def _keep(holder: str) -> None:
    if not leases.take(LEASE, holder, LEASE_SECONDS):
        raise SourceProblem("Another adoption took over, since this one stood still for too long.")


def _own_key(key: str) -> int | None:
    """The row's id, where a record of ours can have it."""
    return int(key) if key.isdecimal() and 0 < int(key) < 2**31 else None
