"""Pages of runs and run memories."""

from __future__ import annotations

from typing import Any

from django.http import HttpRequest, HttpResponse
from django.http.response import HttpResponseBase
from django.shortcuts import render
from django.views.decorators.http import require_safe

from graph.pages import similar_context
from projects.access import in_project
from projects.models import Project
from records.pages.detail import detail_context
from records.pages.listing import list_page
from records.pages.rows import Row, row_of, rows_of
from records.queries import record_or_404
from runs import queries
from runs.around import past_runs_like, read_by
from runs.charts import draw_charts
from runs.counting import count_runs, running_now
from runs.filters import RunFilterSet
from runs.kind import MEMORY, RUN
from runs.pages import calls_context

RUNNING_SHOWN = 3  # with the list below them in sight


@require_safe
@in_project()
def run_list(request: HttpRequest, project: Project) -> HttpResponseBase:
    def charts(filters: RunFilterSet) -> dict[str, Any]:
        counted = count_runs(filters, project.pk)
        return {"above_rows": "runs/_charts.html", "charts": draw_charts(counted, filters, request.path)}

    return list_page(request, project, RUN, RunFilterSet, "runs/list.html", charts, running=_running(project))


@require_safe
@in_project()
def running(request: HttpRequest, project: Project) -> HttpResponse:
    """What runs now, asked for again while somebody looks at the list."""
    return render(request, "runs/_running.html", {"project": project, "running": _running(project)})


def _running(project: Project) -> list[Row]:
    runs = running_now(project.pk, RUNNING_SHOWN)
    for run in runs:
        run.project = project
    return rows_of(runs)


@require_safe
@in_project()
def run_detail(request: HttpRequest, project: Project, pk: str) -> HttpResponse:
    run = record_or_404(project, RUN, pk)
    read, more_read = read_by(run)
    context = {
        **detail_context(request, run),
        **similar_context(run),
        **calls_context(run),
        "memories": rows_of(queries.memories_of(run)),
        "read": read,
        "more_read": more_read,
        "past_runs": past_runs_like(run),
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
