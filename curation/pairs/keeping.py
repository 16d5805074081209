"""Keeps `suggested_pairs` as the records are now. Level-triggered: done again it changes nothing; a verdict stays."""

from __future__ import annotations

from collections.abc import Collection, Iterator, Sequence
from typing import Any

from django.db.models import Q

from curation.models import SuggestedPair
from curation.pairs.candidates import Candidates, Ends, candidates_of
from curation.pairs.judging import End, Suggestion, judged
from database.transactions import transactional
from projects.models import ProjectPolicy
from records.kinds import kind_of
from records.models import ProjectionMark
from records.queries import records_by_node_id

BATCH = 64
FOLLOWED = ("score", "cosine", "words", "why", "is_open", "project_id", "kind")
# Two cosines of the same vectors differ in the last places, by the order of the sums.
SAME = 1e-4


def keep_pairs(node_ids: Collection[str]) -> int:
    """Bring the pairs of these records, gone ones among them, up to date. Returns how many rows changed."""
    ids, changed = sorted(_with_causes(node_ids)), 0
    for start in range(0, len(ids), BATCH):
        found = candidates_of(ids[start : start + BATCH])
        changed += _write(*_differences(found, _thresholds(found.ends.values())))
    return changed


def close_pairs(node_ids: Collection[str]) -> None:
    """These records are hidden: nobody is asked about them. Inside their verb's transaction; they re-open by the worker."""
    ids = list(node_ids)
    for side in ("first", "second"):
        SuggestedPair.objects.filter(**{f"{side}__in": ids}, is_open=True).update(is_open=False)


def project_pages(project_id: int, after: int = 0) -> Iterator[tuple[int, list[str]]]:
    """(last mark's id, node ids) of a project's records, a batch at a time."""
    marks = ProjectionMark.objects.filter(project_id=project_id, gone=False).order_by("id")
    while page := list(marks.filter(id__gt=after).values_list("id", "node_id")[:BATCH]):
        after = page[-1][0]
        yield after, [node_id for _pk, node_id in page]


def _with_causes(node_ids: Collection[str]) -> set[str]:
    """What followed a decision may set it against another: with an outcome comes its decision."""
    records = records_by_node_id(node_ids, brief=True).values()
    causes = {kind_of(record).leads_to(record) for record in records}
    return {*node_ids, *(node_id for node_id in causes if node_id)}


def _thresholds(ends: Collection[End] | Any) -> dict[int, float]:
    projects = {end.project_id for end in ends if end.project_id is not None}
    rows = ProjectPolicy.objects.order_by().filter(project_id__in=projects)
    default = ProjectPolicy().duplicate_cosine
    return dict.fromkeys(projects, default) | dict(rows.values_list("project_id", "duplicate_cosine"))


def _differences(
    found: Candidates, thresholds: dict[int, float]
) -> tuple[list[SuggestedPair], list[SuggestedPair], list[int]]:
    """Rows to insert, rows to change, ids of rows to delete."""
    new, changed, outdated = [], [], []
    for pair in sorted(found.pairs):
        kept = found.kept.get(pair, [])
        if any(row.verdict for row in kept):
            continue
        suggestion, is_open = _judged(found, pair, thresholds)
        outdated += [row.pk for row in kept if suggestion is None or row.sort != suggestion.sort]
        if suggestion is None:
            continue
        wanted = _row(found.ends[pair[0]], pair, suggestion, is_open)
        row = next((row for row in kept if row.sort == suggestion.sort), None)
        if row is None and is_open:
            new.append(wanted)
        elif row is not None and _follow(row, wanted):
            changed.append(row)
    return new, changed, outdated


def _judged(found: Candidates, pair: Ends, thresholds: dict[int, float]) -> tuple[Suggestion | None, bool]:
    one, other = found.ends.get(pair[0]), found.ends.get(pair[1])
    if one is None or other is None or one.project_id is None:
        return None, False
    suggestion = judged(one, other, found.between(pair), thresholds[one.project_id])
    return suggestion, one.is_active and other.is_active


def _row(end: End, pair: Ends, suggestion: Suggestion, is_open: bool) -> SuggestedPair:
    return SuggestedPair(
        project_id=end.project_id,  # type: ignore[misc]  # judged() answers nothing for records of no project
        sort=suggestion.sort,
        kind=end.kind,
        first=pair[0],
        second=pair[1],
        score=suggestion.score,
        cosine=suggestion.cosine,
        words=suggestion.words,
        why=suggestion.why,
        is_open=is_open,
    )


def _follow(row: SuggestedPair, wanted: SuggestedPair) -> bool:
    """Bring a kept row to what is wanted; whether anything of it changed."""
    is_same = all(_same(getattr(row, name), getattr(wanted, name)) for name in FOLLOWED)
    for name in FOLLOWED:
        setattr(row, name, getattr(wanted, name))
    return not is_same


def _same(one: Any, other: Any) -> bool:
    if isinstance(one, float) and isinstance(other, float):
        return abs(one - other) <= SAME
    if isinstance(one, list) and isinstance(other, list) and len(one) == len(other):
        return all(
            a.keys() == b.keys() and all(_same(a[key], b[key]) for key in a)
            for a, b in zip(one, other, strict=True)
        )
    return bool(one == other)


@transactional
def _write(new: Sequence[SuggestedPair], changed: Sequence[SuggestedPair], outdated: Sequence[int]) -> int:
    """A verdict given meanwhile wins: a settled row is neither changed nor deleted, a twin's insert is kept."""
    if outdated:
        SuggestedPair.objects.filter(pk__in=outdated, verdict=None).delete()
    for row in changed:
        columns = {name: getattr(row, name) for name in FOLLOWED}
        SuggestedPair.objects.filter(Q(verdict=None), pk=row.pk).update(**columns)
    SuggestedPair.objects.bulk_create(new, ignore_conflicts=True)
    return len(new) + len(changed) + len(outdated)
