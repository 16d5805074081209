"""Reads of the history: its acts, newest first, by keyset on the row's number. Every statement is bounded."""

from __future__ import annotations

import hashlib
from collections.abc import Collection, Iterator, Sequence
from dataclasses import dataclass
from typing import Any

from django.core.cache import cache
from django.db.models import Count, Q, QuerySet

from records.models import Revision
from records.paging import COUNT_EXACT_TO
from records.queries import images_before, newest_revision, records_by_node_id

PAGE = 40
CHUNK = 160
ROUNDS = 25
EXPORTED_A_QUERY = 200
COUNTS_KEPT_SECONDS = 30


@dataclass(frozen=True)
class Counted:
    """How many rows and records one verb of an act touched in the project."""

    verb: str
    rows: int
    records: int


@dataclass(frozen=True)
class Entry:
    """One act as the history shows it: its newest row that the filters find, and what the whole act did."""

    head: Revision
    counts: tuple[Counted, ...] = ()

    @property
    def rows(self) -> int:
        return sum(counted.rows for counted in self.counts) or 1


def acts_page(
    rows: QuerySet[Revision], project_id: int, before: int | None = None, *, folded: bool = True
) -> tuple[list[Entry], int | None]:
    """PAGE acts of the rows found, newest first, and the number before which the next page starts (None at the end).

    Where not `folded`, every row is an entry of its own.
    """
    ids, rest = _heads(rows, before) if folded else _singly(rows, before)
    heads = _in_order(ids)
    counts = _counts({head.act for head in heads if head.act}, project_id) if folded else {}
    return [Entry(head, counts.get(head.act or "", ())) for head in heads], rest


def _singly(rows: QuerySet[Revision], before: int | None) -> tuple[list[int], int | None]:
    ids = list(_older(rows, before).order_by("-pk").values_list("pk", flat=True)[: PAGE + 1])
    return ids[:PAGE], ids[PAGE - 1] if len(ids) > PAGE else None


def _heads(rows: QuerySet[Revision], before: int | None) -> tuple[list[int], int | None]:
    """The newest row of each act."""
    found, rest = first_of_each(rows, "act", before, size=PAGE)
    return [pk for pk, _act in found], rest


def first_of_each(
    rows: QuerySet[Revision], column: str, at: int | None, *, size: int, newest: bool = True
) -> tuple[list[tuple[int, str]], int | None]:
    """The newest (or oldest) row of each value of a column, in order, `size` of them beyond row `at`; and the row
    beyond which the next ones are. Thousands of rows of one value are stepped over by the database, within the index;
    a value that was told on an earlier page is not told again. A row without a value stands for itself."""
    found: list[tuple[int, str]] = []
    seen: set[str] = set()
    start = at
    order = "-pk" if newest else "pk"
    for _round in range(ROUNDS):
        page = _beyond(rows, at, newest)
        if seen:
            page = page.filter(Q(**{column: None}) | ~Q(**{f"{column}__in": sorted(seen)}))
        chunk = list(page.order_by(order).values_list("pk", column)[:CHUNK])
        values = {value for _pk, value in chunk if value} - seen
        told = _told_before(rows, column, values, start, newest)
        for pk, value in chunk:
            if value is None or value not in seen | told:
                if len(found) == size:
                    return found, found[-1][0]
                found.append((pk, value or ""))
                if value is not None:
                    seen.add(value)
        seen |= told
        if len(chunk) < CHUNK:
            return found, None
        at = chunk[-1][0]
    return found, at


def _beyond(rows: QuerySet[Revision], at: int | None, newest: bool) -> QuerySet[Revision]:
    if at is None:
        return rows
    return rows.filter(pk__lt=at) if newest else rows.filter(pk__gt=at)


def _older(rows: QuerySet[Revision], before: int | None) -> QuerySet[Revision]:
    return _beyond(rows, before, True)


def _told_before(
    rows: QuerySet[Revision], column: str, values: Collection[str], start: int | None, newest: bool
) -> set[str]:
    if start is None or not values:
        return set()
    passed = rows.filter(pk__gte=start) if newest else rows.filter(pk__lte=start)
    told = passed.filter(**{f"{column}__in": values}).order_by().values_list(column, flat=True)
    return {value for value in told.distinct() if value}


def _in_order(ids: Sequence[int]) -> list[Revision]:
    found = Revision.objects.select_related("token").in_bulk(list(ids))
    return [found[pk] for pk in ids if pk in found]


def _counts(acts: Collection[str], project_id: int) -> dict[str, tuple[Counted, ...]]:
    """What each act did in this project, by verb in the order of the first row; one statement on the index of acts."""
    if not acts:
        return {}
    rows = Revision.objects.filter(act__in=acts, project_id=project_id).order_by()
    counted: dict[str, list[Counted]] = {}
    for row in rows.values("act", "verb").annotate(
        number=Count("pk"), records=Count("node_id", distinct=True)
    ):
        counted.setdefault(str(row["act"]), []).append(Counted(row["verb"], row["number"], row["records"]))
    return {act: tuple(sorted(found, key=lambda each: -each.rows)) for act, found in counted.items()}


def count_of(rows: QuerySet[Revision], project_id: int, asked: Any) -> int:
    """How many rows are found, exact up to COUNT_EXACT_TO; kept until the project's history moves.

    Counted in the order in which they are read: without one MySQL takes an index that answers the project alone.
    """
    known = repr([project_id, newest_revision(project_id), asked]).encode("utf-8", "backslashreplace")
    key = f"history.count.{hashlib.sha256(known).hexdigest()}"
    kept: int | None = cache.get(key)
    if kept is None:
        kept = rows.order_by("-pk").values("pk")[: COUNT_EXACT_TO + 1].count()
        cache.set(key, kept, COUNTS_KEPT_SECONDS)
    return kept


def change_of(project_id: int, pk: int) -> Revision | None:
    """One row of the project's history."""
    return Revision.objects.select_related("token").filter(project_id=project_id, pk=pk).first()


def records_of(revisions: Sequence[Revision], project_id: int) -> dict[str, Any]:
    """The records that these rows are about, by node id, as far as they still are in the project."""
    return records_by_node_id({revision.node_id for revision in revisions}, [project_id], brief=True)


def all_changes(rows: QuerySet[Revision]) -> Iterator[tuple[Revision, dict[str, Any]]]:
    """Every row found, newest first, with the image before it; read page by page."""
    before: int | None = None
    while True:
        ids = list(_older(rows, before).order_by("-pk").values_list("pk", flat=True)[:EXPORTED_A_QUERY])
        found = _in_order(ids)
        earlier = images_before(found)
        for revision in found:
            yield revision, earlier.get(revision.pk, {})
        if len(ids) < EXPORTED_A_QUERY:
            return
        before = ids[-1]
