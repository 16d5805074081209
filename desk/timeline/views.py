"""The time line: everything that happened, by time, each day with an address."""

from __future__ import annotations

from typing import Any

from django.http import HttpRequest, HttpResponse
from django.views.decorators.http import require_safe

from desk.timeline.forms import TimelineFilter
from desk.timeline.queries import Page, events_page
from desk.timeline.rows import days_of_events
from projects.access import in_project
from projects.models import Project
from records.errors import InvalidInput
from records.pages.listing import page_or_part


@require_safe
@in_project()
def timeline_page(request: HttpRequest, project: Project) -> HttpResponse:
    """`/p/shop/timeline/?when=March 15th&what=decision`: days are those of the reader's zone."""
    filters = TimelineFilter(request.GET)
    problems = filters.problems
    page = Page([], None)
    if not problems:
        try:
            page = events_page(
                filters.wanted(project), filters.cleaned_data["what"], request.GET.get("cursor", "")
            )
        except InvalidInput as error:
            problems = error.errors
    chips = filters.chips(request.path)
    query = request.GET.copy()
    query.pop("cursor", None)
    context: dict[str, Any] = {
        "filter": filters,
        "chips": chips,
        "problems": problems,
        "days": days_of_events(page.events),
        "newest_url": _address(request, query.urlencode()) if request.GET.get("cursor") else "",
        "region": "#timeline",
    }
    if page.next_cursor:
        query["cursor"] = page.next_cursor
        context["next_url"] = _address(request, query.urlencode())
    status = 422 if problems else 200
    return page_or_part(request, "desk/timeline.html", "desk/_timeline.html", context, status=status)


def _address(request: HttpRequest, query: str) -> str:
    return f"{request.path}?{query}" if query else request.path
