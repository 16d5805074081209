"""Search: ids first, then words and meaning together.

Several rankings of the same records (all the words, some of them, the words side by side, the meaning of the best
passage or of the whole) become one by weighted reciprocal rank, after Cormack, Clarke and Büttcher, SIGIR 2009. The
constant and the weights were chosen on questions about real records (benchmarks/answers.py).
"""

from __future__ import annotations

import logging
from collections import defaultdict
from collections.abc import Collection, Iterable, Mapping, Sequence
from dataclasses import dataclass, field
from typing import Any

from django.db.models import Q
from django.utils.translation import gettext as _

from recall import fulltext
from recall.encoders import MINILM, EncoderUnavailable
from recall.models import Embedding
from recall.passages import RECORD_PART
from recall.tokenise import Term, is_of_another_script, query_terms, search_text
from recall.topk import Hit
from recall.vectors import all_vectors, configured_encoder
from recall.word_rankings import PHRASE, SOME, WORDS, by_words
from records.kinds import Kind, group_by_kind, kind_named
from records.models import ReviewState
from records.queries import records_by_node_id
from records.query_language import Query

log = logging.getLogger("memory_desk.search")

RANK_CONSTANT = 10
LOOKED_AT = 100  # of each ranking at first
STEP = 8  # times as many where too few of them pass the filters
MOST_LOOKED_AT = 6_400
LARGEST_LIMIT = 200
LEAST_COSINE = 0.25
MOST_TERMS = 64

ID, MEANING = "id", "meaning"
# ranking -> (what it says of a hit, its weight). Of a whole question most words tell little: one of them is a hint.
RANKINGS = {WORDS: (WORDS, 1.0), PHRASE: (PHRASE, 1.0), SOME: (WORDS, 0.5), MEANING: (MEANING, 1.0)}
# Of a question in a script that the model hardly knows: any two Chinese texts have much to do with each other.
UNREAD_MEANING = 0.25


@dataclass(frozen=True, slots=True)
class SearchHit:
    """A record, and why it was found. `cosine` and the passage's place (in the kind's body) where meaning found it."""

    record: Any
    score: float
    why: tuple[str, ...]
    cosine: float | None = None
    part: int = RECORD_PART
    start: int = 0
    end: int = 0


@dataclass
class Found:
    """The hits, best first; `more` says that there are others, `hidden` how many would stand among the hits if hidden
    memories were asked for; `notes` what a reader should know of the answer."""

    hits: list[SearchHit] = field(default_factory=list)
    more: bool = False
    hidden: int = 0
    problems: list[str] = field(default_factory=list)
    notes: list[str] = field(default_factory=list)


@dataclass
class _Rankings:
    by_name: dict[str, list[str]]
    nearest: dict[str, Hit]
    complete: bool
    weights: Mapping[str, float]

    def fused(self) -> list[tuple[str, float]]:
        return sorted(fused(self.by_name, self.weights).items(), key=lambda pair: (-pair[1], pair[0]))


def weights_for(text: str) -> dict[str, float]:
    """What a ranking counts for this text."""
    weights = {name: weight for name, (_why, weight) in RANKINGS.items()}
    if configured_encoder().name == MINILM and is_of_another_script(search_text(text).split()):
        weights[MEANING] = UNREAD_MEANING
    return weights


def fused(rankings: Mapping[str, Sequence[str]], weights: Mapping[str, float]) -> dict[str, float]:
    """What each node id is worth, by its ranks in the rankings that found it."""
    scores: dict[str, float] = defaultdict(float)
    for name, ranked in rankings.items():
        for rank, node_id in enumerate(ranked, start=1):
            scores[node_id] += weights[name] / (RANK_CONSTANT + rank)
    return scores


def search(
    project_ids: Collection[int],
    query: Query,
    *,
    limit: int = 20,
    words: bool = True,
    meaning: bool = True,
    reviewed_only: Collection[int] = (),
) -> Found:
    """The records of these projects that answer the query. A query with problems finds nothing and says why.

    Of the projects in `reviewed_only`, whose policy says so for agents, only what was approved.
    """
    limit = max(1, min(limit, LARGEST_LIMIT))
    project_ids = sorted(set(project_ids))
    found = Found(problems=list(query.problems))
    if found.problems or not project_ids:
        return found
    allowed = _Allowed(project_ids, query, reviewed_only)
    found.problems = allowed.problems
    if found.problems:
        return found
    if not query.asks_for_words:
        newest = _newest(allowed, query, limit + 1) if query.conditions or query.kinds else []
        found.hits = [SearchHit(record, 0.0, ()) for record in newest[:limit]]
        found.more = len(newest) > limit
        found.hidden = allowed.hidden_count() if query.conditions or query.kinds else 0
        return found
    vector = _encoded(query, found) if meaning else None
    count = LOOKED_AT
    while True:
        rankings = _rankings(project_ids, query, vector, count, words=words)
        ranked = rankings.fused()
        kept = _passed(allowed, [node_id for node_id, _score in ranked], query.ids, limit)
        ranked = [pair for pair in ranked if pair[0] in kept and pair[0] not in query.ids]
        if len(ranked) > limit or rankings.complete or count >= MOST_LOOKED_AT:
            break
        count *= STEP
    if len(ranked) <= limit and not rankings.complete:
        found.notes.append(
            _("Only the %s that match best were looked at, and few pass the filters: there may be others.")
            % f"{count:,}"
        )
    ids = [node_id for node_id in dict.fromkeys(query.ids) if node_id in kept]
    found.more = len(ids) + len(ranked) > limit
    found.hidden = _hidden(allowed, query, rankings.fused(), kept, limit - len(ids))
    ordered = [*((node_id, 1.0) for node_id in ids), *ranked][:limit]
    found.hits = _hits(ordered, ids, rankings, project_ids)
    return found


