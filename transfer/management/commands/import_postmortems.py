"""`manage.py import_postmortems`: incident reports of a folder into a project, again and again."""

from __future__ import annotations

import json
import sys
from pathlib import Path
from typing import Any

from django.core.management.base import BaseCommand, CommandError, CommandParser

from projects.models import Project
from transfer.importing.importer import ImportRunning
from transfer.importing.searchable import make_searchable
from transfer.importing.tables import require_tables
from transfer.postmortems.importer import AGENT_NAME, Options, import_postmortems
from transfer.postmortems.report import as_json, as_text


class Command(BaseCommand):
    help = (
        "Import post-mortems (Markdown, ERB, YAML) of a folder or of one file: each becomes a run with its memory, a "
        "pitfall, and an outcome of every decision that it names. Run it again after changes: what changed there is "
        "updated, nothing is doubled, and what people edited here is never overwritten."
    )

    def add_arguments(self, parser: CommandParser) -> None:
        parser.add_argument("path", help="a folder, read with its sub-folders, or one file")
        parser.add_argument("--project", metavar="SLUG", required=True)
        parser.add_argument("--dry-run", action="store_true", help="report what would happen, write nothing")
        parser.add_argument(
            "--agent",
            metavar="NAME",
            default=AGENT_NAME,
            help="whose runs the incidents become (default: %(default)s)",
        )
        parser.add_argument(
            "--source",
            metavar="NAME",
            default="",
            help="where one project takes post-mortems of several repositories: a name for each, always the same",
        )
        parser.add_argument("--report", choices=("text", "json"), default="text")
        parser.add_argument(
            "--no-wait",
            action="store_true",
            help="do not wait until the records are searchable (SQLite without a running desk)",
        )

    def handle(self, *args: Any, **options: Any) -> None:
        path = Path(options["path"]).resolve()
        if not path.exists():
            raise CommandError(f"There is no {options['path']}.")
        if not options["agent"].strip() or len(options["agent"]) > 255:
            raise CommandError("--agent: 1 to 255 characters.")
        require_tables()
        project = Project.objects.filter(slug=options["project"]).first()
        if project is None:
            known = ", ".join(Project.objects.values_list("slug", flat=True)[:20])
            raise CommandError(
                f"There is no project {options['project']!r}. There is: {known or 'none yet'}."
            )
        chosen = Options(options["source"], options["agent"], options["dry_run"])
        try:
            report = import_postmortems(path, project, chosen)
        except ImportRunning as error:
            raise CommandError(str(error)) from error
        if options["report"] == "json":
            self.stdout.write(json.dumps(as_json(report), ensure_ascii=False, indent=1))
        else:
            for line in as_text(report):
                self.stdout.write(line)
        self.stdout.flush()
        if not options["dry_run"] and not options["no_wait"]:
            for line in make_searchable():
                self.stderr.write(line)
        if report.failed:
            sys.exit(1)
