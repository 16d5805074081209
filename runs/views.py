"""Pages of runs and run memories."""

from __future__ import annotations

from django.http import HttpRequest, HttpResponse
from django.http.response import HttpResponseBase
from django.shortcuts import render
from django.views.decorators.http import require_safe

from graph.pages import similar_context
from projects.access import in_project
from projects.models import Project
from records.pages.detail import detail_context
from records.pages.listing import list_page
from records.pages.rows import row_of, rows_of
from records.queries import record_or_404
from runs import queries
from runs.filters import RunFilterSet
from runs.kind import MEMORY, RUN

CALLS_SHOWN = 100  # each highlighted; the further ones as one block of JSON


@require_safe
@in_project()
def run_list(request: HttpRequest, project: Project) -> HttpResponseBase:
    return list_page(request, project, RUN, RunFilterSet, "records/list.html")


@require_safe
@in_project()
def run_detail(request: HttpRequest, project: Project, pk: str) -> HttpResponse:
    run = record_or_404(project, RUN, pk)
    calls = queries.tool_calls_of(run)
    context = {
        **detail_context(request, run),
        **similar_context(run),
        "tool_calls": calls[:CALLS_SHOWN],
        "further_calls": [call.value for call in calls[CALLS_SHOWN:]],
        "memories": rows_of(queries.memories_of(run)),
    }
    return render(request, "runs/detail.html", context)


@require_safe
@in_project()
def memory_detail(request: HttpRequest, project: Project, pk: str) -> HttpResponse:
    memory = record_or_404(project, MEMORY, pk)
    run = memory.source_run_fk
    context = {
        **detail_context(request, memory),
        **similar_context(memory),
        "run_row": row_of(run) if run is not None and run.project_id == project.pk else None,
    }
    return render(request, "runs/memory.html", context)
