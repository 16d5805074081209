"""`manage.py import_adrs`: decision records of a repository into a project, again and again."""

from __future__ import annotations

import time
from typing import Any

from django.core.exceptions import ValidationError
from django.core.management.base import CommandError, CommandParser
from django.utils.text import slugify

from decisions.models import Status
from projects.access import Capability, access_of_user
from projects.actions import create_project
from projects.commands import no_project
from projects.manager import Manager
from projects.models import Project, User
from projects.names import project_named
from transfer.importing.command import ImportCommand
from transfer.importing.importer import ImportRunning, Options, import_folder
from transfer.importing.report import as_json, as_text

PROGRESS_SECONDS = 2.0


class Command(ImportCommand):
    documents = "records"
    help = (
        "Import the decision records (ADR, MADR, RFC) of a folder or of one file. Run it again after changes: what "
        "changed there is updated, nothing is doubled, and what people edited here is never overwritten."
    )

    def add_arguments(self, parser: CommandParser) -> None:
        super().add_arguments(parser)
        parser.add_argument(
            "--create-project", action="store_true", help="make the project where there is none of this name"
        )
        parser.add_argument(
            "--status-default",
            choices=Status.values,
            default=Status.PENDING,
            help="for records that write no status (default: pending)",
        )
        parser.add_argument(
            "--approved-by", metavar="USER", help="new records arrive approved, in the name of this person"
        )
        parser.add_argument(
            "--git-dates",
            action="store_true",
            help="records without a date get the day of their first commit",
        )
        parser.add_argument(
            "--all-references",
            action="store_true",
            help="name references in running text too that lead to no record",
        )

    def handle(self, *args: Any, **options: Any) -> None:
        path = self.checked_path(options)
        project = self._project(options)
        chosen = Options(
            status_default=options["status_default"],
            source=options["source"],
            git_dates=options["git_dates"],
            approved_by=_reviewer(options["approved_by"], project),
            dry_run=options["dry_run"],
        )
        self._said_at = time.monotonic()
        try:
            report = import_folder(path, project, chosen, self._say_progress)
        except ImportRunning as error:
            raise CommandError(str(error)) from error
        named = {"all_references": options["all_references"]}
        self.tell(options, report, as_json(report, **named), as_text(report, **named))

    def _project(self, options: dict[str, Any]) -> Project | None:
        slug = options["project"]
        found = project_named(slug)
        if found is not None:
            return found
        if not options["create_project"]:
            raise CommandError(f"{no_project(slug)} With --create-project it is made.")
        if slug != slugify(slug):
            raise CommandError(
                f"{slug!r}: a project's short name has lower-case letters, digits and hyphens."
            )
        if options["dry_run"]:
            return None
        try:
            return create_project(by=Manager.command("import_adrs"), name=slug, slug=slug)
        except ValidationError as error:
            raise CommandError(" ".join(error.messages)) from error

    def _say_progress(self, what: str, done: int, total: int) -> None:
        if time.monotonic() - self._said_at >= PROGRESS_SECONDS:
            self._said_at = time.monotonic()
            self.stderr.write(f"{what}: {done} of {total}")
            self.stderr.flush()


def _reviewer(name: str | None, project: Project | None) -> User | None:
    if not name:
        return None
    user = User.objects.filter(username=name, is_active=True).first()
    if user is None:
        raise CommandError(f"There is no active account {name!r}.")
    if not access_of_user(user).may(project.pk if project else None, Capability.REVIEW):
        raise CommandError(f"{name} may not review in this project.")
    return user
