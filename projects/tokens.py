"""Agents' tokens: `mdk_` and 32 random bytes; only an HMAC digest with its own pepper is stored."""

import hashlib
import hmac
import secrets
from datetime import datetime, timedelta
from functools import cache

from django.conf import settings
from django.db import connection, transaction
from django.db.models import Q
from django.utils import timezone

from projects.models import AgentToken, Project

PREFIX = "mdk_"
USE_NOTED_EVERY = timedelta(minutes=1)


def digest_of(text: str) -> str:
    return hmac.new(
        settings.TOKEN_PEPPER.encode(), text.encode("utf-8", "surrogatepass"), hashlib.sha256
    ).hexdigest()


def new_token_text() -> str:
    return PREFIX + secrets.token_urlsafe(32)


def find_token(text: str) -> AgentToken | None:
    """The live token of this text, with its projects; None for an unknown, expired or revoked one."""
    if not text.startswith(PREFIX) or len(text) > 200:
        return None
    by_digest, its_projects = _statements()
    token = next(iter(AgentToken.objects.raw(by_digest, [digest_of(text)])), None)
    if token is None or not token.is_live:
        return None
    token.reach = list(Project.objects.raw(its_projects, [token.pk]))
    return token


@cache
def _statements() -> tuple[str, str]:
    """The ORM's own statements for a digest's token and a token's projects. To put them together takes longer than to ask
    them, and every call of an agent asks both."""
    asked = AgentToken.objects.filter(digest=""), Project.objects.filter(tokens=0)
    by_digest, its_projects = (str(query.order_by().query.sql_with_params()[0]) for query in asked)
    return by_digest, its_projects


def note_use(token: AgentToken, now: datetime | None = None) -> None:
    """Remember when the token was last used, at most once a minute, so that reads do not become writes.

    Never waits: where a write of the same token holds its row, the next use will be noted.
    """
    now = now or timezone.now()
    if token.last_used_at is not None and now - token.last_used_at <= USE_NOTED_EVERY:
        return
    stale = Q(last_used_at=None) | Q(last_used_at__lt=now - USE_NOTED_EVERY)
    with transaction.atomic():
        rows = AgentToken.objects.filter(stale, pk=token.pk)
        skip = connection.features.has_select_for_update_skip_locked
        if rows.select_for_update(skip_locked=skip).values_list("pk", flat=True):
            rows.update(last_used_at=now)
