"""`POST /mcp`: agents' clients that speak the Model Context Protocol. No rules of its own: tools call the API."""

from __future__ import annotations

from typing import Any
from urllib.parse import urlsplit

from django.conf import settings
from django.contrib.auth.decorators import login_not_required
from django.core.exceptions import RequestDataTooBig
from django.http import HttpRequest, HttpResponse, JsonResponse
from django.http.request import UnreadablePostError
from django.views.decorators.csrf import csrf_exempt
from rest_framework.exceptions import AuthenticationFailed, Throttled

from agent_api.authentication import REALM, token_of
from agent_api.mcp import protocol
from agent_api.mcp.methods import answer
from agent_api.mcp.protocol import McpError
from projects.models import AgentToken


@csrf_exempt
@login_not_required
def mcp(request: HttpRequest) -> HttpResponse:
    request.get_host()  # refuses a Host that is none of ours: a name pointed at this machine opens nothing
    refused = _refused(request)
    if refused is not None:
        return refused
    given = request.headers.get("Authorization", "")
    try:
        if not given.strip():
            raise AuthenticationFailed
        return _answered(request, token_of(request, given))
    except AuthenticationFailed:
        return _refusal(401, "invalid_token", "Use a bearer token.", {"WWW-Authenticate": REALM})
    except Throttled as error:
        seconds = int(getattr(error, "wait", None) or 1)
        return _refusal(429, "too_many_calls", str(error.detail), {"Retry-After": str(seconds)})


def _answered(request: HttpRequest, token: AgentToken) -> HttpResponse:
    try:
        body = request.body
    except RequestDataTooBig:
        return _error(None, McpError(protocol.INVALID_REQUEST, "The body is larger than is taken."), 413)
    except UnreadablePostError:
        return _error(None, McpError(protocol.PARSE_ERROR, "The body ended too early."), 400)
    try:
        message = protocol.read_message(body, request.headers)
    except McpError as error:
        return _error(protocol.id_of(body), error, protocol.status_of(error.code, is_stateless=True))
    if message.id is None:
        return HttpResponse(status=202)
    try:
        result = answer(request, message, token)
    except McpError as error:
        return _error(message.id, error, protocol.status_of(error.code, is_stateless=message.is_stateless))
    if message.is_stateless:
        result = {"resultType": "complete", **result}
    response = JsonResponse({"jsonrpc": "2.0", "id": message.id, "result": result})
    response["Cache-Control"] = "no-store"
    return response


def _refused(request: HttpRequest) -> HttpResponse | None:
    """Pages of other sites must not speak to this door through a browser, nor anyone by a GET."""
    origin = request.headers.get("Origin")
    if origin is not None and origin not in _own_origins(request):
        return _refusal(403, "forbidden", "This Origin may not call.")
    if request.method != "POST":
        return _refusal(405, "method_not_allowed", "Only POST.", {"Allow": "POST"})
    if request.content_type != "application/json":
        return _refusal(415, "unsupported", "Send application/json.")
    return None


def _own_origins(request: HttpRequest) -> set[str]:
    site = urlsplit(settings.SITE_URL)
    return {f"{site.scheme}://{site.netloc}", f"{request.scheme}://{request.get_host()}"}


def _refusal(status: int, error: str, said: str, headers: dict[str, str] | None = None) -> HttpResponse:
    """Before there is a message to answer."""
    return JsonResponse({"error": error, "error_description": said}, status=status, headers=headers)


def _error(number: Any, error: McpError, status: int) -> HttpResponse:
    said: dict[str, Any] = {"code": error.code, "message": error.message}
    if error.data is not None:
        said["data"] = error.data
    return JsonResponse({"jsonrpc": "2.0", "id": number, "error": said}, status=status)
