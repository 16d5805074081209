"""What a whole text has to do with the records of a project: the best of each kind, without reading a record.

The same rankings as the search, fused the same way, but ranked kind by kind: a project of a million runs has its
three patterns found, too.
"""

from __future__ import annotations

import logging
from collections import defaultdict
from collections.abc import Collection
from concurrent.futures import Future, ThreadPoolExecutor
from dataclasses import dataclass, field
from typing import Any

from django.utils.translation import gettext as _

from recall.encoders import EncoderUnavailable
from recall.models import Embedding
from recall.passages import RECORD_PART
from recall.search import LEAST_COSINE, MEANING, MOST_TERMS, RANKINGS, fused, weights_for
from recall.tokenise import query_terms
from recall.topk import Comparison, Matrix
from recall.units import PassageScore
from recall.vectors import all_vectors, configured_encoder
from recall.word_rankings import Others, by_words
from records.kinds import kind_named

log = logging.getLogger("memory_desk.search")

# Words are looked for in so much of a text, and in so many of the records that match best, of all kinds together.
LONGEST_READ = 4_000
MATCHES_LOOKED_AT = 400
OTHERS_READ = 30  # of each kind's nearest by meaning, to be ranked by their words too
MOST_ENCODED = 16_000  # characters: more than the 256 tokens that the model reads


@dataclass(frozen=True, slots=True)
class Near:
    """A record's node id; `score` in (0, 1], 1 for the best of all; `cosine` of its best vector, where it has one."""

    node_id: str
    score: float
    why: tuple[str, ...]
    cosine: float | None


@dataclass
class Nearby:
    """By name of kind the records that have most to do with a text, best first, and what more can be told of others."""

    project_id: int
    by_kind: dict[str, list[Near]] = field(default_factory=dict)
    notes: list[str] = field(default_factory=list)
    _records: Comparison | None = None
    _passages: Comparison | None = None

    def cosine(self, node_id: str) -> float | None:
        """Of the best of a record's vectors with the text."""
        scores = [
            score
            for compared in (self._records, self._passages)
            if compared is not None
            for _part, score in compared.parts_of(node_id)
        ]
        return max(scores, default=None)

    def vector(self, node_id: str) -> Matrix | None:
        """Its record vector, float32 [384], of unit length."""
        return None if self._records is None else self._records.vector_of(node_id)

    def passages_of(self, node_ids: Collection[str]) -> dict[str, list[PassageScore]]:
        """Where each passage of these records stands in its body, and its cosine. One query."""
        if self._passages is None:
            return {}
        rows = Embedding.objects.filter(
            node_id__in=list(node_ids), part__gt=RECORD_PART, model=configured_encoder().name
        ).values_list("node_id", "part", "start", "end")
        scores = {node_id: dict(self._passages.parts_of(node_id)) for node_id in node_ids}
        found: dict[str, list[PassageScore]] = defaultdict(list)
        for node_id, part, start, end in rows:
            if part in scores[node_id]:
                found[node_id].append(PassageScore(start, end, scores[node_id][part]))
        return found


def nearby(project_id: int, text: str, kinds: Collection[str], limit: int) -> Nearby:
    """Of each of these kinds the `limit` records of the project that have most to do with the text, active or not.

    Meaning reads the text up to the model's 256 tokens, words up to 4,000 characters; without an encoder, words alone.
    """
    found = Nearby(project_id)
    prefixes = {kind_named(name).prefix: name for name in kinds}
    rankings: dict[str, dict[str, list[str]]] = {prefix: {} for prefix in prefixes}
    nearest: dict[str, list[str]] = {}
    with ThreadPoolExecutor(1) as beside:  # the model holds no lock of Python's while it reads
        encoded = beside.submit(_vector_of, text) if text.strip() else None

        def meant() -> list[str] | None:
            if encoded is not None and not nearest:
                _compare(found, encoded)
                nearest.update({prefix: _nearest(found, prefix, limit) for prefix in prefixes})
            if found._records is None:
                return None
            return [node_id for ranked in nearest.values() for node_id in ranked[:OTHERS_READ]]

        words = _words(project_id, text[:LONGEST_READ], meant)
        meant()
    for ranking, node_ids in words.items():
        for node_id in node_ids:
            prefix = node_id.partition("_")[0]
            if prefix in prefixes:
                rankings[prefix].setdefault(ranking, []).append(node_id)
    if len(text) > LONGEST_READ:
        found.notes.append(
            _(
                "Of this text the first %(characters)s characters were searched for, by meaning the first 256 tokens."
            )
            % {"characters": f"{LONGEST_READ:,}"}
        )
    for prefix in prefixes:
        rankings[prefix][MEANING] = nearest.get(prefix, [])
    weights = weights_for(text[:LONGEST_READ])
    scores = {prefix: fused(ranked, weights) for prefix, ranked in rankings.items()}
    best = max((score for ranked in scores.values() for score in ranked.values()), default=1.0)
    for prefix, name in prefixes.items():
        order = sorted(scores[prefix], key=lambda node_id: (-scores[prefix][node_id], node_id))[:limit]
        members = {ranking: frozenset(node_ids) for ranking, node_ids in rankings[prefix].items()}
        found.by_kind[name] = [
            Near(node_id, scores[prefix][node_id] / best, _why(members, node_id), found.cosine(node_id))
            for node_id in order
        ]
    return found


def _words(project_id: int, text: str, others: Others) -> dict[str, list[str]]:
    terms = query_terms(text)[:MOST_TERMS]
    telling = [term for term in terms if not term.is_common] or terms
    return by_words([project_id], text, telling, (), (), MATCHES_LOOKED_AT, others) if telling else {}


def _vector_of(text: str) -> Any:
    return configured_encoder().encode([text[:MOST_ENCODED]])[0]


def _compare(found: Nearby, encoded: Future[Any]) -> None:
    records, passages = all_vectors([found.project_id])
    try:
        vector = encoded.result()
    except EncoderUnavailable as error:
        log.warning("A context by words alone: %s", error)
        found.notes.append(_("Searched by words alone: %s") % error)
        return
    found._records = records.compare(vector, found.project_id)
    found._passages = passages.compare(vector, found.project_id)


def _nearest(found: Nearby, prefix: str, limit: int) -> list[str]:
    best: dict[str, float] = {}
    for compared in (found._records, found._passages):
        if compared is not None:
            for hit in compared.top(limit, [prefix], LEAST_COSINE):
                best[hit.node_id] = max(hit.score, best.get(hit.node_id, -1.0))
    return sorted(best, key=lambda node_id: (-best[node_id], node_id))[:limit]


def _why(ranked: dict[str, frozenset[str]], node_id: str) -> tuple[str, ...]:
    return tuple(dict.fromkeys(RANKINGS[name][0] for name, node_ids in ranked.items() if node_id in node_ids))
