"""The answers page: every question that the desk answers, with its live count, the way there and the API's call."""

from __future__ import annotations

from django.http import HttpRequest, HttpResponse
from django.shortcuts import render
from django.utils import timezone
from django.views.decorators.http import require_safe

from desk.answers.queries import counts
from desk.answers.rows import group_rows
from projects.access import in_project
from projects.models import Project


@require_safe
@in_project()
def answers_page(request: HttpRequest, project: Project) -> HttpResponse:
    """`/p/shop/answers/`: the day of "today" is the reader's."""
    today = timezone.localdate()
    counted = counts(project, today)
    options = {
        "tags": [key[1] for key in counted if key[0] == "subject"],
        "categories": [key[1] for key in counted if key[0] == "category"],
    }
    return render(request, "desk/answers.html", {"groups": group_rows(project, today, counted, options)})
