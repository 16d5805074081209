"""What came since a page was drawn: asked by the page itself while somebody looks at it, offered and never pushed."""

from __future__ import annotations

from django.http import HttpRequest, HttpResponse
from django.shortcuts import render
from django.views.decorators.cache import never_cache
from django.views.decorators.http import require_safe

from desk.queries import MOST_NEW, new_since
from projects.access import in_project
from projects.models import Project


@never_cache
@require_safe
@in_project()
def fresh(request: HttpRequest, project: Project) -> HttpResponse:
    """`?since=<revision>&kind=decision`: how many records others wrote since; 204 where there is none. The rail's counts
    come along."""
    since, kind = request.GET.get("since", ""), request.GET.get("kind", "")
    if not (since.isascii() and since.isdecimal() and len(since) < 19):
        return HttpResponse(status=204)
    count = new_since(project, int(since), kind, request.user)
    if not count:
        return HttpResponse(status=204)
    shown = request.GET.get("at", "")
    request.shown_namespace = shown if shown.isidentifier() else ""  # type: ignore[attr-defined]
    context = {"count": count, "more": count > MOST_NEW, "most": MOST_NEW}
    return render(request, "desk/_fresh.html", context)
