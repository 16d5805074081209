"""Pages of sessions."""

from __future__ import annotations

from typing import Any

from django.http import Http404, HttpRequest, HttpResponse
from django.http.response import HttpResponseBase
from django.shortcuts import redirect, render
from django.utils.translation import gettext as _
from django.views.decorators.http import require_http_methods, require_safe

from graph.pages import similar_context
from projects.access import Capability, in_project
from projects.models import Project
from records.actor import Actor
from records.pages.detail import detail_context
from records.pages.editing import expected_version, form_page, posted
from records.pages.listing import list_page
from records.pages.rows import rows_of
from records.queries import record_or_404
from work_sessions import actions, queries
from work_sessions.filters import SessionFilterSet
from work_sessions.forms import EndForm
from work_sessions.kind import SESSION
from work_sessions.models import WorkSession
from work_sessions.pages import session_context, wrote_words


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
        **session_context(session),
        "written": rows_of(queries.written_in(session)),
    }
    return render(request, "work_sessions/detail.html", context)


@require_http_methods(["GET", "POST"])
@in_project(Capability.WRITE)
def session_end(request: HttpRequest, project: Project, pk: int) -> HttpResponse:
    """End it and say what was done; of one that has ended, the summary alone. The same action as the agents' call."""
    session = record_or_404(project, SESSION, pk)
    form = EndForm(posted(request), initial={"summary": session.summary})
    has_ended = session.ended_at is not None

    def act(cleaned: dict[str, Any]) -> WorkSession:
        return actions.end_session(
            actor=Actor.person(request), session=session, summary=cleaned["summary"] or None,
            reason=cleaned["reason"], expected_version=expected_version(request),
        )  # fmt: skip

    return form_page(
        request, form, act, record=session,
        title=_("Summarise the session") if has_ended else _("End the session"),
        submit_label=_("Save the summary") if has_ended else _("End it"),
        template="work_sessions/end.html", wrote=wrote_words(queries.activity_in(session)),
        done_text=lambda saved: _("%s is summarised") % saved.node_id if has_ended else _("%s has ended") % saved.node_id,
    )  # fmt: skip


@require_safe
@in_project()
def by_session_id(request: HttpRequest, project: Project) -> HttpResponse:
    """From the agent's own name of a session to its page."""
    session = queries.session_named(project.pk, request.GET.get("id", ""))
    if session is None:
        raise Http404
    return redirect("work_sessions:detail", project.slug, session.pk)
