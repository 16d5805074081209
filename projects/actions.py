"""Every change of who may see and who may write: projects, members, agents' tokens. Each leaves an access event."""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from dataclasses import dataclass
from datetime import timedelta
from typing import Any

from django.core.exceptions import PermissionDenied, ValidationError
from django.db import IntegrityError, transaction
from django.http import HttpRequest
from django.utils import timezone
from django.utils.text import slugify
from django.utils.translation import gettext as _

from database.transactions import transactional
from projects.access import OPERATOR, Access, Capability
from projects.models import (
    AccessEvent,
    AccessVerb,
    AgentToken,
    Membership,
    Project,
    ProjectPolicy,
    Role,
    Scope,
    User,
)
from projects.queries import POLICY_COLUMNS, policy_of
from projects.tokens import digest_of, new_token_text

RESERVED_SLUGS = {"new"}
TOKEN_DAYS_MOST = 3650


@dataclass(frozen=True, kw_only=True)
class Manager:
    """Who manages access, and through which door."""

    name: str
    access: Access
    channel: str
    user: User | None = None
    request_id: str = ""

    @classmethod
    def person(cls, request: HttpRequest, channel: str = "web") -> Manager:
        user = request.user
        assert isinstance(user, User)
        return cls(
            name=user.get_username(),
            access=request.access,  # type: ignore[attr-defined]
            channel=channel,
            user=user,
            request_id=getattr(request, "request_id", ""),
        )

    @classmethod
    def command(cls, name: str) -> Manager:
        """A management command, run by an operator on the machine."""
        return cls(name=name, access=OPERATOR, channel="command")

    def require(self, project: Project | None) -> None:
        if not self.access.may(project.pk if project else None, Capability.MANAGE):
            raise PermissionDenied(_("Only an admin of the project may do that."))


@transactional
def create_project(*, by: Manager, name: str, slug: str = "", pk: int | None = None) -> Project:
    """Only operators: a project is a wall, and its first admin is chosen by them. The slug comes from the name.

    `pk` keeps the number that plain-SQL writers know it by.
    """
    by.require(None)
    name = _named(name)
    slug = slug or slugify(name)[:100].strip("-")
    if not slug or slug in RESERVED_SLUGS:
        raise ValidationError({"slug": _("Give the project a short name of letters, digits and hyphens.")})
    try:
        with transaction.atomic():
            project = Project.objects.create(pk=pk, name=name, slug=slug)
    except IntegrityError as error:
        raise ValidationError({"slug": _("There is a project of that short name already.")}) from error
    _note(by, AccessVerb.CREATE_PROJECT, project, name)
    return project


@transactional
def rename_project(*, by: Manager, project: Project, name: str) -> Project:
    """The slug, and so every address, stays."""
    by.require(project)
    locked, name = _lock(project), _named(name)
    if locked.name != name:
        before, locked.name = locked.name, name
        locked.save(update_fields=["name"])
        _note(by, AccessVerb.RENAME_PROJECT, project, name, before=before, after=name)
    return locked


@transactional
def change_policy(
    *, by: Manager, project: Project, changes: Mapping[str, Any], reason: str = ""
) -> ProjectPolicy:
    """Set some of POLICY_COLUMNS; one access event for each that differs. Raises ValidationError."""
    by.require(project)
    unknown = set(changes) - set(POLICY_COLUMNS)
    if unknown:
        raise ValidationError({name: _("There is no such policy.") for name in sorted(unknown)})
    reason = _reason(reason)
    _lock(project)
    policy = policy_of(project.pk)
    differ = {name: value for name, value in changes.items() if getattr(policy, name) != value}
    if not differ:
        return policy
    if not reason:
        raise ValidationError({"reason": _("Say why: the next admin needs it.")})
    before = {name: getattr(policy, name) for name in differ}
    for name, value in differ.items():
        setattr(policy, name, value)
    policy.clean_fields(exclude=["project"])
    policy.save()
    for name in differ:
        _note(
            by,
            AccessVerb.CHANGE_POLICY,
            project,
            name,
            before=before[name],
            after=differ[name],
            reason=reason,
        )
    return policy


@transactional
def add_member(*, by: Manager, project: Project, user: User, role: str) -> Membership:
    """Adding somebody who is in changes nothing but, where it differs, the role."""
    by.require(project)
    role = _role(role)
    _lock(project)
    member, made = Membership.objects.get_or_create(project=project, user=user, defaults={"role": role})
    if not made:
        return change_role(by=by, member=member, role=role)
    _note(by, AccessVerb.ADD_MEMBER, project, user.get_username(), after=role)
    return member


@transactional
def change_role(*, by: Manager, member: Membership, role: str) -> Membership:
    """Refused for the last admin: a project that nobody manages can only be repaired by an operator."""
    by.require(member.project)
    role = _role(role)
    _lock(member.project)
    member.refresh_from_db()
    if member.role != role:
        _keep_an_admin(member)
        before, member.role = member.role, role
        member.save(update_fields=["role"])
        _note(
            by, AccessVerb.CHANGE_ROLE, member.project, member.user.get_username(), before=before, after=role
        )
    return member


