"""The two queues of single records: to review, and stale. Both walk the attention table by one of its indexes."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import replace
from datetime import datetime, timedelta
from itertools import chain
from typing import Any

from django.db.models import QuerySet
from django.http import HttpRequest
from django.utils import timezone
from django.utils.translation import gettext as _t
from django.utils.translation import gettext_lazy as _

from curation.inbox.asked import Asked
from curation.inbox.filters import InboxFilter
from curation.inbox.pane import record_pane
from curation.inbox.queues import Entry, Listing, Pane, Queue, register
from curation.inbox.wording import whys_of
from projects.models import Project
from projects.queries import policy_of
from records.attention import SETTLED, WAITING, causes_in
from records.errors import InvalidInput
from records.kinds import all_kinds
from records.models import Attention, Revision
from records.pages.rows import row_of
from records.paging import PAGE_SIZE, Page, Sort, capped_count, capped_counts, end_cursor, paginate
from records.queries import records_in
from records.undo_step import UNDO

SORTS = (
    Sort("newest", _("newest first"), "arrived_at"),
    Sort("risk", _("riskiest first"), "risk"),
)
# What brings a record back that was settled or put away.
BACK = ("quarantine", "unreview", "restore", UNDO)
DOUBTED = Sort("doubted", _("doubted first"), "risk")
UNTOUCHED = Sort("untouched", _("longest untouched"), "touched_at", descending=False)


# --- To review ---------------------------------------------------------------------------------------------------
def waiting(project: Project) -> QuerySet[Attention]:
    return Attention.objects.filter(project_id=project.pk, standing=WAITING)


def waiting_matching(asked: Asked) -> tuple[QuerySet[Attention], InboxFilter]:
    filters = InboxFilter(asked)
    return filters.narrowed(waiting(asked.project)), filters


def _review_page(asked: Asked, rows: QuerySet[Attention], problems: dict[str, list[str]]) -> tuple[Page, str]:
    """One page of them, and the name of its order."""
    sort = next((sort for sort in SORTS if sort.name == asked.sort), SORTS[0])
    problems |= _problem_of_sort(asked)
    return _page(rows, sort, asked.cursor, problems), sort.name


def _review_listing(asked: Asked) -> Listing:
    rows, filters = waiting_matching(asked)
    problems = dict(filters.problems)
    page, sort = _review_page(asked, rows, problems)
    return Listing(
        entries=entries_of(page.items, asked.project),
        count=0 if problems else capped_count(rows),
        next_cursor=page.next_cursor,
        previous_cursor=page.previous_cursor,
        sort=sort,
        filter=filters,
        problems=problems,
    )


def _review_keys(asked: Asked) -> list[str]:
    rows, filters = waiting_matching(asked)
    return [row.node_id for row in _review_page(asked, rows, dict(filters.problems))[0].items]


def _review_newest(asked: Asked, most: int) -> Listing:
    """By when they were written or came back, whatever order the address asks for."""
    rows, filters = waiting_matching(asked)
    problems = dict(filters.problems) | _problem_of_sort(asked)
    if problems:
        return Listing([], problems=problems)
    back = _came_back(asked.project, most)
    found = {row.node_id: row for row in rows.order_by("-arrived_at", "-pk")[:most]}
    found |= {row.node_id: row for row in rows.filter(node_id__in=back)} if back else {}
    since = {
        node_id: max(row.arrived_at, back.get(node_id, row.arrived_at)) for node_id, row in found.items()
    }
    newest = sorted(found.values(), key=lambda row: (since[row.node_id], row.pk), reverse=True)[:most]
    entries = [replace(entry, arrived=since[entry.key]) for entry in entries_of(newest, asked.project)]
    return Listing(entries, count=capped_count(rows))


def _came_back(project: Project, most: int) -> dict[str, datetime]:
    """What was quarantined, restored or said to be unreviewed lately, and when."""
    rows = Revision.objects.filter(project_id=project.pk, verb__in=BACK).order_by("-pk")
    found: dict[str, datetime] = {}
    for node_id, changed, when in rows.values_list("node_id", "changed", "created_at")[:most]:
        if {"review_state", "archived_at", "merged_into"} & set(changed or ()):
            found.setdefault(node_id, when)
    return found


def _problem_of_sort(asked: Asked) -> dict[str, list[str]]:
    names = [sort.name for sort in SORTS]
    return {"sort": [_t("Must be one of: %s.") % ", ".join(names)]} if asked.sort not in ("", *names) else {}


def _page(
    rows: QuerySet[Any], sort: Sort, cursor: str | None, problems: dict[str, list[str]], size: int = PAGE_SIZE
) -> Page:
    try:
        return paginate(rows.none() if problems else rows, sort, cursor, size)
    except InvalidInput as error:
        problems |= error.errors
        return Page([], None, None)


def entries_of(rows: Sequence[Attention], project: Project, extra: str = "") -> list[Entry]:
    """Their records, one query a kind; one that has just gone is left out."""
    records = records_in(project, [row.node_id for row in rows], brief=True)
    entries = []
    for row in rows:
        record = records.get(row.node_id)
        if record is None:
            continue
        whys = whys_of(causes_in(row.why))
        if row.risk == 0 and extra:
            whys = [(extra, False)]
        value = f"{row.node_id}:{record.version}"
        entries.append(Entry(row.node_id, row_of(record), whys, value=value, arrived=row.arrived_at))
    return entries


def _review_pane(request: HttpRequest, asked: Asked) -> Pane | None:
    row = waiting(asked.project).filter(node_id=asked.selected).first() if asked.selected else None
    return record_pane(request, asked, row, "review") if row is not None else None


# --- Stale -------------------------------------------------------------------------------------------------------
def ageing_kinds() -> list[str]:
    """Those whose records claim something that may stop being so; what happened once stays as it was."""
    return [kind.name for kind in all_kinds() if kind.repeats_are_duplicates]


def _settled(project: Project) -> QuerySet[Attention]:
    return Attention.objects.filter(project_id=project.pk, standing=SETTLED, kind__in=ageing_kinds())


def doubted(project: Project) -> QuerySet[Attention]:
    """Approved, and something newer than their last confirmation speaks against them."""
    return _settled(project).filter(risk__gt=0)


def stale_days(project: Project) -> int | None:
    """After how many days the project's policy lets what nobody touched be asked about."""
    return policy_of(project.pk).stale_after_days


