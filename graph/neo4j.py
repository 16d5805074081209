"""The graph read from Neo4j. It may be behind what was written; `graph.queries` decides whether it is asked."""

from __future__ import annotations

import time
from collections.abc import Collection, Iterable, Mapping, Sequence
from typing import Any

import numpy as np
from neo4j.exceptions import ClientError

from graph import cypher
from graph.offers import RELATIONS, Offers, best_offers, edges_of_rows
from graph.store import Edge, Node, NoSuchNode, Similar, Within
from graph.walk import Walk
from records.kinds import graph_kinds

# Of a project without an index of its own, up to this many records all are compared; of a larger one, what the
# indexes of all projects find.
EXACT_UP_TO = 5000
# An index is asked for at least this many: its own ten best of a hundred are the true ten.
LEAST_ASKED = 100
MOST_ASKED = 10_000
SPARE = 4
OUTCOMES = 1000
KNOWN_SECONDS = 30.0


class Neo4jGraph(Walk):
    """One statement a step, whatever the number of nodes; no node comes with its vector."""

    name = "neo4j"

    def similar_by_vector(self, vector: Any, within: Within, *, k: int = 10) -> list[Similar]:
        wanted = [float(number) for number in _read(vector)]
        if len(wanted) != cypher.DIMENSION or not any(wanted):
            raise ValueError(f"The query vector is not one of {cypher.DIMENSION} numbers with a direction")
        if k < 1:
            return []
        index = cypher.project_index_of(within.project_id) if _known.has_index(within.project_id) else None
        count = max(LEAST_ASKED, SPARE * k)
        if index is None and _known.size(within.project_id) <= EXACT_UP_TO:
            return _similar(cypher.nearest_exactly(wanted, within, k))
        while count <= MOST_ASKED:
            try:
                nearest = cypher.nearest_by_index(wanted, within, k, count, index)
            except ClientError:
                if index is None:
                    raise
                _known.forget()  # dropped a moment ago
                break
            is_all = index is not None and nearest.seen < count
            if len(nearest.found) >= k or is_all or nearest.worst < within.min_score:
                return _similar(nearest.found)
            count *= SPARE
        return _similar(cypher.nearest_exactly(wanted, within, k))

    def outcomes_after(self, node_ids: Sequence[str], within: Within) -> Mapping[str, list[Node]]:
        followed: dict[str, list[Node]] = {node_id: [] for node_id in node_ids}
        for node_id, cards in cypher.outcomes_after(node_ids, within, OUTCOMES):
            followed[node_id] = [Node(*card) for card in cards]
        return followed

    def led_to(self, status: str, within: Within, *, limit: int = 100) -> list[tuple[Node, Node]]:
        found: list[tuple[Node, Node]] = []
        for kind in graph_kinds():
            if kind.edges_of is not None and kind.status_column:
                pairs = cypher.led_to(status, kind, within, limit)
                found += [(Node(*cause), Node(*outcome)) for cause, outcome in pairs]
        return found

    def _seen(
        self, node_ids: Sequence[str], within: Within, per_node: int, cards: Mapping[str, Node]
    ) -> tuple[dict[str, Node], dict[str, Offers]]:
        return _as_offered(node_ids, cypher.seen(node_ids, within, per_node + 1), per_node)

    def _around(
        self, node_id: str, within: Within, per_node: int, ahead: int, known: Collection[str]
    ) -> tuple[dict[str, Node], dict[str, Offers]]:
        rows = cypher.seen_around(node_id, within, per_node + 1, ahead, known)
        return _as_offered([node_id], rows, per_node)

    def _likest(self, node_id: str, project_id: int, least: float, count: int) -> list[Similar]:
        found = cypher.likest(node_id, project_id, least, count)
        if found is None:
            raise NoSuchNode(node_id)
        return _similar(found)

    def _vector(self, node_id: str) -> Any | None:
        return cypher.vector_of(node_id)

    def _offers(self, node_ids: Sequence[str], within: Within, per_node: int) -> dict[str, Offers]:
        return best_offers(node_ids, cypher.best_rows(node_ids, within, per_node + 1), per_node)

    def _edges_among(self, some: Sequence[str], others: Sequence[str], within: Within) -> list[Edge]:
        return edges_of_rows(cypher.rows_among(some, others, within))

    def _nodes(self, node_ids: Iterable[str], within: Within) -> dict[str, Node]:
        return {row[0]: Node(*row) for row in cypher.cards(node_ids, within)}


def _as_offered(
    node_ids: Sequence[str], rows: Iterable[tuple[cypher.Card, list[list[Any]]]], per_node: int
) -> tuple[dict[str, Node], dict[str, Offers]]:
    """Best first and each once: the server did what `best_offers` does to rows of tables."""
    nodes: dict[str, Node] = {}
    offers = dict.fromkeys(node_ids, Offers())
    for card, best in rows:
        nodes[card[0]] = Node(*card)
        edges = tuple(_edge(card[0], *one) for one in best[:per_node])
        offers[card[0]] = Offers(edges, cut=len(best) > per_node)
    return nodes, offers


class _KnownProjects:
    """Which projects have a vector index of their own, and how large others are: asked anew every half minute."""

    def __init__(self) -> None:
        self._indexed: frozenset[int] = frozenset()
        self._sizes: dict[int, int] = {}
        self._known_until = 0.0

    def has_index(self, project_id: int) -> bool:
        if time.monotonic() >= self._known_until:
            self._indexed, self._sizes = frozenset(cypher.project_indexes()), {}
            self._known_until = time.monotonic() + KNOWN_SECONDS
        return project_id in self._indexed

    def size(self, project_id: int) -> int:
        if project_id not in self._sizes:
            self._sizes[project_id] = cypher.size_of(project_id)
        return self._sizes[project_id]

    def forget(self) -> None:
        self._known_until = 0.0


_known = _KnownProjects()


def _read(vector: Any) -> Any:
    given = isinstance(vector, bytes | bytearray | memoryview)
    return np.frombuffer(vector, dtype="<f4") if given else np.asarray(vector, dtype=np.float32)


def _edge(near: str, far: str, direction: int, relation: str, score: float | None) -> Edge:
    source, target = (far, near) if direction else (near, far)
    return Edge(source, target, RELATIONS[relation], score)


def _similar(rows: Iterable[tuple[Any, ...]]) -> list[Similar]:
    return [Similar(Node(*row[:-1]), min(1.0, max(-1.0, row[-1]))) for row in rows]
