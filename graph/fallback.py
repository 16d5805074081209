"""Neo4j where it can answer in time and shows what was written; else the desk's own tables, and it says which."""

from __future__ import annotations

import logging
from collections.abc import Callable, Collection, Mapping, Sequence
from datetime import timedelta
from typing import Any, TypeVar

from django.db import connection as db
from django.utils import timezone
from neo4j.exceptions import Neo4jError

from graph import connection
from graph.neo4j import Neo4jGraph
from graph.relational import RelationalGraph
from graph.store import GraphAway, GraphStore, Neighbourhood, Node, NoSuchNode, Path, Similar, Within
from records import leases
from records.models import ProjectionMark

# One raw statement: every answer of the graph begins with it.
_IS_LATE = f"""
    SELECT EXISTS (SELECT 1 FROM {leases.Lease._meta.db_table} WHERE name = %s AND until > %s)
        OR EXISTS (SELECT 1 FROM {ProjectionMark._meta.db_table}
                   WHERE NOT dead AND next_try_at IS NOT NULL AND project_id = %s
                         AND projected_version < wanted_version AND wanted_at < %s)"""
T = TypeVar("T")
log = logging.getLogger("memory_desk.graph")
# What was written longer ago than this must be in an answer.
LATE_SECONDS = 10.0
REBUILD = "graph rebuild"


class FallbackGraph:
    """A store for one page or call: `name` is the store that gave its last answer."""

    def __init__(self) -> None:
        self.name = Neo4jGraph.name

    def neighbourhood(
        self, node_id: str, within: Within, *, depth: int = 1, cap: int = 30, known: Collection[str] = ()
    ) -> Neighbourhood:
        return self._ask(
            within, lambda store: store.neighbourhood(node_id, within, depth=depth, cap=cap, known=known)
        )

    def similar(self, node_id: str, within: Within, *, k: int = 10) -> list[Similar]:
        return self._ask(within, lambda store: store.similar(node_id, within, k=k))

    def similar_by_vector(self, vector: Any, within: Within, *, k: int = 10) -> list[Similar]:
        return self._ask(within, lambda store: store.similar_by_vector(vector, within, k=k))

    def outcomes_after(self, node_ids: Sequence[str], within: Within) -> Mapping[str, list[Node]]:
        return self._ask(within, lambda store: store.outcomes_after(node_ids, within))

    def led_to(self, status: str, within: Within, *, limit: int = 100) -> list[tuple[Node, Node]]:
        return self._ask(within, lambda store: store.led_to(status, within, limit=limit))

    def path(self, source: str, target: str, within: Within, *, max_depth: int = 6) -> Path | None:
        return self._ask(within, lambda store: store.path(source, target, within, max_depth=max_depth))

    def _ask(self, within: Within, question: Callable[[GraphStore], T]) -> T:
        if not is_late(within.project_id):
            try:
                answer = connection.guarded(lambda: question(Neo4jGraph()), connection.READ_SECONDS)
            except NoSuchNode:
                pass  # perhaps only not there yet: the database knows
            except GraphAway:
                pass
            except Neo4jError:  # it answers, but not this: its schema is missing, say
                log.exception("The graph refused a question; the database answers it")
            else:
                self.name = Neo4jGraph.name
                return answer
        self.name = RelationalGraph.name
        return question(RelationalGraph())


def is_late(project_id: int) -> bool:
    """Whether Neo4j lacks what was written to the project some time ago, or is being filled anew."""
    now = timezone.now()
    stored = db.ops.adapt_datetimefield_value
    asked = [REBUILD, stored(now), project_id, stored(now - timedelta(seconds=LATE_SECONDS))]
    with db.cursor() as cursor:
        cursor.execute(_IS_LATE, asked)
        return bool(cursor.fetchone()[0])