def _passed(allowed: _Allowed, ranked: list[str], ids: list[str], limit: int) -> set[str]:
    """Those of the ids and of the ranked that pass; of the ranked only the best, where these are more than asked for."""
    best = ranked[: 3 * limit + 20]
    passed = allowed.among([*ids, *best])
    if len(passed.intersection(best)) <= limit + len(ids):
        passed |= allowed.among(ranked[len(best) :])
    return passed


def _hidden(
    allowed: _Allowed, query: Query, fused: Sequence[tuple[str, float]], kept: set[str], places: int
) -> int:
    """How many of those that did not pass are hidden ones that rank as high as the last hit shown."""
    shown = [score for node_id, score in fused if node_id in kept and node_id not in query.ids][
        : max(places, 0)
    ]
    least = shown[-1] if shown and len(shown) == places else 0.0
    others = [node_id for node_id, score in fused if node_id not in kept and score >= least] + query.ids
    return len(allowed.hidden_among(set(others) - kept))


def _newest(allowed: _Allowed, query: Query, limit: int) -> list[Any]:
    """Without words: the newest that pass, and have none of the words left out."""
    without, count = _without(query), limit
    while True:
        newest = allowed.newest(count)
        among = _all_matching((), without, newest)
        kept = [node_id for node_id in newest if node_id in among]
        if len(kept) >= limit or len(newest) < count or count >= MOST_LOOKED_AT:
            break
        count *= STEP
    records = records_by_node_id(kept[:limit], allowed.project_ids)
    return [records[node_id] for node_id in kept[:limit] if node_id in records]


def _without(query: Query) -> list[Term]:
    return [term for text in query.without for term in query_terms(text)]


def _encoded(query: Query, found: Found) -> Any | None:
    text = " ".join([query.words, *query.phrases]).strip()
    if not text:
        return None
    try:
        return configured_encoder().encode([text])[0]
    except EncoderUnavailable as error:
        log.warning("Search by words alone: %s", error)
        found.notes.append(_("Searched by words alone: %s") % error)
        return None


def _rankings(
    project_ids: list[int], query: Query, vector: Any | None, count: int, *, words: bool
) -> _Rankings:
    terms = query_terms(query.words)[:MOST_TERMS]
    without = _without(query)
    phrases = [phrase for phrase in query.phrases if query_terms(phrase)]
    telling = [term for term in terms if not term.is_common] or terms
    found: dict[str, list[str]] = {}
    nearest = _nearest(project_ids, vector, count) if vector is not None else {}
    if words and (terms or phrases):
        others = None if vector is None else lambda: list(nearest)
        found |= by_words(project_ids, query.words, telling, phrases, without, count, others)
    complete = all(len(ranked) < count for ranked in found.values()) and len(nearest) < count
    if phrases or without:
        # What must or must not stand in a text is the index's to say, of what meaning finds too.
        must = _all_matching(phrases, without, nearest)
        nearest = {node_id: hit for node_id, hit in nearest.items() if node_id in must}
    found[MEANING] = list(nearest)
    return _Rankings(found, nearest, complete, weights_for(query.words))


def _all_matching(phrases: Sequence[str], without: Sequence[Term], node_ids: Iterable[str]) -> set[str]:
    """Of these node ids, those whose text has the phrases and none of the words `without`."""
    kept = set(node_ids)
    if phrases:
        kept = fulltext.matching_among(fulltext.all_of((), phrases), kept)
    if without:
        kept -= fulltext.matching_among(fulltext.any_of(without), kept)
    return kept


def _nearest(project_ids: list[int], vector: Any, count: int) -> dict[str, Hit]:
    """By the best of a record's own vector and its passages, best first."""
    best: dict[str, Hit] = {}
    for vectors in reversed(all_vectors(project_ids)):
        for hit in vectors.top(vector, project_ids, count, at_least=LEAST_COSINE):
            if hit.node_id not in best or hit.score > best[hit.node_id].score:
                best[hit.node_id] = hit
    ranked = sorted(best.values(), key=lambda hit: (-hit.score, hit.node_id))[:count]
    return {hit.node_id: hit for hit in ranked}


