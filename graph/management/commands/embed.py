"""`manage.py embed`: backfills embeddings and similarities of records that have none of the configured model."""

from __future__ import annotations

import time
from collections.abc import Iterator
from typing import Any

from django.core.management.base import BaseCommand, CommandError, CommandParser
from django.db.models import Exists, F, OuterRef, QuerySet

from graph.worker import DatabaseAway, Worker
from projects.commands import told_project_or_none
from projects.models import Project
from recall.encoders import EncoderUnavailable
from recall.models import Embedding
from recall.passages import RECORD_PART
from recall.similar import rebuild_similarities
from recall.vectors import configured_encoder
from records import marks
from records.leases import LeaseBusy
from records.models import ProjectionMark

MARKS_A_QUERY = 500
LINE_EVERY_SECONDS = 2.0


class Command(BaseCommand):
    help = (
        "Embed the records that have no vector of the configured model, and list their similar records. "
        "May be stopped and run again; runs beside any worker."
    )

    def add_arguments(self, parser: CommandParser) -> None:
        parser.add_argument("--project", metavar="SLUG", help="only this project")
        parser.add_argument(
            "--similarities",
            action="store_true",
            help="compare every list of similar records with the vectors too",
        )
        parser.add_argument(
            "--forget-other-models",
            action="store_true",
            help="delete vectors of models other than the configured one",
        )

    def handle(self, *args: Any, **options: Any) -> None:
        told = told_project_or_none(options["project"])
        try:
            model = configured_encoder().name
        except ValueError as error:
            raise CommandError(str(error)) from error
        wanted = ProjectionMark.objects.filter(gone=False, erased=False)
        if told:
            wanted = wanted.filter(project_id=told.pk)
        self._ask_for(wanted, model)
        self._work_off(wanted, model)
        if options["similarities"]:
            for project in [told] if told else Project.objects.order_by("pk"):
                self.stdout.write(
                    f"{project.slug}: compared the lists of {rebuild_similarities(project.pk)} records"
                )
        if options["forget_other_models"]:
            others = Embedding.objects.exclude(model=model)
            if told:
                others = others.filter(project_id=told.pk)
            self.stdout.write(f"Deleted {others.delete()[0]} vectors of other models")

    def _ask_for(self, wanted: QuerySet[ProjectionMark], model: str) -> None:
        """Ask the projection for every record without a vector that nobody has asked for yet."""
        asked = 0
        for node_ids in _in_pages(_without_vector(wanted, model).filter(next_try_at=None)):
            marks.want_again(node_ids)
            asked += len(node_ids)
        self.stdout.write(f"{asked} records have no vector of {model} and were not waiting for one")

    def _work_off(self, wanted: QuerySet[ProjectionMark], model: str) -> None:
        # What waits for the graph alone is the worker's, who may have to wait for it.
        waiting = wanted.filter(dead=False, embedded_version__lt=F("wanted_version")).exclude(
            next_try_at=None
        )
        total, began, said_at = waiting.count(), time.monotonic(), 0.0
        worker = Worker()
        left = total
        while left:
            try:
                worked = worker.work_once()
            except EncoderUnavailable as error:
                raise CommandError(str(error)) from error
            except (LeaseBusy, DatabaseAway) as error:
                self.stderr.write(f"Waiting: {error}")
                worked = 0
            left = waiting.count()
            if time.monotonic() - said_at >= LINE_EVERY_SECONDS or not left:
                said_at = time.monotonic()
                rate = (total - left) / max(said_at - began, 0.001)
                self.stdout.write(f"{total - left} of {total} embedded, {rate:.0f} a second")
                self.stdout.flush()
            if not worked and left:
                time.sleep(0.5)  # another worker has them, or they wait for their next try
        dead = wanted.filter(dead=True).count()
        missing = _without_vector(wanted, model).count()
        self.stdout.write(
            f"Done: {missing} records without a vector, {dead} of them given up (see the health page)"
        )


def _without_vector(wanted: QuerySet[ProjectionMark], model: str) -> QuerySet[ProjectionMark]:
    vector = Embedding.objects.filter(node_id=OuterRef("node_id"), model=model, part=RECORD_PART)
    return wanted.filter(~Exists(vector))


def _in_pages(wanted: QuerySet[ProjectionMark]) -> Iterator[list[str]]:
    after = 0
    while page := list(
        wanted.filter(id__gt=after).order_by("id").values_list("id", "node_id")[:MARKS_A_QUERY]
    ):
        after = page[-1][0]
        yield [node_id for _, node_id in page]
