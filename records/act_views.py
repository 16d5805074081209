"""Acts taken back, and versions brought back, by their buttons."""

from __future__ import annotations

from urllib.parse import urlsplit

from django.contrib import messages
from django.http import Http404, HttpRequest, HttpResponse
from django.utils.translation import gettext as _
from django.utils.translation import ngettext
from django.views.decorators.http import require_POST

from projects.access import Capability, in_project
from projects.models import Project
from projects.responses import SeeOther
from records import restoring
from records.actor import Actor
from records.acts import one_act
from records.changes import Outcome
from records.errors import Conflict, InvalidInput, Refused
from records.models import Revision
from records.pages.editing import done, expected_version, next_url, refused, tell_refused, undo_url
from records.pages.history import VERBS
from records.pages.rows import record_url
from records.queries import record_or_404_by_node, records_by_node_id
from records.undo import UNDO, revisions_of_act, undo

NAMED = 5


@require_POST
@in_project(Capability.WRITE)
def undo_act(request: HttpRequest, project: Project, act: str) -> HttpResponse:
    """Take back what one act did in this project. What could not go back is said, record by record."""
    rows = revisions_of_act(act, project)
    if not rows:
        raise Http404
    back = next_url(request, _page_before(request) or _page_of(rows, project))
    try:
        with one_act() as act_id:
            outcome = undo(
                act, actor=Actor.person(request), reason=request.POST.get("reason", ""), project=project
            )
    except InvalidInput as error:
        return refused(request, error, back)
    if outcome.updated:
        messages.success(request, said_of(rows, outcome), extra_tags=undo_url(request, act_id))
    elif not outcome.refused:
        messages.info(request, _("That is undone already."))
    tell_refused(request, outcome)
    return SeeOther(back)


@require_POST
@in_project(Capability.WRITE)
def restore_version(request: HttpRequest, project: Project, node_id: str, version: int) -> HttpResponse:
    """Give the record the words of an old version, as a new one."""
    record = record_or_404_by_node(project, node_id)
    back = record_url(record)
    try:
        with one_act() as act:
            outcome = restoring.restore_version(
                record, version, actor=Actor.person(request), reason=request.POST.get("reason", ""),
                expected_version=expected_version(request),
            )  # fmt: skip
    except InvalidInput as error:
        return refused(request, error, back)
    except Conflict as conflict:
        return refused(request, Refused(str(conflict), node_id), back)
    if outcome.unchanged:
        messages.info(request, _("%s says that already.") % node_id)
        return SeeOther(next_url(request, back))
    names = {"node": node_id, "version": version}
    return done(request, _("%(node)s says again what version %(version)s said") % names, back, act)


def said_of(rows: list[Revision], outcome: Outcome) -> str:
    """What was undone, in words: the verb, and the records or their number."""
    detail = rows[0].detail or {}
    verb = detail.get("verb", "") if rows[0].verb == UNDO else rows[0].verb
    names = {"what": VERBS.get(verb, verb), "records": named(outcome)}
    if rows[0].verb == UNDO and detail.get("back"):
        return _("Done again: %(what)s %(records)s") % names
    return _("Undone: %(what)s %(records)s") % names


def named(outcome: Outcome) -> str:
    ids = [record.node_id for record in outcome.updated]
    if len(ids) <= NAMED:
        return ", ".join(ids)
    return ngettext("%s record", "%s records", len(ids)) % f"{len(ids):,}"


def _page_before(request: HttpRequest) -> str:
    """The page that htmx asked from, of this host (its own header is no more trusted than a field)."""
    address = urlsplit(request.headers.get("HX-Current-URL", ""))
    if address.netloc != request.get_host() or not address.path.startswith("/"):
        return ""
    return f"/{address.path.lstrip('/')}" + (f"?{address.query}" if address.query else "")


def _page_of(rows: list[Revision], project: Project) -> str:
    records = records_by_node_id([rows[0].node_id], [project.pk], brief=True)
    return record_url(records[rows[0].node_id]) if records else f"/p/{project.slug}/"
