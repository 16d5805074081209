"""A kind's list page: filters of the URL, keyset paging, count, and the same rows as CSV or JSON."""

from __future__ import annotations

import hashlib
from collections.abc import Callable
from typing import Any

from django.core.cache import cache
from django.http import HttpRequest, HttpResponse
from django.http.response import HttpResponseBase
from django.shortcuts import render
from django.utils.cache import patch_vary_headers
from django.utils.timezone import get_current_timezone
from django.utils.translation import gettext as _

from projects.models import Project
from records.errors import InvalidInput
from records.filters import RecordFilterSet
from records.kinds import Kind
from records.pages.exports import FORMATS, export
from records.pages.rows import rows_of
from records.paging import Page, count_label, paginate
from records.queries import long_columns, newest_revision

REGION = "#listing"
COUNTS_KEPT_SECONDS = 30
NOT_OF_PAGES = ("page_size", "project")  # the API's


def list_page(
    request: HttpRequest,
    project: Project,
    kind: Kind,
    filterset: type[RecordFilterSet],
    template: str,
    more: Callable[[Any], dict[str, Any]] | None = None,
    **context: Any,
) -> HttpResponseBase:
    """The page, its swapped region for htmx, or a download. A filter that cannot be applied is explained with a 422.

    `more` gives what else the first page shows of the filter that was applied; `above_rows` names its template.
    """
    filters = filterset(
        request.GET, queryset=kind.model.objects.filter(project=project), project_id=project.pk
    )
    form = request.GET.get("format", "")
    if form in FORMATS and not filters.problems:
        return export(filters.rows(), filters.sort, kind, form, project.slug)
    problems = filters.problems | {
        name: [_("There is no such filter.")] for name in NOT_OF_PAGES if name in request.GET
    }
    if form and form not in FORMATS:
        problems["format"] = [_("Must be one of: %s.") % ", ".join(FORMATS)]
    # The project is at hand: joining it makes SQLite sort the whole project instead of walking the index.
    rows = filters.rows().defer(*long_columns(kind))
    if kind.select:
        rows = rows.select_related(*kind.select)
    try:
        page = paginate(rows, filters.sort, request.GET.get("cursor"))
    except InvalidInput as error:
        problems |= error.errors
        page = Page([], None, None)
    for record in page.items:
        record.project = project
    count, hidden = (0, 0) if problems else _counts(filters, project, kind)
    chips = filters.chips(request.path)
    if more is not None and not problems and "cursor" not in request.GET:
        context |= more(filters)
    context |= {
        "kind": kind,
        "filter": filters,
        "chips": chips,
        "problems": problems,
        "rows": rows_of(page.items),
        "count": count,
        "noun": kind.label if count == 1 else kind.label_plural,
        "count_label": count_label(count),
        "hidden_count": hidden,
        "sorts": [
            (sort.name, sort.label, _url(request, sort=sort.name, cursor=None)) for sort in filters.sorts
        ],
        "sort": filters.sort.name,
        "next_url": _url(request, cursor=page.next_cursor) if page.next_cursor else None,
        "previous_url": _url(request, cursor=page.previous_cursor) if page.previous_cursor else None,
        "csv_url": _url(request, format="csv", cursor=None),
        "json_url": _url(request, format="json", cursor=None),
        "show_all_url": _url(request, show="all", cursor=None),
        "region": REGION,
        "is_filtered": bool(chips),
    }
    return page_or_part(request, template, "records/_listing.html", context, status=422 if problems else 200)


def _counts(filters: RecordFilterSet, project: Project, kind: Kind) -> tuple[int, int]:
    """How many rows the filters find, and how many of them are hidden; capped.

    Kept until the project's history moves (every act writes a revision, a plain-SQL one with its sweep): they cost as
    much as all else of a page of 10,000.
    """
    newest = newest_revision(project.pk)
    asked = [project.pk, kind.name, newest, str(get_current_timezone()), sorted(filters.asked.items())]
    key = f"list.counts.{hashlib.sha256(repr(asked).encode('utf-8', 'backslashreplace')).hexdigest()}"
    kept: tuple[int, int] | None = cache.get(key)
    if kept is None:
        kept = filters.counts()
        cache.set(key, kept, COUNTS_KEPT_SECONDS)
    return kept


def page_or_part(
    request: HttpRequest, page: str, part: str, context: dict[str, Any], status: int = 200
) -> HttpResponse:
    """The part for an htmx swap, else the whole page; caches are told that the two differ."""
    htmx = request.htmx  # type: ignore[attr-defined]
    swapped = htmx and not htmx.history_restore_request and htmx.target != "main"  # an undo takes it whole
    response = render(request, part if swapped else page, context, status=status)
    patch_vary_headers(response, ["HX-Request", "HX-History-Restore-Request", "HX-Target"])
    return response


def _url(request: HttpRequest, **changes: str | None) -> str:
    query = request.GET.copy()
    for name, value in changes.items():
        query.pop(name, None)
        if value is not None:
            query[name] = value
    if "format" not in changes:
        query.pop("format", None)
    encoded = query.urlencode()
    return f"{request.path}?{encoded}" if encoded else request.path
