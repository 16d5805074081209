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

from agent_api.authentication import REALM
from agent_api.mcp import protocol
from agent_api.mcp.methods import answer
from agent_api.mcp.protocol import McpError
from projects.models import AgentToken
from projects.tokens import find_token, note_use


@csrf_exempt
@login_not_required
def mcp(request: HttpRequest) -> HttpResponse:
    refused = _refused(request)
    if refused is not None:
        return refused
    token = _token(request)
    if token is None:
        response = JsonResponse(
            {"error": "invalid_token", "error_description": "Use a bearer token."}, status=401
        )
        response["WWW-Authenticate"] = REALM
        return response
    note_use(token)
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
        return JsonResponse(
            {"error": "forbidden", "error_description": "This Origin may not call."}, status=403
        )
    if request.method != "POST":
        response = JsonResponse(
            {"error": "method_not_allowed", "error_description": "Only POST."}, status=405
        )
        response["Allow"] = "POST"
        return response
    if request.content_type != "application/json":
        return JsonResponse(
            {"error": "unsupported", "error_description": "Send application/json."}, status=415
        )
    return None


def _own_origins(request: HttpRequest) -> set[str]:
    site = urlsplit(settings.SITE_URL)
    # get_host() refuses a Host that is none of ours, so that a name pointed at this machine opens nothing.
    return {f"{site.scheme}://{site.netloc}", f"{request.scheme}://{request.get_host()}"}


def _token(request: HttpRequest) -> AgentToken | None:
    request.get_host()
    scheme, _space, text = request.headers.get("Authorization", "").strip().partition(" ")
    return find_token(text.strip()) if scheme.lower() == "bearer" else None


def _error(number: Any, error: McpError, status: int) -> HttpResponse:
    said: dict[str, Any] = {"code": error.code, "message": error.message}
    if error.data is not None:
        said["data"] = error.data
    return JsonResponse({"jsonrpc": "2.0", "id": number, "error": said}, status=status)
