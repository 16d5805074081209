"""The graph read from the desk's own tables: always there, always up to date with what was written."""

from __future__ import annotations

from collections.abc import Collection, Iterable, Sequence
from dataclasses import replace
from typing import Any

from graph.offers import Offers, edges_among, kinds_within, offers_of
from graph.store import Edge, Node, Relation, Similar, Within
from graph.walk import Walk, is_shown
from recall.vectors import record_vector, record_vectors
from records.kinds import Kind, graph_kinds, group_by_kind, kind_named


class RelationalGraph(Walk):
    """`links`, `similarities` and outcomes' foreign keys, a few statements a hop whatever the number of nodes."""

    name = "relational"

    def _offers(self, node_ids: Sequence[str], within: Within, per_node: int) -> dict[str, Offers]:
        return offers_of(node_ids, within, per_node)

    def _around(
        self, node_id: str, within: Within, per_node: int, ahead: int, known: Collection[str]
    ) -> tuple[dict[str, Node], dict[str, Offers]]:
        """Whether the far ends are shown is read together with their cards, which the walk needs next."""
        cards: dict[str, Node] = {}

        def shown(far: Iterable[str]) -> set[str]:
            cards.update(self._nodes({node_id, *far}, Within(project_id=within.project_id, hidden=True)))
            return {one for one, node in cards.items() if is_shown(node, within)}

        return cards, offers_of([node_id], within, per_node, shown)

    def _edges_among(self, some: Sequence[str], others: Sequence[str], within: Within) -> list[Edge]:
        return edges_among(some, others, within)

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
