"""What a saved filter finds: the same rows as its page, newest first, for its count, its feed and the digest."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from datetime import datetime
from typing import Any

from django.http import QueryDict
from django.urls import reverse
from django.utils.translation import gettext as _

from curation.history.entries import entry_rows
from curation.history.filters import HistoryFilters
from curation.history.queries import acts_page
from curation.inbox.asked import Asked
from curation.inbox.queues import queue_named
from curation.models import SavedFilter
from projects.models import Project
from records.kinds import Kind, all_kinds
from records.pages.rows import row_of
from records.paging import capped_count
from records.queries import long_columns

INBOX, HISTORY = "inbox:page", "history:list"
# Of the page, not of the filter: where in the list one was, and in which form it was asked for.
NOT_KEPT = ("cursor", "before", "format", "selected", "part", "page_size")
MOST = 50


@dataclass(frozen=True)
class Item:
    """One row. `path` is its page's address on this desk, `when` when it came to be found there, where that is known."""

    title: str
    path: str
    when: datetime | None
    summary: str = ""


@dataclass(frozen=True)
class Found:
    """`count` is capped; `problem` says why the filter can no longer be applied."""

    items: Sequence[Item] = ()
    count: int = 0
    problem: str = ""


def pages() -> dict[str, str]:
    """URL name of a page that filters can be saved of -> what it is called."""
    lists = {kind.list_url_name: str(kind.label_plural) for kind in all_kinds() if kind.filterset}
    return {INBOX: _("inbox"), HISTORY: _("history"), **lists}


def kept_query(query: QueryDict) -> str:
    """The query string as it is kept."""
    kept = query.copy()
    for name in NOT_KEPT:
        kept.pop(name, None)
    return kept.urlencode()


def path_of(saved: SavedFilter, project: Project) -> str:
    address = reverse(saved.page, args=[project.slug])
    return f"{address}?{saved.query}" if saved.query else address


def find(saved: SavedFilter, project: Project, limit: int = MOST) -> Found:
    """The newest of what it finds now. A few queries, however much it finds."""
    query = QueryDict(saved.query)
    if saved.page == INBOX:
        return _in_inbox(Asked(project, query), limit)
    if saved.page == HISTORY:
        return _in_history(query, project, limit)
    kind = next((kind for kind in all_kinds() if kind.list_url_name == saved.page and kind.filterset), None)
    return (
        _in_list(kind, query, project, limit) if kind else Found(problem=_("There is no such page any more."))
    )


def _said(problems: dict[str, Any]) -> str:
    return "; ".join(f"{name}: {' '.join(map(str, found))}" for name, found in problems.items())


def _in_list(kind: Kind, query: QueryDict, project: Project, limit: int) -> Found:
    filters = kind.filterset(
        query, queryset=kind.model.objects.filter(project=project), project_id=project.pk
    )
    if filters.problems:
        return Found(problem=_said(filters.problems))
    rows = filters.rows()
    newest = rows.defer(*long_columns(kind)).order_by("-created_at", "-pk")
    found = list((newest.select_related(*kind.select) if kind.select else newest)[:limit]) if limit else []
    for record in found:
        record.project = project
    items = [_item_of(record) for record in found]
    return Found(items, capped_count(rows))


def _item_of(record: Any) -> Item:
    row = row_of(record)
    facts = [
        row.kind_label,
        row.status_label,
        record.get_review_state_display(),
        *(text for _label, text in row.meta),
    ]
    return Item(row.title, row.url, record.created_at, " · ".join(str(fact) for fact in facts if fact))


def _in_inbox(asked: Asked, limit: int) -> Found:
    queue = queue_named(asked.queue)
    if queue is None:
        return Found(problem=_("There is no such queue."))
    listing = queue.newest(asked, limit)
    if listing.problems:
        return Found(problem=_said(listing.problems))
    items = [
        Item(
            entry.row.title,
            asked.url(selected=entry.key),
            entry.arrived,
            "; ".join(str(text) for text, _warns in entry.whys),
        )
        for entry in listing.entries
    ]
    return Found(items, listing.count)


def _in_history(query: QueryDict, project: Project, limit: int) -> Found:
    filters = HistoryFilters(query, project_id=project.pk)
    if filters.problems:
        return Found(problem=_said(filters.problems))
    rows = filters.rows()
    acts, _rest = acts_page(rows, project.pk) if limit else ([], None)
    items = [
        Item(f"{row.actor} {row.verb} {row.title or row.node_id}".strip(), row.url, row.when, row.reason)
        for row in entry_rows(acts[:limit], project)
    ]
    return Found(items, capped_count(rows))