class _Allowed:
    """Which records the filters of a query let through: each kind's own FilterSet, with its rule of what is active."""

    def __init__(self, project_ids: list[int], query: Query, reviewed_only: Collection[int]) -> None:
        self.project_ids = project_ids
        self.reviewed_only = sorted(set(reviewed_only) & set(project_ids))
        self._asked: dict[str, Any] = {}
        told: list[str] = []
        for kind in query.searched_kinds():
            asked = query.parameters_for(kind)
            problems = self._filters(kind, asked).problems if asked else {}
            if problems:  # a status that only another kind knows
                told += [f"{field}: {' '.join(texts)}" for field, texts in problems.items()]
            else:
                self._asked[kind.name] = asked
        self.problems = [] if self._asked else list(dict.fromkeys(told))

    def _filters(self, kind: Kind, asked: Any, rows: Any = None) -> Any:
        only = self.project_ids[0] if len(self.project_ids) == 1 else None
        rows = kind.model.objects.filter(project_id__in=self.project_ids) if rows is None else rows
        return kind.filterset(asked, queryset=self._recalled(rows), project_id=only)

    def _recalled(self, rows: Any) -> Any:
        """Without those that the policy of their project keeps from agents."""
        if not self.reviewed_only:
            return rows
        unvetted = Q(project_id__in=self.reviewed_only) & ~Q(review_state=ReviewState.APPROVED)
        return rows.exclude(unvetted)

    def _passing(self, kind: Kind, keys: Collection[Any], *, show: str = "") -> set[str]:
        """The node ids of those of the keys that pass; with `show`, as if that were asked too."""
        asked = self._asked[kind.name]
        rows = kind.model.objects.filter(pk__in=keys)
        if asked:
            if show:
                asked = asked.copy()
                asked["show"] = show
            rows = self._filters(kind, asked, rows).rows()
        else:
            # What a FilterSet does that is asked nothing; it takes longer to make than its rows to read.
            rows = self._recalled(rows)
            rows = rows.hidden() if show == "hidden" else rows.active()
        # Asked for the project too, SQLite walks all that are active in it instead of these keys.
        found = rows.order_by().values_list("pk", "project_id")
        return {kind.node_id(key) for key, project_id in found if project_id in self.project_ids}

    def among(self, node_ids: Iterable[str]) -> set[str]:
        """Those of the node ids that pass: one query a kind."""
        groups = group_by_kind(dict.fromkeys(node_ids)).items()
        return set().union(
            *(self._passing(kind_named(name), keys) for name, keys in groups if name in self._asked)
        )

    def hidden_among(self, node_ids: Collection[str]) -> set[str]:
        """Those of the node ids that would pass if hidden ones were asked for; none where the query says what to show."""
        groups = group_by_kind(node_ids).items()
        asked = [
            (name, keys) for name, keys in groups if name in self._asked and "show" not in self._asked[name]
        ]
        return set().union(*(self._passing(kind_named(name), keys, show="hidden") for name, keys in asked))

    def hidden_count(self) -> int:
        """Without words: how many hidden ones the filters find, of all kinds together."""
        return sum(
            self._filters(kind_named(name), asked).hidden_count() for name, asked in self._asked.items()
        )

    def newest(self, limit: int) -> list[str]:
        """Without words: the node ids of the newest that pass, of all kinds together."""
        found: list[tuple[Any, str]] = []
        for name, asked in self._asked.items():
            kind = kind_named(name)
            rows = self._filters(kind, asked).rows().order_by(f"-{kind.when}", "-pk")
            found += [(when, kind.node_id(key)) for when, key in rows.values_list(kind.when, "pk")[:limit]]
        found.sort(key=lambda pair: pair[0], reverse=True)
        return [node_id for _when, node_id in found[:limit]]


def _hits(
    ordered: Sequence[tuple[str, float]], ids: Sequence[str], rankings: _Rankings, project_ids: list[int]
) -> list[SearchHit]:
    records = records_by_node_id([node_id for node_id, _score in ordered], project_ids)
    nearest = {node_id: hit for node_id, hit in rankings.nearest.items() if node_id in records}
    places = _places(nearest)
    whys: dict[str, list[str]] = defaultdict(list)
    for name, ranked in rankings.by_name.items():
        why = RANKINGS[name][0]
        for node_id in ranked:
            if node_id in records and why not in whys[node_id]:
                whys[node_id].append(why)
    hits = []
    for node_id, score in ordered:
        if node_id in records:
            hit = nearest.get(node_id)
            hits.append(
                SearchHit(
                    records[node_id],
                    score,
                    (ID,) if node_id in ids else tuple(whys[node_id]),
                    None if hit is None else hit.score,
                    RECORD_PART if hit is None else hit.part,
                    *places.get(node_id, (0, 0)),
                )
            )
    return hits


def _places(nearest: dict[str, Hit]) -> dict[str, tuple[int, int]]:
    """Where in its record each best passage stands: one query for all."""
    parts = {node_id: hit.part for node_id, hit in nearest.items() if hit.part != RECORD_PART}
    rows = Embedding.objects.filter(
        node_id__in=parts, part__in=set(parts.values()), model=configured_encoder().name
    ).values_list("node_id", "part", "start", "end")
    return {node_id: (start, end) for node_id, part, start, end in rows if parts[node_id] == part}
