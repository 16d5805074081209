"""Health and error pages: each error says what happened, what to do, and the request's id."""

import sys
from typing import Any

from django.conf import settings
from django.contrib.auth.decorators import login_not_required
from django.db import DatabaseError, connection
from django.http import HttpRequest, HttpResponse, JsonResponse
from django.shortcuts import render
from django.template.loader import render_to_string

from agent_api.problems import plain_problem
from database.transactions import is_away


@login_not_required
def healthz(request: HttpRequest) -> JsonResponse:
    """200 when the process answers and its database does; for balancers and monitors, so it tells nothing else."""
    try:
        with connection.cursor() as cursor:
            cursor.execute("SELECT 1")
            cursor.fetchone()
    except DatabaseError:
        return JsonResponse({"status": "database away"}, status=503)
    return JsonResponse({"status": "ok", "version": settings.VERSION})


def _is_for_agents(request: HttpRequest) -> bool:
    return request.path.startswith("/api/") or request.path.rstrip("/") == "/mcp"


def _error(request: HttpRequest, status: int) -> HttpResponse:
    if _is_for_agents(request):
        return plain_problem(request, status)
    return render(
        request, f"{status}.html", {"request_id": getattr(request, "request_id", "")}, status=status
    )


def bad_request(request: HttpRequest, exception: Any = None) -> HttpResponse:
    return _error(request, 400)


def permission_denied(request: HttpRequest, exception: Any = None) -> HttpResponse:
    return _error(request, 403)


def page_not_found(request: HttpRequest, exception: Any = None) -> HttpResponse:
    return _error(request, 404)


def server_error(request: HttpRequest) -> HttpResponse:
    """503 where it was the database that did not answer: the same again in a moment will do."""
    away = is_away(sys.exc_info()[1])
    status = 503 if away else 500
    if _is_for_agents(request):
        response = plain_problem(request, status)
    else:
        # Without what the frame knows of the person: to ask for that is what may just have failed.
        known = {"request": {"request_id": getattr(request, "request_id", "")}}
        response = HttpResponse(render_to_string(f"{status}.html", known), status=status)
    if away:
        response["Retry-After"] = "1"
    return response


def csrf_failure(request: HttpRequest, reason: str = "") -> HttpResponse:
    return render(
        request,
        "403_csrf.html",
        {"request_id": getattr(request, "request_id", ""), "reason": reason},
        status=403,
    )
