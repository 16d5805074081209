"""What is most like a record: asked of the configured graph store, with the name of the store that answered."""

from __future__ import annotations

from collections.abc import Collection
from dataclasses import dataclass
from typing import Any

from django.conf import settings

from graph.queries import graph_store
from graph.relational import RelationalGraph
from graph.store import Within
from recall.queries import LARGEST_K, SimilarRecord, similar_to
from recall.similar import KEPT, LEAST_COSINE
from records.kinds import all_kinds, graph_kinds, kind_of
from records.models import ReviewState
from records.queries import records_by_node_id


@dataclass(frozen=True)
class SimilarAnswer:
    """Records and their cosines, best first."""

    found: list[SimilarRecord]
    answered_by: str


def similar_records(
    record: Any,
    *,
    k: int = 10,
    min_score: float = LEAST_COSINE,
    kinds: Collection[str] | None = None,
    reviewed_only: bool = False,
    include_hidden: bool = False,
) -> SimilarAnswer:
    """The k records of its project most like this one; the answer of `recall.queries.similar_to`, whoever gives it.
    Their long texts are not read.

    Kinds that are no nodes of the graph (a run's memories) come from the desk's own lists beside it.
    """
    k = min(k, LARGEST_K)
    in_graph = {kind.name for kind in graph_kinds()}
    wanted = {kind.name for kind in all_kinds()} if not kinds else set(kinds)
    asked: dict[str, Any] = {
        "min_score": min_score, "reviewed_only": reviewed_only, "include_hidden": include_hidden,
    }  # fmt: skip
    if not settings.GRAPH_URL or kind_of(record).name not in in_graph or not wanted & in_graph:
        found = similar_to(record, k=k, kinds=kinds, **asked)
        return SimilarAnswer(found, RelationalGraph.name)
    if k < 1 or record.project_id is None:
        return SimilarAnswer([], RelationalGraph.name)
    within = Within(
        project_id=record.project_id,
        min_score=min_score,
        kinds=frozenset(wanted & in_graph),
        hidden=include_hidden,
    )
    found, answered_by = _from_graph(record, within, k, reviewed_only)
    if others := wanted - in_graph:
        found += similar_to(record, k=k, kinds=others, only_kept=k <= KEPT, **asked)
        found.sort(key=lambda one: (-one.score, one.record.node_id))
    return SimilarAnswer(found[:k], answered_by)


def _from_graph(record: Any, within: Within, k: int, reviewed_only: bool) -> tuple[list[SimilarRecord], str]:
    """Asks for more, four times as many each time, while unreviewed ones, or some hidden just now, take the places."""
    store, count = graph_store(), k
    while True:
        hits = store.similar(record.node_id, within, k=count)
        records = records_by_node_id([hit.node.id for hit in hits], [within.project_id], brief=True)
        found = [
            SimilarRecord(there, hit.score)
            for hit in hits
            if (there := records.get(hit.node.id)) is not None
            # As the database has them now: the graph may be a moment behind.
            and (within.hidden or there.is_active)
            and (not reviewed_only or there.review_state == ReviewState.APPROVED)
        ]
        if len(found) >= k or len(hits) < count:
            return found[:k], store.name
        count *= 4
