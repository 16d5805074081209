"""A vector index of its own for each large project: Neo4j filters by project only after it has taken the nearest.

Without one an answer is as right, only slower: small projects are compared whole, of others much is asked for. So the
indexes may be made late, and are dropped where a project has shrunk.
"""

from __future__ import annotations

from django.db.models import Count

from graph import connection, cypher, cypher_schema, cypher_writes
from records.kinds import graph_kinds
from records.models import ProjectionMark

# Comparing the vectors of so many takes as long as asking an index.
INDEXED_FROM = 400
DROPPED_BELOW = INDEXED_FROM // 2
MOST_INDEXES = 60  # each has files and memory of its own
LABELLED_AT_ONCE = 2000


def large_projects(least: int) -> list[int]:
    """Projects of at least so many records of the graph, the largest first."""
    marks = ProjectionMark.objects.filter(
        gone=False, project_id__isnull=False, kind__in=[kind.name for kind in graph_kinds()]
    )
    rows = marks.order_by().values("project_id").annotate(count=Count("id")).filter(count__gte=least)
    largest = rows.order_by("-count", "project_id").values_list("project_id", flat=True)[:MOST_INDEXES]
    return [project_id for project_id in largest if project_id is not None]


def bring_project_indexes() -> tuple[list[int], list[int]]:
    """Make those that are missing, drop those no longer worth it: the projects of either. Does not wait for them."""
    from neo4j import Transaction

    there = set(connection.guarded(cypher.all_project_indexes, connection.WRITE_SECONDS))
    made = [project_id for project_id in large_projects(INDEXED_FROM) if project_id not in there]
    dropped = sorted(there - set(large_projects(DROPPED_BELOW)))
    for project_id in made:

        def label(tx: Transaction, project_id: int = project_id) -> int:
            return cypher_writes.label_project(tx, project_id, LABELLED_AT_ONCE)

        while connection.write(label):
            pass
        connection.write(lambda tx, at=project_id: tx.run(cypher_schema.create_project_index(at)).consume())  # type: ignore[misc]
    for project_id in dropped:
        connection.write(lambda tx, at=project_id: tx.run(cypher_schema.drop_project_index(at)).consume())  # type: ignore[misc]
    return made, dropped
