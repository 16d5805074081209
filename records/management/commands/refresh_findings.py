"""`manage.py refresh_findings`: look at every text again, with the patterns of this version."""

from __future__ import annotations

from collections import Counter
from typing import Any

from django.core.management.base import BaseCommand, CommandParser

from projects.commands import told_project_or_none
from records.hygiene.findings import CODES
from records.kinds import all_kinds
from records.sweep import CHUNK, look_again


class Command(BaseCommand):
    help = (
        "Find orders to agents, hidden characters, smuggled links and secrets in every record's text again, with the"
        " patterns of this version. Marks records for people; changes no text and no review state."
    )

    def add_arguments(self, parser: CommandParser) -> None:
        parser.add_argument("--project", metavar="SLUG", default="", help="this one's records only")

    def handle(self, *args: Any, **options: Any) -> None:
        project = told_project_or_none(options["project"])
        looked_at, flagged, codes = 0, 0, Counter[str]()
        for kind in all_kinds():
            rows = kind.model.objects.order_by("pk")
            if project is not None:
                rows = rows.filter(project=project)
            after = None
            while chunk := list((rows if after is None else rows.filter(pk__gt=after))[:CHUNK]):
                after = chunk[-1].pk
                found = look_again(chunk)
                looked_at += len(chunk)
                flagged += sum(bool(one) for one in found.values())
                codes.update(code for one in found.values() for code in {finding.code for finding in one})
        self.stdout.write(f"{looked_at:,} records looked at, {flagged:,} flagged.")
        for code in CODES:
            if codes[code]:
                self.stdout.write(f"  {codes[code]:8,}  {code}")
