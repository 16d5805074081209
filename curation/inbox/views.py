"""Pages of the inbox."""

from __future__ import annotations

from django.http import Http404, HttpRequest, HttpResponse
from django.shortcuts import render
from django.utils.translation import gettext as _
from django.views.decorators.http import require_POST, require_safe

from curation.inbox.actions import act_on
from curation.inbox.asked import Asked
from curation.inbox.diffs import diff_rows
from curation.inbox.page import frame_context, next_key, pane_context, queue_or_404
from projects.access import Capability, in_project
from projects.models import Project
from records.actor import Actor
from records.acts import one_act
from records.errors import Conflict, InvalidInput, Refused
from records.pages.editing import done, expected_version, refused
from records.pages.history import VERBS
from records.pages.listing import page_or_part
from records.pages.rows import row_of
from records.queries import record_or_404_by_node, records_by_node_id


@require_safe
@in_project()
def inbox(request: HttpRequest, project: Project) -> HttpResponse:
    """The whole page; htmx takes of it the parts that it shows."""
    context = frame_context(request, Asked.of(request, project))
    return render(request, "inbox/page.html", context, status=422 if context["listing"].problems else 200)


@require_safe
@in_project()
def pane(request: HttpRequest, project: Project) -> HttpResponse:
    """The open entry alone, for those who walk through the list."""
    return render(request, "inbox/_pane.html", pane_context(request, Asked.of(request, project)))


@require_safe
@in_project()
def diff(request: HttpRequest, project: Project, node_id: str, other_id: str) -> HttpResponse:
    """What differs between two records, word by word."""
    records = records_by_node_id([node_id, other_id], [project.pk])
    one, other = records.get(node_id), records.get(other_id)
    if one is None or other is None or type(one) is not type(other):
        raise Http404
    context = {"one": row_of(one), "other": row_of(other), "rows": diff_rows(other, one)}
    return page_or_part(request, "inbox/diff.html", "inbox/_diff.html", context)


@require_POST
@in_project(Capability.REVIEW)
def act(request: HttpRequest, project: Project) -> HttpResponse:
    """One verb on the open record; then the next one of the list is open. The address is that of the page, so that the
    list stays as it was filtered and ordered."""
    asked = Asked.of(request, project)
    record = record_or_404_by_node(project, request.POST.get("node_id", ""))
    verb = request.POST.get("verb", "")
    following = next_key(queue_or_404(asked).keys(asked), record.node_id)
    try:
        with one_act() as act_id:
            act_on(
                [record],
                verb,
                actor=Actor.person(request),
                reason=request.POST.get("preset") or request.POST.get("reason", ""),
                expected_version=expected_version(request),
            )
    except InvalidInput as error:
        return refused(request, error, asked.url(selected=record.node_id))
    except Conflict as conflict:
        again = Refused(_("%s Look at it as it is now.") % conflict, record.node_id)
        return refused(request, again, asked.url(selected=record.node_id))
    said = _("approved, kept beside its likes") if verb == "keep_both" else VERBS[verb]
    return done(request, f"{record.node_id}: {said}", asked.url(selected=following or None), act_id)
