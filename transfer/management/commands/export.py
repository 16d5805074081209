"""`manage.py export FILE --project SLUG`: one project as JSON lines, lossless."""

from __future__ import annotations

from pathlib import Path
from typing import Any

from django.core.management.base import BaseCommand, CommandError, CommandParser

from projects.commands import told_project
from transfer.exchange.lines import FileProblem
from transfer.exchange.writing import write_project
from transfer.importing.tables import require_tables


class Command(BaseCommand):
    help = (
        "Write a project into a file of JSON lines: its records with their whole history, outcomes, evidence, links,"
        " run memories with their vectors, and what agents read. import_jsonl brings it into any desk."
    )

    def add_arguments(self, parser: CommandParser) -> None:
        parser.add_argument("file", metavar="FILE")
        parser.add_argument("--project", metavar="SLUG", required=True)
        parser.add_argument("--without-reads", action="store_true", help="leave out what agents read")

    def handle(self, *args: Any, **options: Any) -> None:
        require_tables()
        project = told_project(options["project"])
        path = Path(options["file"])
        try:
            sums = write_project(project, path, reads=not options["without_reads"], say=self.stderr.write)
        except FileProblem as error:
            raise CommandError(str(error)) from error
        counts = ", ".join(f"{count:,} of type {kind}" for kind, count in sums.counts.items())
        self.stdout.write(f"{project.slug}: {counts or 'nothing'}, in {path}.")
