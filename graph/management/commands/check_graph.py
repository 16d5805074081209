"""`manage.py check_graph`: how far the graph is behind, and where it differs from the database. Exit code 1: it does."""

from __future__ import annotations

from typing import Any

from django.core.management.base import BaseCommand, CommandError, CommandParser
from django.utils import timezone

from graph import connection
from graph.queries import graph_lag
from graph.store import GraphAway
from records import marks
from records.models import ProjectionMark

NAMED = 10


class Command(BaseCommand):
    help = "Count what the graph lacks: waiting and dead marks, drift by kind, orphans, relations. `--mend` asks for it."

    def add_arguments(self, parser: CommandParser) -> None:
        parser.add_argument(
            "--mend", action="store_true", help="ask the worker for every record that differs, orphans too"
        )

    def handle(self, *args: Any, **options: Any) -> None:
        lag = graph_lag()
        since = f" since {timezone.localtime(lag.since):%Y-%m-%d %H:%M:%S}" if lag.since else ""
        self.stdout.write(f"waiting: {lag.waiting}{since}")
        self.stdout.write(f"dead: {lag.dead}")
        for mark in ProjectionMark.objects.filter(dead=True)[:NAMED]:
            self.stdout.write(f"  {mark.node_id}: {mark.error}")
        if connection.configured_address() is None:
            self.stdout.write("GRAPH_URL is empty: the graph is served from the database itself.")
            return
        from graph import nodes
        from graph.drift import measure_drift

        try:
            self.stdout.write(f"Neo4j {connection.guarded(nodes.check_server, connection.WRITE_SECONDS)}")
            for problem in nodes.schema_problems():
                self.stdout.write(f"schema: {problem}; run graph_setup")
            drift = measure_drift()
        except (GraphAway, nodes.SchemaProblem) as error:
            raise CommandError(f"The graph does not answer: {error}") from error
        row = "{:<12} {:>9} {:>9} {:>9} {:>9} {:>9} {:>14}"
        self.stdout.write(
            row.format("kind", "records", "nodes", "missing", "outdated", "orphans", "without vector")
        )
        for kind in drift.kinds:
            counts = (kind.missing, kind.outdated, kind.orphans)
            self.stdout.write(
                row.format(kind.kind.name, kind.records, kind.nodes, *map(len, counts), kind.without_vector)
            )
            for node_id in [node for some in counts for node in some][:NAMED]:
                self.stdout.write(f"  {node_id}")
        for relation, (said, there) in drift.relations.items():
            self.stdout.write(f"{relation}: {said} in the database, {there} in the graph")
        if options["mend"]:
            for kind in drift.kinds:
                marks.want_again([*kind.missing, *kind.outdated])
                connection.write(lambda tx, ids=kind.orphans: _delete(tx, ids))  # type: ignore[misc]
            self.stdout.write("Asked for; the worker brings them.")
        elif drift.differs:
            raise CommandError(
                "The graph differs from the database. `check_graph --mend` asks for what differs."
            )
        self.stdout.write("Every record was compared." if not lag.waiting else "The rest was compared.")


def _delete(tx: Any, node_ids: list[str]) -> None:
    from graph import cypher_writes

    if node_ids:
        cypher_writes.delete_nodes(tx, node_ids)
