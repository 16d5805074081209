"""What a session or run wrote, reviewed record by record with one key, or whole."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

from django.contrib import messages
from django.core.exceptions import ValidationError
from django.http import Http404, HttpRequest, HttpResponse
from django.utils.translation import gettext as _
from django.utils.translation import ngettext
from django.views.decorators.http import require_POST, require_safe

from curation.inbox.asked import shown_versions
from curation.written import actions, queries
from curation.written.queries import Source, is_waiting
from projects.access import Capability, in_project
from projects.models import Project
from projects.responses import SeeOther
from records.actor import Actor
from records.errors import InvalidInput
from records.pages.editing import refused, tell_refused, undo_url
from records.pages.history import VERBS
from records.pages.listing import page_or_part
from records.pages.rows import row_of
from records.queries import records_by_node_id
from records.validation import check_text


@require_safe
@in_project()
def page(request: HttpRequest, project: Project) -> HttpResponse:
    """`/p/shop/written/?session=ses-8841` or `?run=run_…`: a part of the page of a session or run, and a page itself."""
    source = _source(request, project)
    records, rest = queries.written_part(source, request.GET.get("after", ""))
    query = request.GET.copy()
    query.pop("at", None)
    here = query.urlencode()
    query.pop("after", None)
    own = query.urlencode()
    query["after"] = rest
    context: dict[str, Any] = {
        "session": source.session,
        "run": source.run,
        "written": [(row_of(record), is_waiting(record)) for record in records],
        "waiting": sum(1 for record in records if is_waiting(record)),
        "focus": _next_waiting(records, request.GET.get("at", "")),
        "query": own,
        "here": here,
        "next_url": f"{request.path}?{query.urlencode()}" if rest else None,
        "first_url": f"{request.path}?{own}" if request.GET.get("after") else None,
    }
    return page_or_part(request, "written/page.html", "written/_written.html", context)


def _source(request: HttpRequest, project: Project) -> Source:
    session, run = (request.GET.get(name) or request.POST.get(name, "") for name in ("session", "run"))
    try:
        check_text(session + run)
    except ValidationError as error:
        raise Http404 from error
    if bool(session) == bool(run) or len(session + run) > 255:
        raise Http404
    return Source(project, session, run)


def _next_waiting(records: Sequence[Any], node_id: str) -> str:
    """The next one to look at after this one was reviewed; the first where it was the last."""
    names = [record.node_id for record in records]
    at = names.index(node_id) + 1 if node_id in names else 0
    waiting = [record.node_id for record in (*records[at:], *records[:at]) if is_waiting(record)]
    return waiting[0] if waiting and node_id else ""


@require_POST
@in_project(Capability.REVIEW)
def review(request: HttpRequest, project: Project) -> HttpResponse:
    """`one=approved:dec_12` reviews that record, `all=approved` all of it that is still unreviewed, as one act."""
    source = _source(request, project)
    query = request.GET.copy()
    reason = request.POST.get("reason", "")
    shown = shown_versions(request.POST.getlist("shown"))
    versions = {node_id: version for node_id, version in shown if version is not None}
    options: dict[str, Any] = {"actor": Actor.person(request), "reason": reason, "versions": versions}
    state, _colon, node_id = request.POST.get("one", "").partition(":")
    query["at"] = node_id
    back = f"{request.path.removesuffix('review/')}?{query.urlencode()}"
    try:
        if node_id:
            records = list(records_by_node_id([node_id], [project.pk]).values())
            if not records:
                raise Http404
            outcome, act = actions.review_all(records, state, **options)
        else:
            state = request.POST.get("all", "")
            outcome, act = actions.review_waiting(source, state, **options)
    except InvalidInput as error:
        return refused(request, error, back)
    _tell(request, state, outcome, act)
    return SeeOther(back)


def _tell(request: HttpRequest, state: str, outcome: Any, act: str) -> None:
    number = len(outcome.updated)
    verb = VERBS[actions.STATES[state]]
    if number == 1:
        said = f"{outcome.record.node_id}: {verb}"
    else:
        records = ngettext("%(n)s record", "%(n)s records", number) % {"n": f"{number:,}"}
        said = f"{records}: {verb}"
    if number or not outcome.refused:
        undone_at = undo_url(request, act) if number else ""
        messages.success(request, said if number else _("Nothing was waiting."), extra_tags=undone_at)
    tell_refused(request, outcome)