def untouched(project: Project, days: int | None) -> QuerySet[Attention]:
    """Approved, and neither written, confirmed, used nor read for so many days; none where the policy never asks."""
    if days is None:
        return Attention.objects.none()
    return _settled(project).filter(risk=0, touched_at__lt=timezone.now() - timedelta(days=days))


def stale(project: Project) -> list[QuerySet[Attention]]:
    return [doubted(project), untouched(project, stale_days(project))]


def _stale_page(
    asked: Asked, first: QuerySet[Attention], then: QuerySet[Attention], problems: dict[str, list[str]]
) -> Page:
    """The doubted, riskiest first, then the untouched: two walks of two indexes, one after the other, in both
    directions."""
    problems |= _no_sort(asked)
    items, cursor, next_cursor, previous_cursor = [], asked.cursor, None, None
    if cursor is None or not _is_of(cursor, UNTOUCHED, then):
        page = _page(first, DOUBTED, cursor, problems)
        items, next_cursor, previous_cursor, cursor = page.items, page.next_cursor, page.previous_cursor, None
    if next_cursor is None:
        page = _page(then, UNTOUCHED, cursor, problems, max(1, PAGE_SIZE - len(items)))
        if not items:
            is_first = page.previous_cursor is None and asked.cursor is not None and first.exists()
            previous_cursor = end_cursor(DOUBTED, 0) if is_first else page.previous_cursor
        items, next_cursor = [*items, *page.items], page.next_cursor
    return Page(items, next_cursor, previous_cursor)


