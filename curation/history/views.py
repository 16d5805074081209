"""The history of a project, and one change of it."""

from __future__ import annotations

from typing import Any

from django.http import Http404, HttpRequest
from django.http.response import HttpResponseBase
from django.utils import timezone
from django.utils.translation import gettext as _
from django.views.decorators.http import require_safe

from curation.history import queries
from curation.history.entries import entry_rows, revision_rows
from curation.history.exports import FORMATS, export_changes
from curation.history.filters import HistoryFilters
from projects.access import in_project
from projects.models import Project
from records.pages.listing import page_or_part
from records.paging import count_label

REGION = "#changes"


def number_of(text: str) -> int | None:
    return int(text) if text.isascii() and text.isdecimal() and len(text) < 19 else None


@require_safe
@in_project()
def history(request: HttpRequest, project: Project) -> HttpResponseBase:
    """`/p/shop/history/?agent=order-bot&when=last+week`: every change, newest first, an act in one entry."""
    filters = HistoryFilters(request.GET, project_id=project.pk)
    problems, form = filters.problems, request.GET.get("format", "")
    if form and form not in FORMATS:
        problems["format"] = [_("Must be one of: %s.") % ", ".join(FORMATS)]
    before = request.GET.get("before", "")
    if before and number_of(before) is None:
        problems["before"] = [_("This page link is not of this list; start from its first page.")]
    if form and not problems:
        return export_changes(filters.rows(), form, project.slug)
    rows = filters.rows()
    folded = "act" not in filters.asked
    found, rest = ([], None) if problems else queries.acts_page(
        rows, project.pk, number_of(before), folded=folded
    )  # fmt: skip
    # "Today" is another day tomorrow, and elsewhere.
    asked = [sorted(filters.asked.items()), str(timezone.localdate()), timezone.get_current_timezone_name()]
    count = 0 if problems else queries.count_of(rows, project.pk, asked)
    act = filters.asked.get("act", [""])[0]
    context: dict[str, Any] = {
        "filter": filters,
        "chips": filters.chips(request.path),
        "problems": problems,
        "entries": entry_rows(found, project),
        "act": "" if problems or not found else act,
        "count": count,
        "count_label": count_label(count),
        "noun": _("change") if count == 1 else _("changes"),
        "older_url": _address(request, before=str(rest)) if rest else None,
        "newest_url": _address(request, before=None) if before else None,
        "csv_url": _address(request, before=None, format="csv"),
        "json_url": _address(request, before=None, format="json"),
        "radius_query": _radius_query(filters),
        "region": REGION,
        "is_filtered": bool(filters.asked),
    }
    return page_or_part(
        request, "history/list.html", "history/_changes.html", context, status=422 if problems else 200
    )


@require_safe
@in_project()
def change(request: HttpRequest, project: Project, pk: int) -> HttpResponseBase:
    """One change, with every word of it."""
    revision = queries.change_of(project.pk, pk)
    if revision is None:
        raise Http404
    (row,) = revision_rows([revision], project, whole=True)
    return page_or_part(request, "history/change.html", "history/_diffs.html", {"entry": row})


def _address(request: HttpRequest, **changes: str | None) -> str:
    query = request.GET.copy()
    for name in ("format", *changes):
        query.pop(name, None)
    for name, value in changes.items():
        if value is not None:
            query[name] = value
    encoded = query.urlencode()
    return f"{request.path}?{encoded}" if encoded else request.path


def _radius_query(filters: HistoryFilters) -> str:
    """The filters as the blast radius takes them; empty where they name no origin."""
    if filters.problems or not set(filters.asked) & {"session", "run", "act", "token", "agent", "person"}:
        return ""
    query = filters.data.copy()
    for name in ("before", "format"):
        query.pop(name, None)
    return str(query.urlencode())
