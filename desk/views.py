"""The way in, and the project's overview."""

from __future__ import annotations

from django.http import HttpRequest, HttpResponse
from django.shortcuts import redirect, render
from django.urls import reverse
from django.utils import timezone
from django.views.decorators.http import require_POST, require_safe

from desk import queries
from desk.overview import changes_of, contradictions_of, failed_rows, waiting_of, waiting_total
from projects.access import in_project, visible_projects
from projects.models import Project, User
from projects.views import SeeOther
from records.pages.rows import rows_of


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
    """What waits, what is new, what failed, what contradicts, what changed; each with its link."""
    context = {
        "project": project,
        "waiting": waiting_of(project),
        "newest": rows_of(queries.newest_memories(project)),
        "failed": failed_rows(project),
        "contradictions": contradictions_of(project),
        "changes": changes_of(project),
    }
    return render(request, "desk/overview.html", context)


@require_POST
@in_project()
def hide_first_run(request: HttpRequest, project: Project) -> HttpResponse:
    """For this person, everywhere; the project page keeps the same commands."""
    assert isinstance(request.user, User)
    User.objects.filter(pk=request.user.pk, first_run_hidden_at=None).update(
        first_run_hidden_at=timezone.now()
    )
    return SeeOther(reverse("desk:overview", args=[project.slug]))
