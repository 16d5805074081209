"""`manage.py import_postmortems`: incident reports of a folder into a project, again and again."""

from __future__ import annotations

from typing import Any

from django.core.management.base import CommandError, CommandParser

from projects.commands import told_project
from transfer.importing.command import ImportCommand
from transfer.importing.importer import ImportRunning
from transfer.postmortems.importer import AGENT_NAME, Options, import_postmortems
from transfer.postmortems.report import as_json, as_text


class Command(ImportCommand):
    documents = "post-mortems"
    help = (
        "Import post-mortems (Markdown, ERB, YAML) of a folder or of one file: each becomes a run with its memory, a "
        "pitfall, and an outcome of every decision that it names. Run it again after changes: what changed there is "
        "updated, nothing is doubled, and what people edited here is never overwritten."
    )

    def add_arguments(self, parser: CommandParser) -> None:
        super().add_arguments(parser)
        parser.add_argument(
            "--agent",
            metavar="NAME",
            default=AGENT_NAME,
            help="whose runs the incidents become (default: %(default)s)",
        )

    def handle(self, *args: Any, **options: Any) -> None:
        path = self.checked_path(options)
        if not options["agent"].strip() or len(options["agent"]) > 255:
            raise CommandError("--agent: 1 to 255 characters.")
        project = told_project(options["project"])
        chosen = Options(options["source"], options["agent"], options["dry_run"])
        try:
            report = import_postmortems(path, project, chosen)
        except ImportRunning as error:
            raise CommandError(str(error)) from error
        self.tell(options, report, as_json(report), as_text(report))
