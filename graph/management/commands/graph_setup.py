"""`manage.py graph_setup`: constraints and indexes of the Neo4j that GRAPH_URL names. May be run any time, again."""

from __future__ import annotations

from typing import Any

from django.core.management.base import BaseCommand, CommandError

from graph import connection
from graph.store import GraphAway
from records import marks
from records.models import ProjectionMark


class Command(BaseCommand):
    help = "Install the constraints and indexes of the graph, wait until they are online, and say the server's version."

    def handle(self, *args: Any, **options: Any) -> None:
        address = connection.configured_address()
        if address is None:
            raise CommandError(
                "GRAPH_URL is empty: the graph is served from the database, nothing is to be set up."
            )
        from neo4j.exceptions import Neo4jError

        from graph import cypher_schema, nodes
        from graph.project_indexes import bring_project_indexes

        try:
            server = connection.guarded(nodes.check_server, connection.WRITE_SECONDS)
            self.stdout.write(f"Neo4j {server} at {address.uri}")
            connection.guarded(nodes.install_schema, nodes.ONLINE_SECONDS + connection.WRITE_SECONDS)
            bring_project_indexes()
            there = sum(cypher_schema.counts_by_kind().values())
        except (GraphAway, nodes.SchemaProblem, Neo4jError) as error:
            raise CommandError(f"{address.uri}: {error}") from error
        self.stdout.write("Constraints and indexes are online.")
        if not there and marks.forget_projected():
            # Whatever the marks say of another store, this one is empty.
            count = ProjectionMark.objects.filter(projected_version=0).count()
            self.stdout.write(f"The graph is empty: the worker will show {count} records in it.")
        else:
            self.stdout.write(
                f"The graph holds {there} records; check_graph compares them with the database."
            )
