"""`manage.py doctor`: is this desk set up and at work as it should be? Each failure says its fix; exit code 1: there is one."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

from django.core.management.base import BaseCommand, CommandError, CommandParser
from django.db import DatabaseError, connection
from django.db.models import Q
from django.utils import timezone

from database.schema import OtherSchema, check_schema
from desk.health import counts, database, projection
from desk.health.findings import Finding, Level
from records import attention, leases
from runs.recounting import faults as run_faults

MARKS = {Level.OK: "ok  ", Level.WARN: "WARN", Level.BAD: "FAIL"}


class Command(BaseCommand):
    help = "Look at database, graph, encoder, workers, queue, orphans and disk; say what to do about what is not well."
    requires_system_checks: list[str] = []

    def add_arguments(self, parser: CommandParser) -> None:
        parser.add_argument(
            "--only", metavar="AREA", choices=[*AREAS, *ON_REQUEST], action="append",
            help=f"{', '.join([*AREAS, *ON_REQUEST])}; may be given several times",
        )  # fmt: skip
        parser.add_argument("--quiet", action="store_true", help="say only what is not well")

    def handle(self, *args: Any, **options: Any) -> None:
        wanted = options["only"] or list(AREAS)
        found: list[Finding] = []
        try:
            for area, look in {**AREAS, **ON_REQUEST}.items():
                can = area not in READS_TABLES or not _is_bad(found, "schema")
                if area in wanted and can:
                    found += self._say(look(), options["quiet"])
        except DatabaseError as error:
            place = connection.settings_dict["NAME"]
            gone = Finding(
                Level.BAD, "database", f"{place}: {error}",
                "Start the database server, or mend DATABASE_URL: host, port, account and its rights on that database.",
            )  # fmt: skip
            found += self._say([gone], options["quiet"])
        bad = sum(one.level == Level.BAD for one in found)
        warned = sum(one.level == Level.WARN for one in found)
        if bad:
            raise CommandError(f"{bad} to be mended, {warned} to be looked at.")
        if not options["quiet"]:
            self.stdout.write(f"{warned} to be looked at." if warned else "All is well.")

    def _say(self, found: list[Finding], quiet: bool) -> list[Finding]:
        for one in found:
            if quiet and one.level == Level.OK:
                continue
            self.stdout.write(f"{MARKS[one.level]} {one.area}: {one.text}")
            if one.fix:
                self.stdout.write(f"     -> {one.fix}")
        self.stdout.flush()
        return found


def _is_bad(found: list[Finding], area: str) -> bool:
    return any(one.area == area and one.level == Level.BAD for one in found)


def _schema() -> list[Finding]:
    try:
        check_schema()
    except OtherSchema as error:
        return [Finding(Level.BAD, "schema", str(error))]
    return [Finding(Level.OK, "schema", "the tables are those of this version")]


def _database() -> list[Finding]:
    server = database.server()
    size = Finding(Level.OK, "size", f"{server.bytes / 1024**2:,.0f} MiB, {server.place}")
    return [*database.check_database(), size]


def _graph() -> list[Finding]:
    return projection.check_graph(projection.graph_server())


def _queue() -> list[Finding]:
    now = timezone.now()
    return [*projection.check_queue(now, projection.graph_server()), *projection.check_given_up(Q())]


def _worker() -> list[Finding]:
    return projection.check_workers(timezone.now())


def _orphans() -> list[Finding]:
    orphans = {table: count for table, count in counts.count_orphans().items() if count}
    old = counts.count_old_vectors()
    found = [
        Finding(Level.WARN, "orphans", f"{table}: {count} rows name a record that is not there",
                "A running worker takes traces of deleted records away; what stays after that was written by plain SQL.")
        for table, count in orphans.items()
    ]  # fmt: skip
    found += [
        Finding(Level.WARN, "old vectors", f"{count} of {model}, never compared", "manage.py embed --forget-other-models")
        for model, count in old.items()
    ]  # fmt: skip
    return found or [
        Finding(Level.OK, "orphans", "every reference leads to a record, every vector is of the model")
    ]


def _attention() -> list[Finding]:
    faults = attention.faults()
    told = ", ".join(f"{count:,} {what}" for what, count in faults.items() if count)
    if not told:
        return [Finding(Level.OK, "attention", "the inbox knows of every record")]
    return [
        Finding(
            Level.WARN, "attention", f"the inbox is wrong about some: {told}", "manage.py refresh_attention"
        )
    ]


def _runs() -> list[Finding]:
    told = ", ".join(f"{count:,} {what}" for what, count in run_faults().items() if count)
    if not told:
        return [Finding(Level.OK, "runs", "figures and sums of the charts are those of the runs")]
    return [Finding(Level.WARN, "runs", f"the charts of runs count wrong: {told}", "manage.py recount_runs")]


def _heartbeat() -> list[Finding]:
    """For a supervisor of the worker: the one of this machine lives, whatever hinders it."""
    here = [worker for worker in projection.workers() if worker.alive and worker.host == leases.host()]
    if here:
        return [Finding(Level.OK, "heartbeat", ", ".join(worker.holder for worker in here))]
    return [Finding(Level.BAD, "heartbeat", f"no worker of {leases.host()} lives", "manage.py run_worker")]


AREAS: dict[str, Callable[[], list[Finding]]] = {
    "schema": _schema,
    "database": _database,
    "graph": _graph,
    "encoder": projection.check_encoder_loads,
    "worker": _worker,
    "queue": _queue,
    "orphans": _orphans,
    "attention": _attention,
    "runs": _runs,
    "disk": lambda: database.check_disk(),
}
READS_TABLES = {"graph", "worker", "queue", "orphans", "attention", "runs", "heartbeat"}
ON_REQUEST = {"heartbeat": _heartbeat}
