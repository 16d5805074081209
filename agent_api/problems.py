"""Every error of the API as application/problem+json (RFC 9457), with the paths of the fields that are wrong."""

from __future__ import annotations

import json
import logging
from collections.abc import Iterator, Mapping
from http import HTTPStatus
from typing import Any

from django.core.exceptions import PermissionDenied as DjangoPermissionDenied
from django.core.exceptions import RequestDataTooBig, SuspiciousOperation
from django.core.signals import got_request_exception
from django.db import OperationalError
from django.http import Http404, HttpRequest, HttpResponse
from django.utils.translation import gettext as _
from rest_framework import exceptions
from rest_framework.response import Response

from database.transactions import is_away
from recall.encoders.base import EncoderUnavailable
from records.api.fields import in_utc
from records.errors import Conflict, Erased, InvalidInput, NotAllowed, Refused, TooLarge, VerbError

log = logging.getLogger("memory_desk.api")
MEDIA_TYPE = "application/problem+json"
TYPE = "urn:memory-desk:problem:"
UNPROCESSABLE, TOO_LARGE = 422, 413


class InvalidQuery(exceptions.APIException):
    """A filter, sort, cursor or other query parameter is wrong: 400, naming each."""

    status_code = 400
    default_code = "invalid_query"

    def __init__(self, errors: Mapping[str, list[str]]) -> None:
        self.errors = dict(errors)
        super().__init__(_("These query parameters cannot be applied: %s.") % ", ".join(sorted(errors)))


def problem_response(error: Exception, context: Mapping[str, Any]) -> Response:
    """The REST framework's exception handler: no error leaves the API as anything else, a bug included."""
    request = context["request"]
    headers: dict[str, str] = {}
    if isinstance(error, exceptions.APIException):
        headers = _headers_of(error)
        body = _of_api_exception(error)
    elif isinstance(error, VerbError):
        body = _of_verb(error, context.get("view"))
    elif isinstance(error, Erased):
        body = _of_erased(error)
    elif isinstance(error, Http404):
        body = problem(404, "not_found", _("There is nothing here, or not for this token."))
    elif isinstance(error, DjangoPermissionDenied):
        body = problem(403, "not_allowed", _("This token may not do that."))
    elif isinstance(error, RequestDataTooBig):
        body = problem(TOO_LARGE, "too_large", _("The body is larger than this server takes in one request."))
    elif isinstance(error, SuspiciousOperation):
        body = problem(400, "bad_request", _("The request is malformed."))
    elif isinstance(error, OperationalError | EncoderUnavailable) or is_away(error):
        log.warning("%s: %s", request.path, error)
        headers = {"Retry-After": "1"}
        body = problem(
            503, "unavailable", _("The database or the encoder is busy or away; try again in a moment.")
        )
    else:
        log.exception("%s failed", request.path, exc_info=error)
        got_request_exception.send(sender=type(context.get("view")), request=request)
        body = problem(500, "internal", _("Something broke here; it is logged under the request's id."))
    body |= _about(request)
    return Response(body, status=body["status"], headers=headers, content_type=MEDIA_TYPE)


def problem_of(error: exceptions.APIException | VerbError | Erased) -> dict[str, Any]:
    """The problem that one refused item of several would be alone."""
    if isinstance(error, Erased):
        return _of_erased(error)
    return _of_api_exception(error) if isinstance(error, exceptions.APIException) else _of_verb(error, None)


def problem(status: int, kind: str, detail: str, **more: Any) -> dict[str, Any]:
    return {
        "type": TYPE + kind.replace("_", "-"),
        "title": HTTPStatus(status).phrase,
        "status": status,
        "detail": detail,
        **more,
    }


def plain_problem(request: HttpRequest, status: int, kind: str = "error", detail: str = "") -> HttpResponse:
    """The same outside the REST framework: a path that is none, a request refused before a view saw it."""
    body = problem(status, kind, detail or HTTPStatus(status).description) | _about(request)
    return HttpResponse(json.dumps(body, ensure_ascii=False), status=status, content_type=MEDIA_TYPE)


def _about(request: Any) -> dict[str, str]:
    return {"instance": request.path, "request_id": getattr(request, "request_id", "")}


def _of_api_exception(error: exceptions.APIException) -> dict[str, Any]:
    if isinstance(error, InvalidQuery):
        return problem(400, "invalid_query", str(error.detail), errors=error.errors)
    if isinstance(error, exceptions.ValidationError):
        found = list(_flat(error.detail))
        errors: dict[str, list[str]] = {}
        for path, message in found:
            errors.setdefault(path, []).append(str(message))
        too_large = any(getattr(message, "code", "") == "too_large" for _path, message in found)
        return _of_fields(errors, TOO_LARGE if too_large else UNPROCESSABLE)
    code = error.default_code if isinstance(error.default_code, str) else "error"
    return problem(error.status_code, code, str(error.detail))


def _of_erased(error: Erased) -> dict[str, Any]:
    told = {"node_id": error.record.node_id, "erased_at": in_utc(error.erasure.erased_at)}
    return problem(410, "erased", str(error), reason=error.erasure.reason, **told)


def _of_verb(error: VerbError, view: Any) -> dict[str, Any]:
    if isinstance(error, Conflict):
        current = view.state_of(error.record) if hasattr(view, "state_of") else None
        return problem(412, "conflict", str(error), expected_version=error.expected, current=current)
    if isinstance(error, Refused):
        return problem(409, "refused", str(error.why))
    if isinstance(error, InvalidInput):
        return _of_fields(error.errors, TOO_LARGE if isinstance(error, TooLarge) else UNPROCESSABLE)
    if isinstance(error, NotAllowed):
        return problem(403, "not_allowed", str(error))
    return problem(409, "refused", str(error))


def _of_fields(errors: Mapping[str, list[str]], status: int) -> dict[str, Any]:
    detail = "; ".join(
        f"{path}: {' '.join(map(str, said))}" if path else " ".join(map(str, said))
        for path, said in errors.items()
    )
    kind = "too_large" if status == TOO_LARGE else "invalid_input"
    return problem(status, kind, detail[:1000], errors=errors)


def _flat(detail: Any, path: str = "") -> Iterator[tuple[str, Any]]:
    """(field path, message) of each, `tags.2` for the third tag; the body as a whole is ``."""
    if isinstance(detail, Mapping):
        for name, inner in detail.items():
            inner_path = path if name == "non_field_errors" else f"{path}.{name}" if path else str(name)
            yield from _flat(inner, inner_path)
    elif isinstance(detail, list | tuple):
        for inner in detail:
            yield from _flat(inner, path)
    else:
        yield path, detail


def _headers_of(error: exceptions.APIException) -> dict[str, str]:
    headers = {}
    if getattr(error, "auth_header", None):
        headers["WWW-Authenticate"] = error.auth_header  # type: ignore[attr-defined]
    if getattr(error, "wait", None):
        headers["Retry-After"] = str(int(error.wait))  # type: ignore[attr-defined]
    return headers
