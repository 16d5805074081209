"""`manage.py suggest_pairs`: judges the pairs of all records anew: likely duplicates, and what may contradict."""

from __future__ import annotations

import time
from typing import Any

from django.core.management.base import BaseCommand, CommandParser

from curation.models import Sort, SuggestedPair
from curation.pairs.chores import note_all_judged, rules_of
from curation.pairs.keeping import keep_pairs, project_pages
from projects.commands import told_project_or_none
from projects.models import Project
from records.models import ProjectionMark

LINE_EVERY_SECONDS = 2.0


class Command(BaseCommand):
    help = (
        "Look through all records for likely duplicates and for what may contradict, from the similarities that the "
        "worker keeps. Verdicts stay. May be stopped and run again; runs beside any worker."
    )

    def add_arguments(self, parser: CommandParser) -> None:
        parser.add_argument("--project", metavar="SLUG", help="only this project")

    def handle(self, *args: Any, **options: Any) -> None:
        told = told_project_or_none(options["project"])
        for project in [told] if told else list(Project.objects.order_by("pk")):
            self._suggest(project)

    def _suggest(self, project: Project) -> None:
        total = ProjectionMark.objects.filter(project_id=project.pk, gone=False).count()
        looked_at, changed, said_at = 0, 0, time.monotonic()
        rules = rules_of(project.pk)
        for _last, node_ids in project_pages(project.pk):
            changed += keep_pairs(node_ids)
            looked_at += len(node_ids)
            if time.monotonic() - said_at >= LINE_EVERY_SECONDS:
                said_at = time.monotonic()
                self.stdout.write(f"{project.slug}: {looked_at} of {total} records")
                self.stdout.flush()
        note_all_judged(project.pk, rules)
        still_open = SuggestedPair.objects.filter(project=project, is_open=True)
        self.stdout.write(
            f"{project.slug}: {total} records, {changed} suggestions changed; open are "
            f"{still_open.filter(sort=Sort.DUPLICATE).count()} likely duplicates and "
            f"{still_open.filter(sort=Sort.CONFLICT).count()} that may contradict"
        )
