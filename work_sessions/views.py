"""Pages of sessions."""

from __future__ import annotations

from django.http import Http404, HttpRequest, HttpResponse
from django.http.response import HttpResponseBase
from django.shortcuts import redirect, render
from django.views.decorators.http import require_safe

from graph.pages import similar_context
from projects.access import in_project
from projects.models import Project
from records.pages.detail import detail_context
from records.pages.listing import list_page
from records.pages.rows import rows_of
from records.queries import record_or_404
from work_sessions import queries
from work_sessions.filters import SessionFilterSet
from work_sessions.kind import SESSION


@require_safe
@in_project()
def session_list(request: HttpRequest, project: Project) -> HttpResponseBase:
    return list_page(request, project, SESSION, SessionFilterSet, "records/list.html")


@require_safe
@in_project()
def session_detail(request: HttpRequest, project: Project, pk: int) -> HttpResponse:
    session = record_or_404(project, SESSION, pk)
    context = {
        **detail_context(request, session),
        **similar_context(session),
        "written": rows_of(queries.written_in(session)),
    }
    return render(request, "work_sessions/detail.html", context)


@require_safe
@in_project()
def by_session_id(request: HttpRequest, project: Project) -> HttpResponse:
    """From the agent's own name of a session to its page."""
    session = queries.session_named(project.pk, request.GET.get("id", ""))
    if session is None:
        raise Http404
    return redirect("work_sessions:detail", project.slug, session.pk)
