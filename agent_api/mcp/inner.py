"""A call of the API from within: a tool answers what the API answers, by the same view, rules and errors."""

from __future__ import annotations

import io
import json
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from typing import Any
from urllib.parse import urlencode

from django.core.handlers.wsgi import WSGIRequest
from django.urls import resolve

from records.actor import Actor

SERVER = ("SERVER_NAME", "SERVER_PORT", "HTTP_HOST", "REMOTE_ADDR", "wsgi.url_scheme", "HTTP_X_FORWARDED_FOR")


@dataclass(frozen=True, kw_only=True)
class Call:
    """What is asked of the API: a path of it, the query (several values as a list) and the body."""

    method: str
    path: str
    query: Mapping[str, Any] = field(default_factory=dict)
    body: Mapping[str, Any] | None = None
    key: str | None = None


@dataclass(frozen=True)
class Answer:
    status: int
    body: Any

    @property
    def is_error(self) -> bool:
        return self.status >= 400


def ask(call: Call, outer: Any, actor: Actor) -> Answer:
    """The API's own view, asked in the actor's name. The address must be one of the API."""
    match = resolve(call.path)
    request = _request(call, outer, actor)
    request.resolver_match = match
    response = match.func(request, *match.args, **match.kwargs)
    if hasattr(response, "render") and not getattr(response, "is_rendered", True):
        response.render()
    return Answer(response.status_code, json.loads(response.content) if response.content else None)


def _request(call: Call, outer: Any, actor: Actor) -> WSGIRequest:
    body = b"" if call.body is None else json.dumps(call.body).encode()
    environ = {name: outer.META[name] for name in SERVER if name in outer.META}
    environ |= {
        "REQUEST_METHOD": call.method,
        "PATH_INFO": call.path,
        "QUERY_STRING": urlencode(list(_pairs(call.query))),
        "CONTENT_TYPE": "application/json" if body else "",
        "CONTENT_LENGTH": str(len(body)),
        "HTTP_ACCEPT": "application/json",
        "wsgi.input": io.BytesIO(body),
        "wsgi.url_scheme": outer.scheme,
    }
    environ.setdefault("SERVER_NAME", "localhost")
    environ.setdefault("SERVER_PORT", "80")
    if call.key is not None:
        environ["HTTP_IDEMPOTENCY_KEY"] = call.key
    request = WSGIRequest(environ)
    request.request_id = actor.request_id  # type: ignore[attr-defined]
    request.actor = actor  # type: ignore[attr-defined]
    request.user = outer.user
    return request


def _pairs(query: Mapping[str, Any]) -> Sequence[tuple[str, str]]:
    pairs: list[tuple[str, str]] = []
    for name, value in query.items():
        for one in value if isinstance(value, list) else [value]:
            pairs.append((name, str(one).lower() if isinstance(one, bool) else str(one)))
    return pairs
