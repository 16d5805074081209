"""`manage.py rebuild_graph`: empties Neo4j and fills it anew from the database; pages answer from that meanwhile."""

from __future__ import annotations

import time
from typing import Any

from django.core.management.base import BaseCommand, CommandError
from django.db.models import F

from graph import connection
from graph.fallback import REBUILD
from graph.store import GraphAway
from graph.worker import DatabaseAway, Worker
from records import leases, marks
from records.leases import LeaseBusy
from records.models import ProjectionMark

LEASE_SECONDS = 60.0
LINE_EVERY_SECONDS = 2.0
DELETED_AT_ONCE = 2000
BATCH = 256  # nothing is encoded here: a larger batch costs fewer statements a record
BAR = 30


class Command(BaseCommand):
    help = "Fill the graph anew from the database. May be stopped and run again; runs beside any worker."

    def handle(self, *args: Any, **options: Any) -> None:
        if connection.configured_address() is None:
            raise CommandError(
                "GRAPH_URL is empty: the graph is served from the database and needs no rebuilding."
            )
        holder = leases.new_holder()
        if not leases.take(REBUILD, holder, LEASE_SECONDS):
            raise CommandError("Another rebuild_graph is at work.")
        try:
            self._rebuild(holder)
        except GraphAway as error:
            raise CommandError(f"The graph does not answer: {error}") from error
        finally:
            leases.give_back(REBUILD, holder)

    def _rebuild(self, holder: str) -> None:
        from graph import cypher_schema, cypher_writes, nodes
        from graph.project_indexes import bring_project_indexes

        connection.guarded(nodes.check_server, connection.WRITE_SECONDS)
        connection.guarded(nodes.install_schema, nodes.ONLINE_SECONDS + connection.WRITE_SECONDS)
        # Filled at once at the end, a vector index takes a tenth of the time, and answers several times as fast.
        indexes = connection.guarded(nodes.vector_indexes, connection.WRITE_SECONDS)
        connection.write(lambda tx: cypher_schema.drop_vector_indexes(tx, indexes))
        # First the marks: whoever projects from here on is later told so again by nobody, and loses nothing.
        marks.forget_projected()
        while connection.write(lambda tx: cypher_writes.delete_some(tx, DELETED_AT_ONCE)):
            leases.take_for_a_while(REBUILD, holder, LEASE_SECONDS)
        marks.forget_projected()
        waiting = ProjectionMark.objects.filter(dead=False, projected_version__lt=F("wanted_version"))
        total = left = waiting.count()
        began, said_at = time.monotonic(), 0.0
        worker = Worker(batch=BATCH)
        while left:
            leases.take_for_a_while(REBUILD, holder, LEASE_SECONDS)
            try:
                worked = worker.work_once()
                connection.breaker.check()
            except (LeaseBusy, DatabaseAway) as error:
                self.stderr.write(f"Waiting: {error}")
                worked = 0
            if worked and time.monotonic() - said_at < LINE_EVERY_SECONDS:
                continue  # counting all that wait takes longer than bringing a few of them
            left = waiting.count()
            if time.monotonic() - said_at >= LINE_EVERY_SECONDS or not left:
                said_at = time.monotonic()
                done = total - left
                filled = BAR * done // max(total, 1)
                rate = done / max(said_at - began, 0.001)
                self.stdout.write(
                    f"[{'#' * filled}{'.' * (BAR - filled)}] {done} of {total}, {rate:.0f} a second"
                )
                self.stdout.flush()
            if not worked and left:
                time.sleep(0.5)  # another worker has them, or they wait for their next try
        began = time.monotonic()
        self.stdout.write("Filling the vector indexes …")
        self.stdout.flush()
        connection.guarded(nodes.create_schema, connection.WRITE_SECONDS)
        made, _dropped = bring_project_indexes()
        while connection.guarded(cypher_schema.indexes_being_filled, connection.WRITE_SECONDS):
            leases.take_for_a_while(REBUILD, holder, LEASE_SECONDS)
            time.sleep(0.5)
        self.stdout.write(
            f"Vector indexes filled in {time.monotonic() - began:.0f} s, {len(made)} of them of large projects."
        )
        dead = ProjectionMark.objects.filter(dead=True).count()
        self.stdout.write(
            f"The graph is rebuilt: {sum(cypher_schema.counts_by_kind().values())} records, {dead} given up."
        )
