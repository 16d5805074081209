"""Which pairs are worth a look, and what is known of their ends: a bounded number a record, a constant number of queries."""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Collection, Iterable, Mapping
from dataclasses import dataclass, field
from itertools import pairwise
from typing import Any

from django.db.models import Count, Q

from curation.models import SuggestedPair
from curation.pairs.judging import Between, End
from curation.pairs.overlap import Words, words_of
from recall.models import SearchText, Similarity
from records.kinds import kind_of, parse_node_id
from records.models import Link, ProjectionMark, RecordTag, Relation
from records.queries import records_by_node_id

NEIGHBOURS = 10
LINKS = 50
KEPT_PAIRS = 100
# Of equal texts each is paired with the nearest active one before and after it: a chain, whatever their number.
LOOKED_AT_ASIDE = 8

Ends = tuple[str, str]


def ends(one: str, other: str) -> Ends:
    """The two node ids in the order in which a pair is kept."""
    return (one, other) if one < other else (other, one)


@dataclass
class Candidates:
    """Pairs to judge, with what is kept of them, and their ends by node id (those that exist)."""

    pairs: set[Ends] = field(default_factory=set)
    kept: dict[Ends, list[SuggestedPair]] = field(default_factory=lambda: defaultdict(list))
    cosines: dict[Ends, float] = field(default_factory=dict)
    links: dict[Ends, dict[str, str]] = field(default_factory=lambda: defaultdict(dict))
    replaced: dict[str, set[str]] = field(default_factory=lambda: defaultdict(set))
    ends: dict[str, End] = field(default_factory=dict)

    def between(self, pair: Ends) -> Between:
        return Between(self.cosines.get(pair), self.links.get(pair, {}), self._is_replacement(*pair))

    def _is_replacement(self, one: str, other: str) -> bool:
        """One supersedes the other, or what supersedes it."""
        later, earlier = self.replaced.get(one, set()), self.replaced.get(other, set())
        return (
            other in later
            or one in earlier
            or any(other in self.replaced.get(node, ()) for node in later)
            or any(one in self.replaced.get(node, ()) for node in earlier)
        )


def candidates_of(node_ids: Collection[str]) -> Candidates:
    """All pairs of these records that may be suggested or are."""
    found = Candidates()
    paired = [node_id for node_id in node_ids if parse_node_id(node_id)]
    _add_kept(found, paired)
    _add_similar(found, paired)
    _add_linked(found, paired)
    _add_same_text(found, paired)
    _describe(found, {*paired, *(node_id for pair in found.pairs for node_id in pair)})
    return found


def _add_kept(found: Candidates, node_ids: list[str]) -> None:
    counts: dict[str, int] = defaultdict(int)
    for side in ("first", "second"):
        rows = SuggestedPair.objects.filter(**{f"{side}__in": node_ids}).order_by("-is_open", "id")
        for row in rows:
            counts[getattr(row, side)] += 1
            if counts[getattr(row, side)] <= KEPT_PAIRS:
                pair = (row.first, row.second)
                if row not in found.kept[pair]:
                    found.kept[pair].append(row)
                found.pairs.add(pair)


def _add_similar(found: Candidates, node_ids: list[str]) -> None:
    rows = Similarity.objects.order_by("source", "-score", "target").filter(source__in=node_ids)
    taken: dict[str, int] = defaultdict(int)
    for source, target, score in rows.values_list("source", "target", "score"):
        if _prefix(source) == _prefix(target) and _may_repeat(source) and taken[source] < NEIGHBOURS:
            taken[source] += 1
            found.cosines[ends(source, target)] = score
            found.pairs.add(ends(source, target))


def _add_linked(found: Candidates, node_ids: list[str]) -> None:
    touching = Q(source__in=node_ids) | Q(target__in=node_ids)
    asserted = (Relation.CONTRADICTS, Relation.DUPLICATE_OF)
    links = Link.objects.filter(touching, relation__in=[*asserted, Relation.SUPERSEDES]).order_by("-id")
    here, counts = set(node_ids), defaultdict[str, int](int)
    for link in links[: LINKS * max(1, len(node_ids))]:
        if link.relation == Relation.SUPERSEDES:
            found.replaced[link.source].add(link.target)
            continue
        for node_id in {link.source, link.target} & here:
            counts[node_id] += 1
        if max(counts[link.source], counts[link.target]) <= LINKS:
            pair = ends(link.source, link.target)
            found.links[pair][link.relation] = link.source_name or link.source_kind
            found.pairs.add(pair)


