"""`manage.py adopt`: a memory that lives in plain MySQL tables, with the Neo4j beside it, into this desk."""

from __future__ import annotations

import os
import sys
import time
from pathlib import Path
from typing import Any

from django.core.management.base import BaseCommand, CommandError, CommandParser
from django.db import OperationalError

from transfer.adopt.adoption import Options, adopt
from transfer.adopt.cells import Problem
from transfer.adopt.projects import MapProblem
from transfer.adopt.source import SourceProblem
from transfer.importing.searchable import make_searchable
from transfer.importing.tables import require_tables

PROGRESS_SECONDS = 2.0


class Command(BaseCommand):
    help = (
        "Adopt what agents keep in plain MySQL tables (architecture_decisions, code_patterns, work_sessions, pitfalls)"
        " and the Neo4j beside them. The source is only read. May be stopped and run again: nothing is doubled."
    )

    def add_arguments(self, parser: CommandParser) -> None:
        parser.add_argument(
            "--mysql", metavar="URL", help="mysql://user:password@host:3306/name (or set ADOPT_MYSQL_URL)"
        )
        parser.add_argument(
            "--neo4j", metavar="URL", help="bolt://user:password@host:7687 (or set ADOPT_NEO4J_URL)"
        )
        parser.add_argument(
            "--map",
            metavar="ID=SLUG",
            action="append",
            default=[],
            help="rows of this project_id go into this project, made where it is missing; none=SLUG for rows without one",
        )
        parser.add_argument("--runs", metavar="FILE", help="agent_runs and agent_memory as JSON lines")
        parser.add_argument(
            "--runs-model", metavar="NAME", help="the model of the vectors in FILE, where its lines name none"
        )
        parser.add_argument(
            "--time-zone", metavar="ZONE", help="in which DATETIMEs were written (default: the server's own)"
        )
        parser.add_argument(
            "--source",
            metavar="NAME",
            default="",
            help="what the source is known by (default: host:port/database)",
        )
        parser.add_argument(
            "--no-wait", action="store_true", help="do not wait until the records are searchable (SQLite)"
        )

    def handle(self, *args: Any, **options: Any) -> None:
        require_tables()
        mysql = options["mysql"] or os.environ.get("ADOPT_MYSQL_URL", "")
        if not mysql:
            raise CommandError("Say where the tables are: --mysql mysql://user:password@host:3306/name.")
        chosen = Options(
            mysql=mysql,
            neo4j=options["neo4j"] or os.environ.get("ADOPT_NEO4J_URL", ""),
            runs=Path(options["runs"]) if options["runs"] else None,
            mapped=_mapped(options["map"]),
            zone=options["time_zone"],
            name=options["source"],
            runs_model=options["runs_model"],
        )
        self._said_at = time.monotonic()
        try:
            report = adopt(chosen, say_problem=self._say_problem, progress=self._say_progress)
        except (SourceProblem, MapProblem) as error:
            raise CommandError(str(error)) from error
        except OperationalError as error:
            raise CommandError(
                f"The desk's database does not answer: {error}. Run the command again."
            ) from error
        for line in report.as_text():
            self.stdout.write(line)
        self.stdout.flush()
        if not options["no_wait"]:
            for line in make_searchable():
                self.stderr.write(line)
        if not report.is_complete:
            sys.exit(1)

    def _say_problem(self, problem: Problem) -> None:
        self.stdout.write(str(problem))

    def _say_progress(self, what: str, done: int, total: int) -> None:
        if time.monotonic() - self._said_at >= PROGRESS_SECONDS:
            self._said_at = time.monotonic()
            self.stderr.write(f"{what}: {done:,} of {total:,}")
            self.stderr.flush()


def _mapped(pairs: list[str]) -> dict[str, str]:
    mapped: dict[str, str] = {}
    for pair in pairs:
        key, equals, slug = pair.partition("=")
        key = key.strip()
        if not equals or not slug.strip() or not (key == "none" or key.lstrip("-").isdecimal()):
            raise CommandError(
                f"--map {pair}: write it like 1=shop (or none=shop, for rows that name no project)."
            )
        if mapped.setdefault(key, slug.strip()) != slug.strip():
            raise CommandError(f"--map names project_id {key} twice.")
    return mapped
