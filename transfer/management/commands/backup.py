"""`manage.py backup DIR`: the whole database, as at one moment, with checksums."""

from __future__ import annotations

from pathlib import Path
from typing import Any

from django.core.management.base import BaseCommand, CommandError, CommandParser
from django.db import DatabaseError

from transfer.backup.problem import BackupProblem
from transfer.backup.writing import back_up


class Command(BaseCommand):
    help = (
        "Back up the whole database into a new folder, while the desk goes on: by SQLite's online backup, or by the"
        " server's own dump tool (mysqldump or mariadb-dump; MYSQLDUMP or MARIADB_DUMP names another)."
    )
    requires_system_checks: list[str] = []

    def add_arguments(self, parser: CommandParser) -> None:
        parser.add_argument("folder", metavar="DIR", help="is made; must not be there yet")

    def handle(self, *args: Any, **options: Any) -> None:
        folder = Path(options["folder"]).resolve()
        try:
            manifest = back_up(folder, self.stderr.write if options["verbosity"] > 1 else lambda line: None)
        except BackupProblem as error:
            raise CommandError(str(error)) from error
        except DatabaseError as error:
            raise CommandError(f"The database cannot be read: {error}") from error
        self.stdout.write(
            f"{manifest.rows:,} rows of {len(manifest.tables)} tables, {manifest.bytes:,} bytes, in {folder}."
        )
        self.stdout.write(
            "Not in it: the secrets (SECRET_KEY, TOKEN_PEPPER) and the graph, which is rebuilt."
        )