@transactional
def remove_member(*, by: Manager, member: Membership) -> None:
    by.require(member.project)
    _lock(member.project)
    if not Membership.objects.filter(pk=member.pk).exists():
        return
    member.refresh_from_db()
    _keep_an_admin(member)
    _note(by, AccessVerb.REMOVE_MEMBER, member.project, member.user.get_username(), before=member.role)
    member.delete()


@transactional
def create_token(
    *,
    by: Manager,
    project: Project,
    name: str,
    agent_name: str,
    scopes: Iterable[str] = (Scope.READ, Scope.WRITE),
    days: int | None = None,
) -> tuple[AgentToken, str]:
    """The token and its text, which is nowhere kept: who loses it makes another. `days` None: it never expires."""
    by.require(project)
    wanted = [scope for scope in Scope.values if scope in set(scopes)]
    if not wanted or set(scopes) - set(Scope.values):
        raise ValidationError({"scopes": _("Choose among: %s.") % ", ".join(Scope.values)})
    if days is not None and not 1 <= days <= TOKEN_DAYS_MOST:
        raise ValidationError({"days": _("From 1 to %s days.") % TOKEN_DAYS_MOST})
    text = new_token_text()
    token = AgentToken(
        name=name.strip(),
        agent_name=agent_name.strip(),
        digest=digest_of(text),
        hint=text[-4:],
        scopes=wanted,
        created_by=by.user,
        expires_at=timezone.now() + timedelta(days=days) if days else None,
    )
    token.clean_fields(exclude=["created_by"])
    token.save()
    token.projects.add(project)
    _note(by, AccessVerb.CREATE_TOKEN, project, str(token), scopes=wanted, agent=token.agent_name)
    return token, text


@transactional
def revoke_token(*, by: Manager, project: Project, token: AgentToken) -> AgentToken:
    """At once and for good. A token of several projects that are not all the manager's only leaves this one."""
    by.require(project)
    locked = AgentToken.objects.select_for_update().get(pk=token.pk)
    others = [other for other in locked.projects.all() if other.pk != project.pk]
    if all(by.access.may(other.pk, Capability.MANAGE) for other in others):
        if locked.revoked_at is not None:
            return locked
        locked.revoked_at = timezone.now()
        locked.save(update_fields=["revoked_at"])
    else:
        locked.projects.remove(project)
    _note(by, AccessVerb.REVOKE_TOKEN, project, str(locked))
    return locked


@transactional
def create_account(
    *,
    by: Manager,
    username: str,
    project: Project | None = None,
    role: str = Role.VIEWER,
    operator: bool = False,
) -> User:
    """Without a password: its owner comes in by a one-time link and sets one. Only operators."""
    by.require(None)
    user = User(username=User.normalize_username(username), is_staff=operator, is_superuser=operator)
    user.set_unusable_password()
    user.full_clean(exclude=["password"])
    user.save()
    _note(by, AccessVerb.CREATE_ACCOUNT, None, user.get_username(), operator=operator)
    if project is not None:
        add_member(by=by, project=project, user=user, role=role)
    return user


def _named(name: str) -> str:
    name = name.strip()
    if not 1 <= len(name) <= 255 or "\x00" in name:
        raise ValidationError({"name": _("A name has 1 to 255 characters.")})
    return name


def _reason(reason: str) -> str:
    reason = reason.strip()
    if len(reason) > 500 or "\x00" in reason or not reason.isprintable():
        raise ValidationError({"reason": _("At most 500 printable characters, on one line.")})
    return reason


def _role(role: str) -> str:
    if role not in Role.values:
        raise ValidationError({"role": _("Choose among: %s.") % ", ".join(Role.values)})
    return role


def _lock(project: Project) -> Project:
    """One change of a project's people at a time: two admins who remove each other at once leave one."""
    return Project.objects.select_for_update().get(pk=project.pk)


def _keep_an_admin(member: Membership) -> None:
    if member.role != Role.ADMIN:
        return
    others = Membership.objects.filter(project=member.project, role=Role.ADMIN, user__is_active=True)
    if not others.exclude(pk=member.pk).exists():
        raise ValidationError(
            {
                "role": _("%s is the last admin of this project. Make somebody else an admin first.")
                % member.user
            }
        )


def _note(by: Manager, verb: AccessVerb, project: Project | None, subject: str, **detail: Any) -> None:
    AccessEvent.objects.create(
        project=project,
        verb=verb,
        subject=subject[:255],
        detail=detail,
        user=by.user,
        actor_name=by.name,
        channel=by.channel,
        request_id=by.request_id,
        created_at=timezone.now(),
    )
