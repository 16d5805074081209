"""The graph read from the desk's own tables: always there, always up to date with what was written."""

from __future__ import annotations

from collections.abc import Collection, Iterable, Mapping, Sequence
from dataclasses import replace
from typing import Any

from graph.offers import Offers, edges_among, kinds_within, offers_of
from graph.store import Edge, Neighbourhood, Node, NoSuchNode, Relation, Similar, Within
from graph.walk import Walk, is_shown
from recall.vectors import record_vector, record_vectors
from records.kinds import Kind, graph_kinds, group_by_kind, kind_named

Rank = tuple[tuple[int, float], str]


class RelationalGraph(Walk):
    """`links`, `similarities` and outcomes' foreign keys, a few statements a hop whatever the number of nodes."""

    name = "relational"

    def neighbourhood(
        self, node_id: str, within: Within, *, depth: int = 1, cap: int = 30, known: Collection[str] = ()
    ) -> Neighbourhood:
        known = set(known)
        look = self.look + len(known)
        hops, reached = {node_id: 0}, {node_id}
        frontier = [node_id]
        read, cards = dict[str, Offers](), dict[str, Node]()
        left: set[str] = set()
        at_least = False
        room = cap - (node_id not in known)
        for hop in range(1, depth + 1):
            if hop == 1:
                there, seen = self._around(node_id, within, look)
                if node_id not in there:
                    raise NoSuchNode(node_id)
            else:
                there, seen = self._seen([o for o in frontier if o not in read], within, look, cards)
            read |= seen
            cards |= there
            offered = {other: read[other] for other in frontier}
            at_least |= any(offers.cut for offers in offered.values())
            ranked = [other for other in _best_first(offered) if other not in reached]
            fresh = [other for other in ranked if other not in known]
            taken, room = fresh[:room], room - len(fresh[:room])
            left |= set(fresh[len(taken) :])
            frontier = taken + [other for other in ranked if other in known]
            reached |= set(frontier)
            hops |= dict.fromkeys(taken, hop)
            if not frontier or (room == 0 and hop < depth):
                at_least |= bool(frontier)
                break
        new = [other for other in hops if other not in known]
        there, seen = self._seen([other for other in new if other not in read], within, look, cards)
        read |= seen
        cards |= there
        shown = {other: cards[other] for other in new if other in cards}
        nodes = [
            replace(
                node,
                hop=hops[other],
                degree=min(self.look, _degree(other, read[other])),
                has_more=read[other].cut,
            )
            for other, node in shown.items()
        ]
        return Neighbourhood(
            center=node_id,
            nodes=nodes,
            edges=self._edges(list(shown), known - shown.keys(), read, within),
            total=len(nodes) + len(left),
            truncated=at_least or bool(left),
            at_least=at_least,
        )

    def _offers(self, node_ids: Sequence[str], within: Within, per_node: int) -> dict[str, Offers]:
        return offers_of(node_ids, within, per_node)

    def _around(
        self, node_id: str, within: Within, per_node: int
    ) -> tuple[dict[str, Node], dict[str, Offers]]:
        """As `_seen` of one node; whether the far ends are shown is read together with their cards, asked for next."""
        cards: dict[str, Node] = {}

        def shown(far: Iterable[str]) -> set[str]:
            cards.update(self._nodes({node_id, *far}, Within(project_id=within.project_id, hidden=True)))
            return {one for one, node in cards.items() if is_shown(node, within)}

        return cards, offers_of([node_id], within, per_node, shown)

    def _seen(
        self, node_ids: Sequence[str], within: Within, per_node: int, cards: Mapping[str, Node]
    ) -> tuple[dict[str, Node], dict[str, Offers]]:
        """These nodes of the project, whatever their state, and what each offers; `cards`: nodes that were read."""
        unread = [node_id for node_id in node_ids if node_id not in cards]
        nodes = self._nodes(unread, Within(project_id=within.project_id, hidden=True))
        there = [node_id for node_id in node_ids if node_id in nodes or node_id in cards]
        return nodes, dict.fromkeys(node_ids, Offers()) | self._offers(there, within, per_node)

    def _edges(
        self, new: list[str], known: set[str], read: Mapping[str, Offers], within: Within
    ) -> list[Edge]:
        """Every edge between a new node and a new or known one, whether or not it is among the best of its ends."""
        if known:
            found = edges_among(new, sorted(known), within)
            ends = {end for edge in found for end in (edge.source, edge.target)} - set(new)
            # `known` is what the caller says; only records of this project count.
            there = self._nodes(ends, Within(project_id=within.project_id, hidden=True)).keys() | set(new)
            return [edge for edge in found if edge.source in there and edge.target in there]
        # Of an edge that one end did not offer the other end did, unless both have more than they offered.
        here = set(new)
        edges = {
            edge: None
            for node_id in new
            for edge in read[node_id].edges
            if edge.source in here and edge.target in here
        }
        cut = [node_id for node_id in new if read[node_id].cut]
        edges |= dict.fromkeys(edges_among(cut, new, within))
        return sorted(_once(edges), key=lambda edge: edge.order)

    def similar_by_vector(self, vector: Any, within: Within, *, k: int = 10) -> list[Similar]:
        vectors = record_vectors([within.project_id])
        prefixes = [kind.prefix for kind in kinds_within(within)]
        asked = 2 * k
        while True:
            hits = vectors.top(vector, within.project_id, asked, kinds=prefixes, at_least=within.min_score)
            nodes = self._nodes([hit.node_id for hit in hits], within)
            found = [Similar(nodes[hit.node_id], hit.score) for hit in hits if hit.node_id in nodes]
            # Hidden records have vectors too: ask for more until k are shown, or no more are there.
            if len(found) >= k or len(hits) < asked:
                return found[:k]
            asked *= 4

    def _vector(self, node_id: str) -> Any | None:
        return record_vector(node_id)

    def led_to(self, status: str, within: Within, *, limit: int = 100) -> list[tuple[Node, Node]]:
        newest: list[tuple[Any, str]] = []
        for kind in graph_kinds():
            if kind.edges_of is not None and kind.status_column:
                rows = kind.model.objects.all() if within.hidden else kind.model.objects.active()
                rows = rows.filter(project_id=within.project_id, **{kind.status_column: status})
                keyed = rows.order_by(f"-{kind.when}", "-pk").values_list(kind.when, "pk")[:limit]
                newest += [(when, kind.node_id(key)) for when, key in keyed]
        newest.sort(key=lambda item: item[0], reverse=True)
        outcomes = [node_id for _, node_id in newest[:limit]]
        everything = replace(within, relations=frozenset({Relation.LEADS_TO}), kinds=None)
        causes = {
            node_id: [edge.source for edge in offers.edges if edge.target == node_id]
            for node_id, offers in self._offers(outcomes, everything, 1).items()
        }
        nodes = self._nodes(
            [*outcomes, *(source for found in causes.values() for source in found)], everything
        )
        return [
            (nodes[source], nodes[outcome])
            for outcome in outcomes
            for source in causes[outcome]
            if source in nodes and outcome in nodes
        ]

    def _nodes(self, node_ids: Iterable[str], within: Within) -> dict[str, Node]:
        """The records that `within` shows, by node id: one query a kind, and only the columns of a heading."""
        found: dict[str, Node] = {}
        names = {kind.name for kind in kinds_within(within)}
        for name, keys in group_by_kind(node_ids).items():
            if name in names:
                kind = kind_named(name)
                rows = kind.model.objects.all() if within.hidden else kind.model.objects.active()
                for record in rows.filter(project_id=within.project_id, pk__in=keys).only(*_columns(kind)):
                    found[record.node_id] = Node(
                        id=record.node_id,
                        kind=kind.name,
                        title=record.heading,
                        status=kind.status_of(record),
                        review_state=record.review_state,
                        active=record.is_active,
                    )
        return found


def _columns(kind: Kind) -> tuple[str, ...]:
    return ("pk", "project_id", "review_state", "archived_at", "merged_into", *kind.headed)


def _best_first(offered: dict[str, Offers]) -> list[str]:
    """The other ends, each ranked by the best edge that leads to it."""
    ranks: dict[str, Rank] = {}
    for node_id, offers in offered.items():
        for edge in offers.edges:
            other = edge.other(node_id)
            rank = (edge.order[:2], other)
            if other not in ranks or rank < ranks[other]:
                ranks[other] = rank
    return sorted(ranks, key=ranks.__getitem__)


def _once(edges: Iterable[Edge]) -> Iterable[Edge]:
    """Each relation once; of a likeness read from both ends with two scores the greater."""
    best: dict[tuple[str, str, Relation], Edge] = {}
    for edge in edges:
        key = (edge.source, edge.target, edge.relation)
        if key not in best or (edge.score or 0.0) > (best[key].score or 0.0):
            best[key] = edge
    return best.values()


def _degree(node_id: str, offers: Offers) -> int:
    return len({edge.other(node_id) for edge in offers.edges})
