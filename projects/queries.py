"""Reads of the project page."""

from __future__ import annotations

from collections.abc import Collection
from dataclasses import dataclass
from datetime import datetime

from django.utils import timezone
from django.utils.translation import gettext as _

from projects.models import (
    AccessEvent,
    AccessVerb,
    AgentToken,
    Membership,
    Project,
    ProjectPolicy,
    Role,
    Scope,
)

EVENTS_SHOWN = 20
POLICY_COLUMNS = (
    "quarantine_findings",
    "auto_approve_trust",
    "reviewed_only_recall",
    "stale_after_days",
    "duplicate_cosine",
)


def members_of(project: Project) -> list[Membership]:
    return list(Membership.objects.filter(project=project).select_related("user").order_by("user__username"))


def policy_of(project_id: int | None) -> ProjectPolicy:
    """The project's policy; an unsaved one of defaults where nobody set any, and for records of no project."""
    if project_id is None:
        return ProjectPolicy()
    return ProjectPolicy.objects.filter(project_id=project_id).first() or ProjectPolicy(project_id=project_id)


def policy_rows(policy: ProjectPolicy) -> list[tuple[str, str]]:
    """(what it rules, how), in words, for those who may not change it."""
    return [(policy_label(name), policy_value(getattr(policy, name))) for name in POLICY_COLUMNS]


def policy_label(name: str) -> str:
    return str(ProjectPolicy._meta.get_field(name).verbose_name)  # type: ignore[union-attr]


def policy_value(value: object) -> str:
    if value is None:
        return _("never")
    if isinstance(value, bool):
        return _("yes") if value else _("no")
    return f"{value:.2f}" if isinstance(value, float) else str(value)


def recalling_reviewed_only(project_ids: Collection[int]) -> frozenset[int]:
    """Those of the projects whose policy lets agents recall only what was approved. One query."""
    rows = ProjectPolicy.objects.filter(project_id__in=project_ids, reviewed_only_recall=True)
    return frozenset(rows.order_by().values_list("project_id", flat=True))


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
    subject: str
    change: str
    reason: str


def access_events_of(project: Project, limit: int = EVENTS_SHOWN) -> list[EventRow]:
    """Who changed what about access, newest first."""
    return [_event_row(event) for event in AccessEvent.objects.filter(project=project)[:limit]]


def _event_row(event: AccessEvent) -> EventRow:
    reason = str(event.detail.get("reason") or "")
    if event.verb == AccessVerb.CHANGE_POLICY and event.subject in POLICY_COLUMNS:
        values = [policy_value(event.detail.get(when)) for when in ("before", "after")]
        return EventRow(event, policy_label(event.subject), " → ".join(values), reason)
    return EventRow(event, event.subject, _change(event.detail), reason)


def _change(detail: dict[str, object]) -> str:
    before, after = _word(detail.get("before")), _word(detail.get("after"))
    if before and after:
        return f"{before} → {after}"
    return after or before


def _word(value: object) -> str:
    return str(Role(value).label) if value in Role.values else str(value or "")
