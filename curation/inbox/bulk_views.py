"""Pages of one act on many records: its start, its progress, its report."""

from __future__ import annotations

import csv
from itertools import islice
from typing import Any

from django.http import Http404, HttpRequest, HttpResponse, StreamingHttpResponse
from django.http.response import HttpResponseBase
from django.shortcuts import render
from django.urls import reverse
from django.utils.translation import gettext as _
from django.utils.translation import ngettext
from django.views.decorators.http import require_POST, require_safe

from curation.inbox.asked import Asked, shown_versions
from curation.inbox.bulk import MOST, SMALL, job_of, run_job, start_job
from curation.inbox.page import queue_or_404
from curation.models import BulkJob
from projects.access import Capability, in_project
from projects.models import Project
from projects.responses import SeeOther
from records.actor import Actor
from records.errors import InvalidInput, Refused
from records.kinds import kind_of
from records.pages.editing import done, refused, undo_url
from records.pages.exports import Echo, cell
from records.pages.history import VERBS
from records.pages.rows import record_url, title_of
from records.queries import records_by_node_id

STEP_SECONDS = 1.0
SHOWN = 200  # of what could not be changed; the download has them all


@require_POST
@in_project(Capability.REVIEW)
def start(request: HttpRequest, project: Project) -> HttpResponse:
    """On the ticked records, or (`scope=all`) on all that the list's filter finds. The address is that of the list."""
    asked = Asked.of(request, project)
    queue = queue_or_404(asked)
    verb, actor = request.POST.get("verb", ""), Actor.person(request)
    back = asked.url(selected=None)
    try:
        if verb not in queue.bulk:
            raise InvalidInput({"verb": [_("Must be one of: %s.") % ", ".join(queue.bulk)]})
        wanted: dict[str, int | None]
        if request.POST.get("scope") == "all":
            assert queue.matching is not None
            wanted = dict.fromkeys(islice(queue.matching(asked), MOST + 1))
        else:
            wanted = dict(shown_versions(request.POST.getlist("record")))
        reason = request.POST.get("reason", "")
        job = start_job(actor=actor, project=project, verb=verb, wanted=wanted, reason=reason, back=back)
    except InvalidInput as error:
        return refused(request, error, back)
    if len(job.wanted) > SMALL:
        return SeeOther(_job_url(job))
    job = run_job(job, actor=actor, seconds=60.0)
    return SeeOther(_job_url(job)) if job.refused else done(request, said_of(job), back, job.act)


@require_safe
@in_project(Capability.REVIEW)
def job(request: HttpRequest, project: Project, job_id: int) -> HttpResponseBase:
    """How far it is; once it is done, the report. `format=csv`: each record that could not be changed, and why."""
    kept = _job_or_404(project, job_id)
    if request.GET.get("format") == "csv":
        return _download(kept)
    return render(request, "inbox/job.html", _context(request, kept))


@require_POST
@in_project(Capability.REVIEW)
def step(request: HttpRequest, project: Project, job_id: int) -> HttpResponse:
    """Go on for a moment. The page asks again by itself; without JavaScript its button does."""
    kept = _job_or_404(project, job_id)
    if kept.user_id != request.user.pk:
        error = Refused(_("%s started this, and goes on with it: each acts in their own name.") % kept.user)
        return refused(request, error, _job_url(kept))
    kept = run_job(kept, actor=Actor.person(request), seconds=STEP_SECONDS)
    return SeeOther(_job_url(kept))


def _job_or_404(project: Project, job_id: int) -> BulkJob:
    kept = job_of(project, job_id)
    if kept is None:
        raise Http404
    return kept


def _job_url(kept: BulkJob) -> str:
    return reverse("inbox:job", args=[kept.project.slug, kept.pk])


def said_of(kept: BulkJob) -> str:
    counted = ngettext("%(n)s record %(did)s", "%(n)s records %(did)s", kept.updated)
    return counted % {"n": f"{kept.updated:,}", "did": VERBS[kept.verb]}


def _context(request: HttpRequest, kept: BulkJob) -> dict[str, Any]:
    shown = kept.refused[:SHOWN]
    records = records_by_node_id([node_id for node_id, _why in shown], [kept.project_id], brief=True)
    url = _job_url(kept)
    return {
        "job": kept,
        "total": len(kept.wanted),
        "said": said_of(kept),
        "refused": [_refused_row(records.get(node_id), node_id, why) for node_id, why in shown],
        "more_refused": len(kept.refused) - len(shown),
        "step_url": reverse("inbox:step", args=[kept.project.slug, kept.pk]),
        "csv_url": f"{url}?format=csv",
        "undo_url": undo_url(request, kept.act) if kept.finished_at else "",
        "back_url": kept.back or reverse("inbox:page", args=[kept.project.slug]),
        "may_go_on": kept.user_id == request.user.pk,
    }


def _refused_row(record: Any, node_id: str, why: str) -> dict[str, str]:
    if record is None:
        return {"node_id": node_id, "title": "", "url": "", "kind": "", "why": why}
    return {
        "node_id": node_id,
        "title": title_of(record),
        "url": record_url(record),
        "kind": kind_of(record).name,
        "why": why,
    }


def _download(kept: BulkJob) -> StreamingHttpResponse:
    writer = csv.writer(Echo())
    lines = [["node_id", "why"], *([cell(value) for value in line] for line in kept.refused)]
    response = StreamingHttpResponse(
        ("\ufeff" * (number == 0) + str(writer.writerow(line)) for number, line in enumerate(lines)),
        content_type="text/csv; charset=utf-8",
    )
    name = f"{kept.project.slug}-{kept.verb}-{kept.pk}.csv"
    response["Content-Disposition"] = f'attachment; filename="{name}"'
    return response
