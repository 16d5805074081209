"""What the commands share that import a folder of documents into a project, again and again."""

from __future__ import annotations

import json
import sys
from collections.abc import Iterable
from pathlib import Path
from typing import Any

from django.core.management.base import BaseCommand, CommandError, CommandParser

from transfer.importing.searchable import make_searchable
from transfer.importing.tables import require_tables

LONGEST_SOURCE = 100


class ImportCommand(BaseCommand):
    """`documents` names what is imported, for the help."""

    documents = "documents"

    def add_arguments(self, parser: CommandParser) -> None:
        parser.add_argument("path", help="a folder, read with its sub-folders, or one file")
        parser.add_argument("--project", metavar="SLUG", required=True)
        parser.add_argument("--dry-run", action="store_true", help="report what would happen, write nothing")
        parser.add_argument(
            "--source",
            metavar="NAME",
            default="",
            help=f"where one project takes {self.documents} of several repositories: a name for each, always the same",
        )
        parser.add_argument("--report", choices=("text", "json"), default="text")
        parser.add_argument(
            "--no-wait",
            action="store_true",
            help="do not wait until the records are searchable (SQLite without a running desk)",
        )

    def checked_path(self, options: dict[str, Any]) -> Path:
        """Of a desk that has its tables. Raises CommandError."""
        path = Path(options["path"]).resolve()
        if not path.exists():
            raise CommandError(f"There is no {options['path']}.")
        if len(options["source"]) > LONGEST_SOURCE:
            raise CommandError(f"--source: at most {LONGEST_SOURCE} characters.")
        require_tables()
        return path

    def tell(self, options: dict[str, Any], report: Any, as_json: Any, lines: Iterable[str]) -> None:
        """Print the report, wait until what was written can be found, and end with 1 where a file failed."""
        if options["report"] == "json":
            self.stdout.write(json.dumps(as_json, ensure_ascii=False, indent=1))
        else:
            for line in lines:
                self.stdout.write(line)
        self.stdout.flush()
        if not options["dry_run"] and not options["no_wait"]:
            for line in make_searchable():
                self.stderr.write(line)
        if report.failed:
            sys.exit(1)
