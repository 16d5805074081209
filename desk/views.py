"""The way in, and the project's overview."""

from __future__ import annotations

from datetime import timedelta
from typing import Any

from django.http import HttpRequest, HttpResponse
from django.shortcuts import redirect, render
from django.urls import reverse
from django.utils import timezone
from django.views.decorators.http import require_POST, require_safe

from desk import queries
from desk.home import queries as counted
from desk.home.actions import arrive
from desk.home.rows import failing_rows, movers_row, projected_rows, queue_rows, since_row
from desk.overview import changes_of, contradictions_of, failed_rows, waiting_of, waiting_total
from projects import accounts
from projects.access import in_project, visible_projects
from projects.models import Project
from projects.responses import SeeOther
from records.pages.rows import rows_of
from records.queries import newest_revision

LATELY = 7  # days, today among them


@require_safe
def home(request: HttpRequest) -> HttpResponse:
    """Straight into the only project; else the list of those one may see, with what waits in each."""
    projects = visible_projects(request.access)  # type: ignore[attr-defined]
    if len(projects) == 1:
        return redirect(projects[0])
    waiting = waiting_total(projects)
    rows = [(project, waiting.get(project.pk, 0)) for project in projects]
    return render(request, "desk/home.html", {"rows": rows, "may_create": request.access.everywhere})  # type: ignore[attr-defined]


@require_safe
@in_project()
def overview(request: HttpRequest, project: Project) -> HttpResponse:
    """What came since one's last visit, what waits, what fails, what moved; each number leads to its list."""
    now, first = timezone.now(), timezone.localdate() - timedelta(days=LATELY - 1)
    newest = newest_revision(project.pk) or 0
    user: Any = request.user
    known = (arrive if _is_a_look(request) else counted.since_last_visit)(user, project, newest, now)
    health_url = reverse("health:page") if request.access.manages_any else ""  # type: ignore[attr-defined]
    graph = counted.projected(project)
    context = {
        "project": project,
        "since": since_row(project, known, counted.changes_after(project, known.revision)),
        "queues": queue_rows(project, counted.queue_counts(project)),
        "waiting": waiting_of(project),
        "contradictions": contradictions_of(project),
        "newest": rows_of(queries.newest_memories(project)),
        "failing": failing_rows(project, counted.failing_agents(project, first), first),
        "failed": failed_rows(project),
        "movers": movers_row(project, counted.confidence_movers(project, first), first),
        "graph": graph,
        "graph_rows": projected_rows(graph, health_url) if health_url else [],
        "changes": changes_of(project),
    }
    return render(request, "desk/overview.html", context)


def _is_a_look(request: HttpRequest) -> bool:
    """By a person, not by a part of a page that asks again nor by a browser that fetches ahead."""
    ahead = "prefetch" in request.headers.get("Sec-Purpose", request.headers.get("Purpose", ""))
    return request.method == "GET" and not request.htmx and not ahead  # type: ignore[attr-defined]


@require_POST
@in_project()
def hide_first_run(request: HttpRequest, project: Project) -> HttpResponse:
    """For this person, everywhere; the project page keeps the same commands."""
    user: Any = request.user
    accounts.hide_first_run(user)
    return SeeOther(reverse("desk:overview", args=[project.slug]))
