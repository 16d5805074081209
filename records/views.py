"""Pages and verbs that every kind shares: a node's address, review, archive, links, history."""

from __future__ import annotations

from typing import Any

from django.http import Http404, HttpRequest, HttpResponse
from django.shortcuts import get_object_or_404, redirect
from django.utils.translation import gettext as _
from django.views.decorators.http import require_http_methods, require_POST, require_safe

from projects.access import Capability, in_project
from projects.models import Project
from records import links, verbs
from records.actor import Actor
from records.acts import one_act
from records.errors import Erased, InvalidInput
from records.forms import LinkForm, ReasonForm, ReviewForm
from records.models import Link
from records.pages.editing import done, expected_version, form_page, posted, refused
from records.pages.history import VERBS, history_page
from records.pages.listing import page_or_part
from records.pages.rows import record_url, row_of
from records.queries import record_or_404_by_node, records_by_node_id, visible_record


@require_safe
def node(request: HttpRequest, node_id: str) -> HttpResponse:
    """`/r/dec_123/`: the record's page, wherever it lives."""
    try:
        record = visible_record(request.access, node_id)  # type: ignore[attr-defined]
    except Erased as error:
        record = error.record  # its page says so
    if record is None or record.project_id is None:
        raise Http404
    return redirect(record_url(record))


@require_safe
@in_project()
def history(request: HttpRequest, project: Project, node_id: str) -> HttpResponse:
    """Every act on one record, newest first."""
    record = record_or_404_by_node(project, node_id)
    before = request.GET.get("before", "")
    acts, older = history_page(node_id, int(before) if before.isdecimal() and len(before) < 19 else None)
    context = {"record": record, "row": row_of(record), "revisions": acts, "older": older}
    return page_or_part(request, "records/history.html", "records/_history_page.html", context)


@require_http_methods(["GET", "POST"])
@in_project(Capability.REVIEW)
def review(request: HttpRequest, project: Project, node_id: str) -> HttpResponse:
    """Approve, reject, quarantine or send back. One button posts `state`; the form asks for both."""
    record = record_or_404_by_node(project, node_id)
    form = ReviewForm(posted(request), initial={"state": request.GET.get("state", "approved")})

    def act(cleaned: dict[str, Any]) -> Any:
        return verbs.review(
            [record], cleaned["state"], actor=Actor.person(request), reason=cleaned["reason"],
            expected_version=expected_version(request),
        ).record  # fmt: skip

    said = {
        "approved": "approve",
        "rejected": "reject",
        "quarantined": "quarantine",
        "unreviewed": "unreview",
    }
    return form_page(
        request, form, act, record=record, title=_("Review %s") % node_id, submit_label=_("Save the review"),
        done_text=lambda saved: f"{saved.node_id}: {VERBS[said[saved.review_state]]}",
    )  # fmt: skip


def _put_away(
    request: HttpRequest, project: Project, node_id: str, verb: Any, title: str, said: str
) -> HttpResponse:
    record = record_or_404_by_node(project, node_id)

    def act(cleaned: dict[str, Any]) -> Any:
        return verb(
            [record],
            actor=Actor.person(request),
            reason=cleaned["reason"],
            expected_version=expected_version(request),
        ).record

    return form_page(
        request, ReasonForm(posted(request)), act, record=record, title=title, submit_label=title,
        done_text=lambda saved: f"{saved.node_id}: {said}",
    )  # fmt: skip


@require_http_methods(["GET", "POST"])
@in_project(Capability.WRITE)
def archive(request: HttpRequest, project: Project, node_id: str) -> HttpResponse:
    return _put_away(request, project, node_id, verbs.archive, _("Archive %s") % node_id, _("archived"))


@require_http_methods(["GET", "POST"])
@in_project(Capability.WRITE)
def restore(request: HttpRequest, project: Project, node_id: str) -> HttpResponse:
    return _put_away(request, project, node_id, verbs.restore, _("Restore %s") % node_id, _("restored"))


@require_http_methods(["GET", "POST"])
@in_project(Capability.WRITE)
def link(request: HttpRequest, project: Project, node_id: str) -> HttpResponse:
    """Assert a relation from this record to another of the project."""
    record = record_or_404_by_node(project, node_id)
    form = LinkForm(
        posted(request),
        initial={"relation": request.GET.get("relation"), "target": request.GET.get("target")},
    )

    def act(cleaned: dict[str, Any]) -> Any:
        other = records_by_node_id([cleaned["target"].strip()], [project.pk]).get(cleaned["target"].strip())
        if other is None:
            raise InvalidInput({"target": [_("There is no such record in this project.")]}, node_id)
        links.link(record, cleaned["relation"], other, actor=Actor.person(request), reason=cleaned["reason"])
        return record

    return form_page(
        request, form, act, record=record, title=_("Link %s") % node_id, submit_label=_("Link"),
        done_text=lambda saved: _("Linked %s") % saved.node_id,
    )  # fmt: skip


@require_POST
@in_project(Capability.WRITE)
def unlink(request: HttpRequest, project: Project, node_id: str, link_id: int) -> HttpResponse:
    record = record_or_404_by_node(project, node_id)
    made = get_object_or_404(Link, pk=link_id, project=project)
    ends = records_by_node_id([made.source, made.target], [project.pk])
    if node_id not in (made.source, made.target) or len(ends) < 2:
        raise Http404
    try:
        with one_act() as act:
            links.unlink(
                made,
                ends[made.source],
                ends[made.target],
                actor=Actor.person(request),
                reason=request.POST.get("reason", ""),
            )
    except InvalidInput as error:
        return refused(request, error, record_url(record))
    return done(request, _("Unlinked %s") % node_id, record_url(record), act)
