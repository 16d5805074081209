"""The graph read from Neo4j. It may be behind what was written; `graph.queries` decides whether it is asked."""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from dataclasses import replace
from typing import Any

import numpy as np

from graph import cypher
from graph.offers import Offers, best_offers, edges_of_rows
from graph.store import Edge, Node, Relation, Similar, Within
from graph.walk import Walk
from records.kinds import graph_kinds

# Up to this many records of a project all are compared: quicker than what the index finds of other projects.
EXACT_UP_TO = 1500
# The index is asked for at least this many: its own ten best of a hundred are the true ten.
LEAST_ASKED = 100
SPARE = 4


class Neo4jGraph(Walk):
    """One statement a step, whatever the number of nodes; no node comes with its vector."""

    name = "neo4j"

    def similar_by_vector(self, vector: Any, within: Within, *, k: int = 10) -> list[Similar]:
        wanted = [float(number) for number in np.asarray(vector, dtype=np.float32)]
        if len(wanted) != cypher.DIMENSION or not any(wanted):
            raise ValueError(f"The query vector is not one of {cypher.DIMENSION} numbers with a direction")
        if k < 1:
            return []
        here, everywhere = cypher.sizes(within.project_id)
        count = max(LEAST_ASKED, SPARE * k * everywhere // max(here, 1))
        while here > EXACT_UP_TO and count < here:
            found = cypher.nearest_by_index(wanted, within, k, count)
            if len(found) >= k:
                return _similar(found)
            count *= SPARE
        return _similar(cypher.nearest_exactly(wanted, within, k))

    def led_to(self, status: str, within: Within, *, limit: int = 100) -> list[tuple[Node, Node]]:
        kinds = [kind.name for kind in graph_kinds() if kind.edges_of is not None and kind.status_column]
        outcomes = cypher.outcomes_of_type(status, kinds, within, limit)
        everything = replace(within, relations=frozenset({Relation.LEADS_TO}), kinds=None)
        causes = {
            node_id: [edge.source for edge in offers.edges if edge.target == node_id]
            for node_id, offers in self._offers(outcomes, everything, 1).items()
        }
        nodes = self._nodes(
            {*outcomes, *(source for found in causes.values() for source in found)}, everything
        )
        return [
            (nodes[source], nodes[outcome])
            for outcome in outcomes
            for source in causes[outcome]
            if source in nodes and outcome in nodes
        ]

    def _vector(self, node_id: str) -> Any | None:
        return cypher.vector_of(node_id)

    def _offers(self, node_ids: Sequence[str], within: Within, per_node: int) -> dict[str, Offers]:
        return best_offers(node_ids, cypher.best_rows(node_ids, within, per_node + 1), per_node)

    def _edges_among(self, some: Sequence[str], others: Sequence[str], within: Within) -> list[Edge]:
        return edges_of_rows(cypher.rows_among(some, others, within))

    def _nodes(self, node_ids: Iterable[str], within: Within) -> dict[str, Node]:
        return {row[0]: Node(*row) for row in cypher.cards(node_ids, within)}


def _similar(rows: Iterable[tuple[Any, ...]]) -> list[Similar]:
    return [Similar(Node(*row[:-1]), min(1.0, max(-1.0, row[-1]))) for row in rows]
