"""Reads of the project page, and of the desk's accounts."""

from __future__ import annotations

from collections.abc import Collection
from dataclasses import dataclass
from datetime import datetime

from django.db.models import Prefetch, Q, QuerySet
from django.shortcuts import get_object_or_404
from django.utils import timezone
from django.utils.translation import gettext as _
from django.utils.translation import gettext_lazy

from projects.models import (
    AccessEvent,
    AccessVerb,
    AgentToken,
    Invitation,
    Membership,
    Project,
    ProjectAlias,
    ProjectPolicy,
    Role,
    Scope,
    User,
)
from projects.tokens import digest_of

EVENTS_SHOWN = 20
INVITATIONS_SHOWN = 120
ACCOUNTS_SHOWN = 200
POLICY_COLUMNS = (
    "quarantine_findings",
    "auto_approve_trust",
    "reviewed_only_recall",
    "stale_after_days",
    "duplicate_cosine",
    "prior_weight",
    "confidence_half_life_days",
    "keep_reads_days",
)
# What an empty value says of the others: "never" happens to them.
EMPTY_MEANS = {"keep_reads_days": gettext_lazy("as long as the desk keeps them")}


def aliases_of(project: Project) -> list[ProjectAlias]:
    return list(ProjectAlias.objects.filter(project=project))


def accounts_found(words: str = "") -> QuerySet[User]:
    """By name, with their memberships; whose name, user name or address holds the words."""
    memberships = Membership.objects.select_related("project").order_by("project__name")
    users = User.objects.prefetch_related(Prefetch("memberships", memberships)).order_by("username")
    if words:
        said = Q()
        for name in ("username", "first_name", "last_name", "email"):
            said |= Q(**{f"{name}__icontains": words})
        users = users.filter(said)
    return users


@dataclass(frozen=True)
class InvitationRow:
    invitation: Invitation
    state: str
    level: str
    is_open: bool


def invitations_of(project: Project, limit: int = INVITATIONS_SHOWN) -> list[InvitationRow]:
    """Those that are open, and what became of the newest others. Newest first, the open ones before all."""
    rows = Invitation.objects.filter(project=project).select_related("created_by", "accepted_by")
    waiting = list(open_invitations(rows))
    others = rows.exclude(pk__in=[row.pk for row in waiting])[: max(0, limit - len(waiting))]
    return [_invitation_row(row, timezone.now()) for row in [*waiting, *others]]


def open_invitations(among: QuerySet[Invitation] | None = None) -> QuerySet[Invitation]:
    """Those that can still be accepted."""
    rows = Invitation.objects.all() if among is None else among
    return rows.filter(accepted_at=None, withdrawn_at=None, expires_at__gt=timezone.now())


def invitation_of(text: str) -> Invitation | None:
    """The invitation of this link, if it can still be accepted."""
    if not 20 <= len(text) <= 100:
        return None
    rows = open_invitations().filter(digest=invitation_digest(text))
    return rows.select_related("project", "created_by").first()


def invitation_digest(text: str) -> str:
    return digest_of(f"invitation {text}")


def _invitation_row(invitation: Invitation, now: datetime) -> InvitationRow:
    if invitation.accepted_at is not None:
        return InvitationRow(invitation, _("accepted by %s") % (invitation.accepted_by or "?"), "good", False)
    if invitation.withdrawn_at is not None:
        return InvitationRow(invitation, _("withdrawn"), "mute", False)
    if invitation.expires_at <= now:
        return InvitationRow(invitation, _("expired"), "warn", False)
    return InvitationRow(invitation, _("open"), "info", True)


def members_of(project: Project) -> list[Membership]:
    return list(Membership.objects.filter(project=project).select_related("user").order_by("user__username"))


def member_or_404(project: Project, member_id: int) -> Membership:
    members = Membership.objects.select_related("user", "project")
    return get_object_or_404(members, pk=member_id, project=project)


def policy_of(project_id: int | None) -> ProjectPolicy:
    """The project's policy; an unsaved one of defaults where nobody set any, and for records of no project."""
    if project_id is None:
        return ProjectPolicy()
    return ProjectPolicy.objects.filter(project_id=project_id).first() or ProjectPolicy(project_id=project_id)


def policy_rows(policy: ProjectPolicy) -> list[tuple[str, str]]:
    """(what it rules, how), in words, for those who may not change it."""
    return [(policy_label(name), policy_value(getattr(policy, name), name)) for name in POLICY_COLUMNS]


def policy_label(name: str) -> str:
    return str(ProjectPolicy._meta.get_field(name).verbose_name)  # type: ignore[union-attr]


def policy_value(value: object, name: str = "") -> str:
    if value is None:
        return str(EMPTY_MEANS.get(name, _("never")))
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
        values = [policy_value(event.detail.get(when), event.subject) for when in ("before", "after")]
        return EventRow(event, policy_label(event.subject), " → ".join(values), reason)
    return EventRow(event, event.subject, _change(event.detail), reason)


def _change(detail: dict[str, object]) -> str:
    before, after = _word(detail.get("before")), _word(detail.get("after"))
    if before and after:
        return f"{before} → {after}"
    return after or before


def _word(value: object) -> str:
    return str(Role(value).label) if value in Role.values else str(value or "")