def _stale_listing(asked: Asked) -> Listing:
    filters, days = InboxFilter(asked), stale_days(asked.project)
    first, then = map(filters.narrowed, (doubted(asked.project), untouched(asked.project, days)))
    problems = dict(filters.problems)
    page = _stale_page(asked, first, then, problems)
    return Listing(
        entries=entries_of(page.items, asked.project, _t("untouched for more than %s days") % days),
        count=0 if problems else sum(capped_counts([first, then])),
        next_cursor=page.next_cursor,
        previous_cursor=page.previous_cursor,
        filter=filters,
        problems=problems,
    )


def _stale_keys(asked: Asked) -> list[str]:
    (first, then), filters = stale_matching(asked)
    return [row.node_id for row in _stale_page(asked, first, then, dict(filters.problems)).items]


def _no_sort(asked: Asked) -> dict[str, list[str]]:
    return {"sort": [_t("There is no other order here.")]} if asked.sort else {}


def _stale_newest(asked: Asked, most: int) -> Listing:
    """The doubted, of which nobody knows since when, then what has been untouched for too long since lately."""
    filters, days = InboxFilter(asked), stale_days(asked.project)
    doubts, then = map(filters.narrowed, (doubted(asked.project), untouched(asked.project, days)))
    if problems := dict(filters.problems) | _no_sort(asked):
        return Listing([], problems=problems)
    old = list(then.order_by("-touched_at", "-pk")[:most])
    since = {row.node_id: row.touched_at + timedelta(days=days or 0) for row in old}
    found = [*doubts.order_by("-risk", "-pk")[:most], *old][:most]
    entries = entries_of(found, asked.project, _t("untouched for more than %s days") % days)
    entries = [replace(entry, arrived=since.get(entry.key)) for entry in entries]
    return Listing(entries, count=sum(capped_counts([doubts, then])))


def _is_of(cursor: str, sort: Sort, rows: QuerySet[Any]) -> bool:
    try:
        paginate(rows.none(), sort, cursor)
    except InvalidInput:
        return False
    return True


def _stale_pane(request: HttpRequest, asked: Asked) -> Pane | None:
    if not asked.selected:
        return None
    for rows in stale(asked.project):
        row = rows.filter(node_id=asked.selected).first()
        if row is not None:
            return record_pane(request, asked, row, "stale")
    return None


def stale_matching(asked: Asked) -> tuple[list[QuerySet[Attention]], InboxFilter]:
    filters = InboxFilter(asked)
    return [filters.narrowed(rows) for rows in stale(asked.project)], filters


def _ids_of(*parts: QuerySet[Attention]) -> Iterator[str]:
    """Newest arrivals last, as they would be walked through; nothing is read twice."""
    return chain.from_iterable(part.order_by("id").values_list("node_id", flat=True) for part in parts)


REVIEW = register(
    Queue(
        key="review",
        label=_("To review"),
        order=0,
        counted=lambda project: [waiting(project)],
        listing=_review_listing,
        keys=_review_keys,
        newest=_review_newest,
        pane=_review_pane,
        sorts=[(sort.name, sort.label) for sort in SORTS],
        bulk=("approve", "reject", "quarantine", "archive"),
        matching=lambda asked: _ids_of(waiting_matching(asked)[0]),
        empty=(
            _("Inbox zero"),
            _(
                "Every memory has been reviewed. New ones arrive here as agents write them; nothing else is asked of you."
            ),
        ),
    )
)
STALE = register(
    Queue(
        key="stale",
        label=_("Stale"),
        order=30,
        counted=stale,
        listing=_stale_listing,
        keys=_stale_keys,
        newest=_stale_newest,
        pane=_stale_pane,
        bulk=("confirm", "archive"),
        matching=lambda asked: _ids_of(*stale_matching(asked)[0]),
        empty=(
            _("Nothing is stale"),
            _("Every approved memory was used or confirmed lately, and nothing newer speaks against one."),
        ),
    )
)
