"""`manage.py refresh_attention`: compute anew what each record asks of people."""

from __future__ import annotations

from typing import Any

from django.core.management.base import BaseCommand, CommandParser

from projects.commands import told_project_or_none
from records import attention


class Command(BaseCommand):
    help = (
        "Compute anew what the inbox shows of every record: whether it waits, how risky it is and why. A worker keeps"
        " this by itself; doctor says where it is wrong."
    )

    def add_arguments(self, parser: CommandParser) -> None:
        parser.add_argument("--project", metavar="SLUG", default="", help="this one's records only")

    def handle(self, *args: Any, **options: Any) -> None:
        project = told_project_or_none(options["project"])
        kept = attention.keep_all(project.pk if project else None)
        self.stdout.write(f"{kept:,} records looked at.")
