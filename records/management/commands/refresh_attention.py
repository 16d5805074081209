"""`manage.py refresh_attention`: compute anew what each record asks of people."""

from __future__ import annotations

from typing import Any

from django.core.management.base import BaseCommand, CommandError, CommandParser

from projects.names import no_project, project_named
from records import attention


class Command(BaseCommand):
    help = (
        "Compute anew what the inbox shows of every record: whether it waits, how risky it is and why. A worker keeps"
        " this by itself; doctor says where it is wrong."
    )

    def add_arguments(self, parser: CommandParser) -> None:
        parser.add_argument("--project", metavar="SLUG", default="", help="this one's records only")

    def handle(self, *args: Any, **options: Any) -> None:
        slug = options["project"]
        project = project_named(slug) if slug else None
        if slug and project is None:
            raise CommandError(no_project(slug))
        kept = attention.keep_all(project.pk if project else None)
        self.stdout.write(f"{kept:,} records looked at.")
