"""Who calls: an agent's bearer token, and the session and run it says it works in. No cookie opens this door."""

from __future__ import annotations

import re
from typing import Any

from django.conf import settings
from django.contrib.auth.models import AnonymousUser
from django.http import HttpRequest
from django.utils.translation import gettext as _
from drf_spectacular.extensions import OpenApiAuthenticationExtension
from rest_framework.authentication import BaseAuthentication, get_authorization_header
from rest_framework.exceptions import AuthenticationFailed, ParseError, Throttled
from rest_framework.permissions import SAFE_METHODS
from rest_framework.request import Request

from projects.call_counts import seconds_to_wait
from projects.models import AgentToken
from projects.throttle import client_address
from projects.tokens import find_token, note_use
from records.actor import Actor

SESSION_ID = re.compile(r"[!-~](?:[ -~]{0,253}[!-~])?", re.ASCII)
RUN_ID = re.compile(r"[A-Za-z0-9._:-]{1,40}", re.ASCII)
REALM = 'Bearer realm="memory-desk"'


class BearerToken(BaseAuthentication):
    """`Authorization: Bearer mdk_…`. The Actor is `request.auth`; there is no person behind a token."""

    def authenticate(self, request: Request) -> tuple[Any, Actor] | None:
        reads = request.method in SAFE_METHODS
        inner = getattr(request._request, "actor", None)
        if (
            isinstance(inner, Actor) and inner.token
        ):  # asked from within, by a door that has checked the token
            count_call(inner.token, reads=reads)
            return AnonymousUser(), inner
        given = get_authorization_header(request).decode("latin-1")
        if not given.strip():
            return None
        token = token_of(request._request, given)
        count_call(token, reads=reads)
        actor = Actor.agent(
            token,
            session=_header(request, "X-Session-Id", SESSION_ID),
            run=_header(request, "X-Run-Id", RUN_ID),
            request_id=getattr(request, "request_id", ""),
        )
        return AnonymousUser(), actor

    def authenticate_header(self, request: Request) -> str:
        given = bool(get_authorization_header(request))
        return f'{REALM}, error="invalid_token"' if given else REALM


def token_of(request: HttpRequest, authorization: str) -> AgentToken:
    """The live token of an Authorization header, its use noted. Raises AuthenticationFailed, and Throttled where too
    many wrong ones came from this address."""
    scheme, _space, text = authorization.strip().partition(" ")
    token = find_token(text.strip()) if scheme.lower() == "bearer" else None
    if token is None:
        address = client_address(request) or "-"
        _count(f"address:{address[:50]}", settings.API_FAILURES_PER_MINUTE)
        raise AuthenticationFailed(_("This token is unknown, expired or revoked."))
    note_use(token)
    return token


def count_call(token: AgentToken, *, reads: bool) -> None:
    """Raises Throttled beyond the calls of a minute."""
    most = settings.API_READS_PER_MINUTE if reads else settings.API_WRITES_PER_MINUTE
    _count(f"token:{token.pk}:{'read' if reads else 'write'}", most)


def _count(who: str, most: int) -> None:
    """One call more of a token, or one wrong token more from an address."""
    if wait := seconds_to_wait(who, most):
        raise Throttled(wait, _("Too many calls in this minute: %s are taken.") % f"{most:,}")


def _header(request: Request, name: str, form: re.Pattern[str]) -> str:
    value = request.headers.get(name, "")
    if value and not form.fullmatch(value):
        raise ParseError(
            _("The header %(name)s is too long or holds characters it may not.") % {"name": name}
        )
    return value


class BearerTokenScheme(OpenApiAuthenticationExtension):  # type: ignore[no-untyped-call]
    target_class = BearerToken
    name = "token"

    def get_security_definition(self, auto_schema: Any) -> dict[str, str]:
        return {"type": "http", "scheme": "bearer", "description": "An agent's token, mdk_…"}