def _add_same_text(found: Candidates, node_ids: list[str]) -> None:
    marks = ProjectionMark.objects.order_by().filter(node_id__in=node_ids).exclude(text_hash=None)
    own = {
        (project_id, text_hash)
        for project_id, text_hash in marks.values_list("project_id", "text_hash")
        if text_hash and project_id is not None
    }
    repeated = (
        ProjectionMark.objects.order_by()
        .filter(
            text_hash__in={text_hash for _project, text_hash in own},
            project_id__in={project for project, _hash in own},
        )
        .filter(gone=False)
        .values("project_id", "text_hash")
        .annotate(count=Count("id"))
        .filter(count__gt=1)
    )
    several = {(row["project_id"], row["text_hash"]) for row in repeated}
    for mark in marks if several else ():
        if (mark.project_id, mark.text_hash) in several:
            _add_chain(found, mark)


def _add_chain(found: Candidates, mark: ProjectionMark) -> None:
    """The nearest active ones of the same text before and after; of an inactive one those two with each other."""
    same = ProjectionMark.objects.filter(
        text_hash=mark.text_hash, project_id=mark.project_id, kind=mark.kind, gone=False
    )
    before = list(
        same.filter(id__lt=mark.pk).order_by("-id").values_list("node_id", flat=True)[:LOOKED_AT_ASIDE]
    )
    after = list(
        same.filter(id__gt=mark.pk).order_by("id").values_list("node_id", flat=True)[:LOOKED_AT_ASIDE]
    )
    records = records_by_node_id([mark.node_id, *before, *after], brief=True)
    active = {node_id for node_id, record in records.items() if record.is_active}
    nearest = [next((node_id for node_id in side if node_id in active), None) for side in (before, after)]
    chain = [
        node_id
        for node_id in (nearest[0], mark.node_id if mark.node_id in active else None, nearest[1])
        if node_id
    ]
    found.pairs.update(ends(one, other) for one, other in pairwise(chain))


def _describe(found: Candidates, node_ids: Collection[str]) -> None:
    records = records_by_node_id(node_ids, brief=True)
    hashes = dict(
        ProjectionMark.objects.order_by().filter(node_id__in=records).values_list("node_id", "text_hash")
    )
    words = kept_words(records, {node_id for pair in found.pairs for node_id in pair})
    outcomes = _outcomes(records.values())
    _complete(found, records)
    for node_id, record in records.items():
        kind = kind_of(record)
        found.ends[node_id] = End(
            node_id=node_id,
            kind=kind.name,
            project_id=record.project_id,
            is_active=record.is_active,
            when=getattr(record, kind.when),
            status=kind.status_of(record) or "",
            holds=kind.holds(record),
            outcome=outcomes.get(node_id),
            words=words.get(node_id),
            text_hash=hashes.get(node_id) or "",
        )


def kept_words(records: Mapping[str, Any], node_ids: Collection[str]) -> dict[str, Words]:
    tags: dict[str, list[str]] = defaultdict(list)
    for node_id, tag in RecordTag.objects.filter(node_id__in=node_ids).values_list("node_id", "tag"):
        tags[node_id].append(tag)
    rows = SearchText.objects.order_by().filter(node_id__in=node_ids)
    return {
        node_id: words_of(records[node_id].heading, " ".join(tags[node_id]), kept)
        for node_id, kept in rows.values_list("node_id", "words")
        if node_id in records
    }


def _outcomes(records: Iterable[Any]) -> dict[str, tuple[str, str]]:
    by_kind: dict[str, list[Any]] = defaultdict(list)
    for record in records:
        by_kind[kind_of(record).name].append(record)
    return {
        node_id: badge
        for some in by_kind.values()
        for node_id, badge in kind_of(some[0]).outcome_badges(some).items()
    }


def _complete(found: Candidates, records: Mapping[str, Any]) -> None:
    """Cosines of pairs that are only in the other one's list, and what the other ends supersede."""
    unknown = [pair for pair in found.pairs if pair not in found.cosines]
    if unknown:
        known = {node_id for pair in unknown for node_id in pair}
        rows = Similarity.objects.order_by().filter(source__in=known, target__in=known)
        for source, target, score in rows.values_list("source", "target", "score"):
            found.cosines[ends(source, target)] = score
    links = Link.objects.order_by().filter(
        Q(source__in=records) | Q(target__in=records), relation=Relation.SUPERSEDES
    )
    for source, target in links.values_list("source", "target"):
        found.replaced[source].add(target)


def _prefix(node_id: str) -> str:
    return node_id.partition("_")[0]


def _may_repeat(node_id: str) -> bool:
    parsed = parse_node_id(node_id)
    return parsed is not None and parsed[0].repeats_are_duplicates
