"""`manage.py import_jsonl FILE`: a project that `export` wrote, into this desk."""

from __future__ import annotations

import time
from pathlib import Path
from typing import Any

from django.core.management.base import BaseCommand, CommandError, CommandParser
from django.db import DatabaseError

from transfer.exchange.lines import FileProblem
from transfer.exchange.reading import import_file
from transfer.importing.searchable import make_searchable
from transfer.importing.tables import require_tables

PROGRESS_SECONDS = 2.0
RENAMED_SHOWN = 20


class Command(BaseCommand):
    help = (
        "Bring a project that `export` wrote into this desk. Every line is checked before any is written; ids are kept"
        " where they are free. May be stopped and run again: nothing is doubled."
    )

    def add_arguments(self, parser: CommandParser) -> None:
        parser.add_argument("file", metavar="FILE")
        parser.add_argument(
            "--project", metavar="SLUG", default="", help="into this project, made where it is missing"
        )
        parser.add_argument(
            "--no-wait", action="store_true", help="do not wait until the records are searchable (SQLite)"
        )

    def handle(self, *args: Any, **options: Any) -> None:
        require_tables()
        self._said_at = time.monotonic()
        try:
            report = import_file(Path(options["file"]), options["project"], self._say_progress)
        except FileProblem as error:
            raise CommandError(str(error)) from error
        except DatabaseError as error:
            raise CommandError(
                f"The database refused: {error}. What was brought stays; run it again."
            ) from error
        self.stdout.write(f"{'':12}{'in the file':>12}{'brought':>12}{'already':>12}")
        for kind, count in report.there.items():
            self.stdout.write(f"{kind:12}{count:12,}{report.brought[kind]:12,}{report.already[kind]:12,}")
        for line in report.notes:
            self.stdout.write(line)
        for old, new in report.renamed[:RENAMED_SHOWN]:
            self.stdout.write(f"{old} is taken here: it is {new}.")
        if len(report.renamed) > RENAMED_SHOWN:
            self.stdout.write(f"… and {len(report.renamed) - RENAMED_SHOWN:,} more have another id here.")
        if report.verified:
            self.stdout.write("Checksums of the project here are those of the file.")
        self.stdout.flush()
        if report.verified is False:
            raise CommandError("The project here is not what the file says.")
        if not options["no_wait"]:
            for line in make_searchable():
                self.stderr.write(line)

    def _say_progress(self, done: int, total: int) -> None:
        if time.monotonic() - self._said_at >= PROGRESS_SECONDS:
            self._said_at = time.monotonic()
            self.stderr.write(f"line {done:,} of {total:,}")
            self.stderr.flush()
