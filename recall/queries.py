"""Every read of recall: what is similar to a record, or to a text. Scores are plain cosine."""

from __future__ import annotations

from collections.abc import Callable, Collection, Iterable
from dataclasses import dataclass
from typing import Any

from recall.models import Embedding, Similarity
from recall.passages import RECORD_PART
from recall.similar import KEPT, LEAST_COSINE
from recall.topk import Hit
from recall.vectors import all_vectors, configured_encoder, record_vector, record_vectors
from records.kinds import kind_named
from records.models import ReviewState
from records.queries import records_by_node_id

# How many more than k are looked at first, because hidden ones among them are left out.
SPARE = 20
LARGEST_K = 200


@dataclass(frozen=True, slots=True)
class SimilarRecord:
    """A record and its cosine. With a passage (`part` > 0): its place in the kind's body text."""

    record: Any
    score: float
    part: int = RECORD_PART
    start: int = 0
    end: int = 0


def similar_to(
    record: Any,
    *,
    k: int = 10,
    min_score: float = LEAST_COSINE,
    kinds: Collection[str] | None = None,
    reviewed_only: bool = False,
    include_hidden: bool = False,
    only_kept: bool = False,
) -> list[SimilarRecord]:
    """The k records of its project most like this one, best first, their long texts unread; `kinds` are names of kinds.

    Read from the lists that are kept; where those end before k are found (many hidden, one kind only, a lower score
    asked), exactly from the vectors, unless `only_kept`.
    """
    k = min(k, LARGEST_K)
    if k < 1 or record.project_id is None:
        return []
    rows = Similarity.objects.filter(source=record.node_id, project_id=record.project_id)
    kept = [Hit(target, score, RECORD_PART) for target, score in rows.values_list("target", "score")]
    kept.sort(key=lambda hit: (-hit.score, hit.node_id))
    is_shown = _shown_when(reviewed_only=reviewed_only, include_hidden=include_hidden)
    prefixes = _prefixes(kinds)
    near = [
        hit
        for hit in kept
        if hit.score >= min_score and (prefixes is None or hit.node_id.partition("_")[0] in prefixes)
    ]
    found = _records_of(near, [record.project_id], is_shown, brief=True)[:k]
    if only_kept or len(found) == k or (len(kept) < KEPT and min_score >= LEAST_COSINE):
        return found
    own = record_vector(record.node_id)
    if own is None:
        return found
    vectors = record_vectors([record.project_id])

    def nearest(count: int) -> list[Hit]:
        return vectors.top(
            own,
            record.project_id,
            count,
            exclude={record.node_id},
            kinds=prefixes,
            at_least=min_score,
        )

    return _first_shown(nearest, k, [record.project_id], is_shown)


def similar_to_text(
    project_ids: Collection[int],
    text: str,
    *,
    k: int = 10,
    min_score: float = 0.0,
    kinds: Collection[str] | None = None,
    passages: bool = True,
    reviewed_only: bool = False,
    include_hidden: bool = False,
) -> list[SimilarRecord]:
    """The k records nearest to a text, by their record vector or, with `passages`, the best of their passages too.

    The text is read up to the model's 256 tokens. Raises EncoderUnavailable.
    """
    k = min(k, LARGEST_K)
    project_ids = sorted(set(project_ids))
    if k < 1 or not project_ids or not text.strip():
        return []
    query = configured_encoder().encode([text])[0]
    prefixes = _prefixes(kinds)
    sets = all_vectors(project_ids) if passages else (record_vectors(project_ids),)

    def nearest(count: int) -> list[Hit]:
        best: dict[str, Hit] = {}
        for vectors in sets:
            for hit in vectors.top(query, project_ids, count, kinds=prefixes, at_least=min_score):
                if hit.node_id not in best or hit.score > best[hit.node_id].score:
                    best[hit.node_id] = hit
        return sorted(best.values(), key=lambda hit: (-hit.score, hit.node_id))[:count]

    is_shown = _shown_when(reviewed_only=reviewed_only, include_hidden=include_hidden)
    return _with_places(_first_shown(nearest, k, project_ids, is_shown))


def _shown_when(*, reviewed_only: bool, include_hidden: bool) -> Callable[[Any], bool]:
    def is_shown(record: Any) -> bool:
        if reviewed_only and record.review_state != ReviewState.APPROVED:
            return False
        return bool(include_hidden or record.is_active)

    return is_shown


def _prefixes(kinds: Collection[str] | None) -> list[str] | None:
    return None if kinds is None else [kind_named(name).prefix for name in kinds]


def _first_shown(
    nearest: Callable[[int], list[Hit]], k: int, project_ids: list[int], is_shown: Callable[[Any], bool]
) -> list[SimilarRecord]:
    """The first k that are shown: asks for more, four times as many each time, while hidden ones take the places."""
    count = k + SPARE
    while True:
        hits = nearest(count)
        found = _records_of(hits, project_ids, is_shown)
        if len(found) >= k or len(hits) < count:
            return found[:k]
        count *= 4


def _records_of(
    hits: Iterable[Hit], project_ids: list[int], is_shown: Callable[[Any], bool], *, brief: bool = False
) -> list[SimilarRecord]:
    hits = list(hits)
    records = records_by_node_id([hit.node_id for hit in hits], project_ids, brief=brief)
    return [
        SimilarRecord(records[hit.node_id], hit.score, hit.part)
        for hit in hits
        if hit.node_id in records and is_shown(records[hit.node_id])
    ]


def _with_places(found: list[SimilarRecord]) -> list[SimilarRecord]:
    """Where in its record each best passage stands: one query for all."""
    rows = Embedding.objects.filter(
        node_id__in=[one.record.node_id for one in found if one.part != RECORD_PART],
        part__in={one.part for one in found},
        model=configured_encoder().name,
    ).values_list("node_id", "part", "start", "end")
    places = {(node_id, part): (start, end) for node_id, part, start, end in rows}
    return [
        SimilarRecord(one.record, one.score, one.part, *places.get((one.record.node_id, one.part), (0, 0)))
        for one in found
    ]
