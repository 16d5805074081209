"""The blast radius of one origin, and its quarantine."""

from __future__ import annotations

from typing import Any

from django.contrib import messages
from django.http import HttpRequest, HttpResponse
from django.shortcuts import render
from django.utils.translation import gettext as _
from django.utils.translation import ngettext
from django.views.decorators.http import require_POST, require_safe

from curation.history.filters import HistoryFilters
from curation.history.views import number_of
from curation.radius import actions, queries
from curation.radius.picture import picture_of
from curation.radius.rows import derived_rows, reader_rows, written_rows
from projects.access import Capability, in_project
from projects.models import Project
from projects.responses import SeeOther
from records.actor import Actor
from records.errors import InvalidInput
from records.pages.editing import refused, tell_refused, undo_url
from records.paging import count_label

ORIGINS = ("run", "session", "act", "token", "agent", "person")
OWN = ("after",)


@require_safe
@in_project()
def page(request: HttpRequest, project: Project) -> HttpResponse:
    """`/p/shop/radius/?run=run_…`: takes the filters of the history; one of ORIGINS, or a door and when."""
    filters = HistoryFilters(request.GET, project_id=project.pk, other=OWN)
    problems = _problems(request, filters)
    context: dict[str, Any] = {"filter": filters, "chips": filters.chips(request.path), "problems": problems}
    context["asked"] = bool(filters.asked)
    if problems or not _names_an_origin(filters):
        return render(request, "radius/page.html", context, status=422 if problems else 200)
    return render(request, "radius/page.html", context | _context(request, project, filters))


def _problems(request: HttpRequest, filters: HistoryFilters) -> dict[str, list[str]]:
    problems = filters.problems
    if request.GET.get("after") and number_of(request.GET["after"]) is None:
        problems["after"] = [_("This page link is not of this list; start from its first page.")]
    if filters.asked and not _names_an_origin(filters) and not problems:
        said = _(
            "Name where it began: a run, a session, an act, a token, an agent or a person; or a door and when."
        )
        problems["origin"] = [said]
    return problems


def _names_an_origin(filters: HistoryFilters) -> bool:
    return bool(set(filters.asked) & set(ORIGINS)) or {"door", "when"} <= set(filters.asked)


def _own(filters: HistoryFilters) -> dict[str, str]:
    """The run or session, where that alone is the origin."""
    if len(filters.asked) != 1:
        return {}
    return {name: filters.asked[name][0] for name in ("run", "session") if name in filters.asked}


def _context(request: HttpRequest, project: Project, filters: HistoryFilters) -> dict[str, Any]:
    rows, after = filters.rows(), number_of(request.GET.get("after", ""))
    radius = queries.radius_of(rows, project, after=after, **_own(filters))
    query = filters.data.copy()
    query.pop("after", None)
    first = query.urlencode()
    query["after"] = str(radius.next_part or "")
    count = max(queries.written_count(rows), len(radius.written))
    return {
        "radius": radius,
        "written": written_rows(radius),
        "derived": derived_rows(radius),
        "readers": reader_rows(radius, project.slug),
        "picture": picture_of(radius, " · ".join(chip.value for chip in filters.chips(request.path))),
        "count_label": count_label(count),
        "count": count,
        "is_part": bool(after) or radius.next_part is not None,
        "query": first,
        "first_url": f"{request.path}?{first}" if after else None,
        "next_url": f"{request.path}?{query.urlencode()}" if radius.next_part else None,
        "derived_most": queries.DERIVED_MOST,
        "reads_most": queries.READS_MOST,
    }


@require_POST
@in_project(Capability.REVIEW)
def quarantine(request: HttpRequest, project: Project) -> HttpResponse:
    """What was ticked (`what=selected`), or all that the origin of the address wrote and what derives from it."""
    filters = HistoryFilters(request.GET, project_id=project.pk, other=OWN)
    back = f"{request.path.removesuffix('quarantine/')}?{request.GET.urlencode()}"
    reason = request.POST.get("reason", "")
    try:
        if filters.problems or not _names_an_origin(filters):
            raise InvalidInput({"__all__": [_("The address names no origin.")]})
        if request.POST.get("what") == "all":
            node_ids = actions.whole_radius(filters.rows(), project, **_own(filters))
        else:
            node_ids = request.POST.getlist("node_id")
        if not node_ids:
            raise InvalidInput({"__all__": [_("Nothing was selected.")]})
        outcome, act = actions.quarantine(node_ids, project, actor=Actor.person(request), reason=reason)
    except InvalidInput as error:
        return refused(request, error, back)
    number = len(outcome.updated)
    said = ngettext("Quarantined %(n)s record", "Quarantined %(n)s records", number) % {"n": f"{number:,}"}
    messages.success(request, said, extra_tags=undo_url(request, act))
    tell_refused(request, outcome)
    return SeeOther(back)
