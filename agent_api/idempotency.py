"""A write with an Idempotency-Key is done once, and every repetition of it gets the first answer.

The key's row is inserted first, inside the transaction of the write: a concurrent twin waits on it (its unique index on
MySQL and MariaDB, the write lock on SQLite), then reads the answer. A write that fails takes its key's row back with it.
"""

from __future__ import annotations

import hashlib
import json
import re
from collections.abc import Callable
from typing import Any

from django.db import IntegrityError, OperationalError, transaction
from django.http import HttpResponse
from django.utils.translation import gettext as _
from rest_framework.exceptions import APIException, ParseError
from rest_framework.renderers import JSONRenderer
from rest_framework.request import Request
from rest_framework.response import Response

from agent_api.problems import MEDIA_TYPE as PROBLEM
from database.transactions import LOCK_WAIT, transactional
from projects.models import AgentToken
from records.acts import current_act
from records.models import IdempotencyKey

KEY = re.compile(r"[ -~]{1,255}", re.ASCII)
REPLAYED = "Idempotency-Replayed"
ACT = "X-Act-Id"
KEPT_HEADERS = ("Location", "ETag")

Handler = Callable[..., Any]


class KeyReused(APIException):
    status_code = 422
    default_code = "idempotency_key_reused"


class StillRunning(APIException):
    status_code = 409
    default_code = "idempotent_request_running"
    wait = 1


class _Failed(Exception):
    """The handler answered an error without raising it: undo, and answer just that."""

    def __init__(self, response: Response) -> None:
        self.response = response


def once(key: str, handler: Handler) -> Handler:
    """The handler of an unsafe method, so that it runs once for a token's key."""
    if not KEY.fullmatch(key):
        raise ParseError(_("Idempotency-Key must be 1 to 255 printable ASCII characters."))

    def handle(request: Request, *args: Any, **kwargs: Any) -> Any:
        token = request.auth.token  # type: ignore[union-attr]
        digest = _request_digest(request)
        try:
            return _first_or_replay(token, key, digest, lambda: handler(request, *args, **kwargs))
        except _Failed as failed:
            return failed.response

    return handle


@transactional
def _first_or_replay(token: AgentToken, key: str, digest: str, act: Callable[[], Response]) -> Any:
    names = {"token": token, "key_digest": hashlib.sha256(key.encode()).hexdigest()}
    try:
        with transaction.atomic():
            kept = IdempotencyKey.objects.create(**names, request_digest=digest)
    except IntegrityError:
        return _replay(IdempotencyKey.objects.get(**names), digest)
    except OperationalError as error:
        if error.args and error.args[0] == LOCK_WAIT:
            raise StillRunning(
                _("The first request with this key is still running; ask again in a moment.")
            ) from error
        raise
    response = act()
    if response.status_code >= 400:
        raise _Failed(response)
    kept.status = response.status_code
    # As text, not as JSON: the servers would give an object back with its keys in another order.
    kept.answer = JSONRenderer().render(response.data).decode()
    kept.headers = {name: response[name] for name in KEPT_HEADERS if name in response} | {ACT: current_act()}
    kept.save(update_fields=["status", "answer", "headers"])
    return response


def _replay(kept: IdempotencyKey, digest: str) -> HttpResponse:
    if kept.request_digest != digest:
        raise KeyReused(_("This Idempotency-Key was used for another request; use a new one for a new act."))
    media_type = (
        PROBLEM if (kept.status or 0) >= 400 else JSONRenderer.media_type
    )  # what it told of was erased
    response = HttpResponse(kept.answer, status=kept.status, content_type=media_type)
    for name, value in (kept.headers or {}).items():
        response[name] = value
    response[REPLAYED] = "true"
    return response


def _request_digest(request: Request) -> str:
    asked = [
        request.method,
        request.get_full_path().rstrip("/"),
        request.headers.get("If-Match"),
        request.data,
    ]
    return hashlib.sha256(json.dumps(asked, sort_keys=True).encode()).hexdigest()
