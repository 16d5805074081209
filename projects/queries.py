"""Reads of the project page."""

from __future__ import annotations

from dataclasses import dataclass
from datetime import datetime

from django.utils import timezone
from django.utils.translation import gettext as _

from projects.models import AccessEvent, AgentToken, Membership, Project, Role, Scope

EVENTS_SHOWN = 20


def members_of(project: Project) -> list[Membership]:
    return list(Membership.objects.filter(project=project).select_related("user").order_by("user__username"))


@dataclass(frozen=True)
class TokenRow:
    token: AgentToken
    state: str
    level: str
    scopes: str

    @property
    def is_live(self) -> bool:
        return self.token.is_live


def tokens_of(project: Project) -> list[TokenRow]:
    """Live ones first, then the newest."""
    tokens = AgentToken.objects.filter(projects=project).select_related("created_by")
    rows = [TokenRow(token, *_state(token, timezone.now()), _scopes(token)) for token in tokens]
    return sorted(rows, key=lambda row: not row.is_live)


def _state(token: AgentToken, now: datetime) -> tuple[str, str]:
    if token.revoked_at is not None:
        return _("revoked"), "mute"
    if token.expires_at is not None and token.expires_at <= now:
        return _("expired"), "warn"
    return _("live"), "good"


def _scopes(token: AgentToken) -> str:
    return ", ".join(str(Scope(scope).label) for scope in token.scopes if scope in Scope.values)


@dataclass(frozen=True)
class EventRow:
    event: AccessEvent
    change: str


def access_events_of(project: Project, limit: int = EVENTS_SHOWN) -> list[EventRow]:
    """Who changed what about access, newest first."""
    return [
        EventRow(event, _change(event.detail))
        for event in AccessEvent.objects.filter(project=project)[:limit]
    ]


def _change(detail: dict[str, object]) -> str:
    before, after = _word(detail.get("before")), _word(detail.get("after"))
    if before and after:
        return f"{before} → {after}"
    return after or before


def _word(value: object) -> str:
    return str(Role(value).label) if value in Role.values else str(value or "")
