"""How paths, outcomes and similar records are found, whatever holds the graph: both stores take these steps."""

from __future__ import annotations

from abc import ABC, abstractmethod
from collections.abc import Collection, Iterable, Mapping, Sequence
from dataclasses import replace
from typing import Any

from graph.offers import Offers
from graph.store import (
    LOOK,
    Edge,
    Neighbourhood,
    Node,
    NoSuchNode,
    Path,
    Relation,
    Similar,
    Within,
)
from recall.similar import KEPT, LEAST_COSINE

# A path is looked for among at most this many nodes.
PATH_NODES = 3000
OUTCOMES = 1000


class Walk(ABC):
    """The steps of every answer, over three questions to a store; each takes a whole frontier at once."""

    def __init__(self, look: int = LOOK) -> None:
        self.look = look

    @abstractmethod
    def _offers(self, node_ids: Sequence[str], within: Within, per_node: int) -> dict[str, Offers]:
        """The best `per_node` edges of each node to records that `within` shows."""

    @abstractmethod
    def _nodes(self, node_ids: Iterable[str], within: Within) -> dict[str, Node]:
        """The records that `within` shows, by node id."""

    @abstractmethod
    def _vector(self, node_id: str) -> Any | None:
        """The vector of a record; None where it has none."""

    @abstractmethod
    def similar_by_vector(self, vector: Any, within: Within, *, k: int = 10) -> list[Similar]: ...

    @abstractmethod
    def neighbourhood(
        self, node_id: str, within: Within, *, depth: int = 1, cap: int = 30, known: Collection[str] = ()
    ) -> Neighbourhood: ...

    def similar(self, node_id: str, within: Within, *, k: int = 10) -> list[Similar]:
        # The list that is kept, whatever it holds: where it is full, hidden records and other kinds took places in it.
        least = min(within.min_score, LEAST_COSINE)
        kept = self._likest(node_id, within.project_id, least, KEPT)
        found = [one for one in kept if one.score >= within.min_score and is_shown(one.node, within)]
        if len(found) >= k or (len(kept) < KEPT and within.min_score >= LEAST_COSINE):
            return found[:k]
        vector = self._vector(node_id)
        if vector is None:
            alike = replace(within, relations=frozenset({Relation.SIMILAR_TO}))
            return self._scored(self._offers([node_id], alike, k)[node_id].edges, node_id, within)
        nearest = self.similar_by_vector(vector, within, k=k + 1)
        return [similar for similar in nearest if similar.node.id != node_id][:k]

    def _likest(self, node_id: str, project_id: int, least: float, count: int) -> list[Similar]:
        """Of the likenesses that are kept the best, whatever the state of the other end."""
        self._node(node_id, project_id)
        every = Within(
            project_id=project_id, relations=frozenset({Relation.SIMILAR_TO}), min_score=least, hidden=True
        )
        return self._scored(self._offers([node_id], every, count)[node_id].edges, node_id, every)

    def _scored(self, edges: Iterable[Edge], node_id: str, within: Within) -> list[Similar]:
        scores = {edge.other(node_id): edge.score or 0.0 for edge in edges}
        nodes = self._nodes(scores, within)
        return [Similar(nodes[other], score) for other, score in scores.items() if other in nodes]

    def outcomes_after(self, node_ids: Sequence[str], within: Within) -> Mapping[str, list[Node]]:
        within = replace(within, relations=frozenset({Relation.LEADS_TO}))
        offered = self._offers(node_ids, within, OUTCOMES)
        followed = {
            node_id: [edge.target for edge in offers.edges if edge.source == node_id]
            for node_id, offers in offered.items()
        }
        nodes = self._nodes({target for targets in followed.values() for target in targets}, within)
        return {
            node_id: [nodes[target] for target in targets if target in nodes]
            for node_id, targets in followed.items()
        }

    def path(self, source: str, target: str, within: Within, *, max_depth: int = 6) -> Path | None:
        for end in (source, target):
            self._node(end, within.project_id)
        # From both ends, always the side that has fewer nodes to ask: two small balls instead of a large one.
        sides: list[dict[str, tuple[int, Edge | None]]] = [{source: (0, None)}, {target: (0, None)}]
        fronts, depths = [[source], [target]], [0, 0]
        while not (meeting := sides[0].keys() & sides[1].keys()):
            at = 0 if len(fronts[0]) <= len(fronts[1]) else 1
            if not fronts[at] or sum(depths) >= max_depth or sum(map(len, sides)) > PATH_NODES:
                return None
            depths[at] += 1
            fresh: dict[str, tuple[int, Edge | None]] = {}
            offered = self._offers(fronts[at], within, self.look)
            for node_id in fronts[at]:
                for edge in offered[node_id].edges:
                    if edge.other(node_id) not in sides[at]:
                        fresh.setdefault(edge.other(node_id), (depths[at], edge))
            sides[at] |= fresh
            fronts[at] = list(fresh)
        middle = min(meeting, key=lambda node_id: (sides[0][node_id][0] + sides[1][node_id][0], node_id))
        before, after = _back(middle, sides[0]), _back(middle, sides[1])
        ids = [*reversed([node_id for node_id, _ in before]), *[node_id for node_id, _ in after[1:]]]
        edges = [*reversed([edge for _, edge in before if edge]), *[edge for _, edge in after if edge]]
        nodes = self._nodes(ids, replace(within, kinds=None, hidden=True))
        return Path([replace(nodes[node_id], hop=hop) for hop, node_id in enumerate(ids)], edges)

    def _node(self, node_id: str, project_id: int) -> Node:
        """The record, whatever its state."""
        found = self._nodes([node_id], Within(project_id=project_id, hidden=True))
        if node_id not in found:
            raise NoSuchNode(node_id)
        return found[node_id]


def is_shown(node: Node, within: Within) -> bool:
    return (within.hidden or node.active) and (within.kinds is None or node.kind in within.kinds)


def _back(node_id: str, side: dict[str, tuple[int, Edge | None]]) -> list[tuple[str, Edge | None]]:
    """The way back to the side's own end: (node, the edge by which it was reached)."""
    way = []
    current: str | None = node_id
    while current is not None:
        edge = side[current][1]
        way.append((current, edge))
        current = edge.other(current) if edge else None
    return way
