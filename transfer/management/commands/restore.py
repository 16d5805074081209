"""`manage.py restore DIR`: a backup into this desk's database."""

from __future__ import annotations

from pathlib import Path
from typing import Any

from django.conf import settings
from django.core.management.base import BaseCommand, CommandError, CommandParser
from django.db import DatabaseError

from transfer.backup.problem import BackupProblem
from transfer.backup.restoring import restore


class Command(BaseCommand):
    help = (
        "Restore a backup of the same sort of database and of this version or an older one. Stop the desk and its"
        " workers first. Every checksum is compared."
    )
    requires_system_checks: list[str] = []

    def add_arguments(self, parser: CommandParser) -> None:
        parser.add_argument("folder", metavar="DIR")
        parser.add_argument("--replace", action="store_true", help="throw away what the database holds now")

    def handle(self, *args: Any, **options: Any) -> None:
        folder = Path(options["folder"]).resolve()
        try:
            manifest = restore(
                folder, replace=options["replace"],
                say=self.stderr.write if options["verbosity"] > 1 else lambda line: None,
            )  # fmt: skip
        except BackupProblem as error:
            raise CommandError(str(error)) from error
        except DatabaseError as error:
            raise CommandError(f"The database refused: {error}") from error
        self.stdout.write(
            f"Restored {manifest.rows:,} rows of {len(manifest.tables)} tables, made by version {manifest.program} on"
            f" {manifest.made_at[:19]} UTC; every checksum is equal."
        )
        if settings.GRAPH_URL:
            self.stdout.write(
                "The graph may show what is not in the backup: run `manage.py rebuild_graph` now."
            )
        else:
            self.stdout.write("Every record is marked to be shown in the graph anew, should there be one.")
