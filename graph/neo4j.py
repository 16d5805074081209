"""The graph read from Neo4j. It may be behind what was written; `graph.queries` decides whether it is asked."""

from __future__ import annotations

import time
from collections.abc import Collection, Iterable, Mapping, Sequence
from typing import Any

import numpy as np
from neo4j.exceptions import ClientError

from graph import cypher
from graph.cypher_hood import hood
from graph.offers import RELATIONS, Offers, best_offers
from graph.store import Edge, Neighbourhood, Node, NoSuchNode, Similar, Within
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
    """A neighbourhood is one statement, and so is each step of a path; no node comes with its vector."""

    name = "neo4j"

    def neighbourhood(
        self, node_id: str, within: Within, *, depth: int = 1, cap: int = 30, known: Collection[str] = ()
    ) -> Neighbourhood:
        known = set(known)
        room = cap - (node_id not in known)
        look = self.look + len(known)
        read = hood(node_id, within, depth=depth, room=room, look=look, known=known)
        if read is None:
            raise NoSuchNode(node_id)
        new = [one for one in read.nodes if one.card[0] not in known]
        at_least = any(one.cut for one in read.nodes if one.hop < depth)
        left = 0
        for hop, found in enumerate(read.found, start=1):
            left += max(0, found - room)
            room = max(0, room - found)
            # Without room the walk ended before its depth, though it had got somewhere.
            at_least |= room == 0 and hop < depth and any(one.hop == hop for one in read.nodes)
        edges = (Edge(source, target, RELATIONS[kind], score) for source, target, kind, score in read.edges)
        return Neighbourhood(
            center=node_id,
            nodes=[Node(*[*one.card, min(self.look, one.neighbours), one.hop, one.cut]) for one in new],
            edges=sorted(edges, key=lambda edge: edge.order),
            total=len(new) + left,
            truncated=at_least or left > 0,
            at_least=at_least,
        )

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

    def _likest(self, node_id: str, project_id: int, least: float, count: int) -> list[Similar]:
        found = cypher.likest(node_id, project_id, least, count)
        if found is None:
            raise NoSuchNode(node_id)
        return _similar(found)

    def _vector(self, node_id: str) -> Any | None:
        return cypher.vector_of(node_id)

    def _offers(self, node_ids: Sequence[str], within: Within, per_node: int) -> dict[str, Offers]:
        return best_offers(node_ids, cypher.best_rows(node_ids, within, per_node + 1), per_node)

    def _nodes(self, node_ids: Iterable[str], within: Within) -> dict[str, Node]:
        return {row[0]: Node(*row) for row in cypher.cards(node_ids, within)}


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


def _similar(rows: Iterable[tuple[Any, ...]]) -> list[Similar]:
    return [Similar(Node(*row[:-1]), min(1.0, max(-1.0, row[-1]))) for row in rows]
