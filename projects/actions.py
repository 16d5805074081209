"""Every change of who may see and who may write: projects, members, agents' tokens. Each leaves an access event."""

from __future__ import annotations

from collections.abc import Iterable
from datetime import timedelta

from django.core.exceptions import ValidationError
from django.db import IntegrityError, transaction
from django.utils import timezone
from django.utils.text import slugify
from django.utils.translation import gettext as _

from database.transactions import transactional
from projects.access import Capability
from projects.invitations import withdraw_of_former_admin
from projects.manager import (
    Manager,
    checked_name,
    checked_role,
    keep_an_admin,
    lock_project,
    new_account,
    note,
)
from projects.models import AccessVerb, AgentToken, Membership, Project, Role, Scope, User
from projects.naming import checked_slug, lock_names
from projects.tokens import digest_of, new_token_text

TOKEN_DAYS_MOST = 3650


@transactional
def create_project(*, by: Manager, name: str, slug: str = "", pk: int | None = None) -> Project:
    """Only operators: a project is a wall, and its first admin is chosen by them. The slug comes from the name.

    `pk` keeps the number that plain-SQL writers know it by.
    """
    by.require(None)
    name = checked_name(name)
    lock_names()
    slug = checked_slug(slug or slugify(name)[:100].strip("-"))
    try:
        with transaction.atomic():
            project = Project.objects.create(pk=pk, name=name, slug=slug)
    except IntegrityError as error:
        raise ValidationError({"slug": _("There is a project of that short name already.")}) from error
    note(by, AccessVerb.CREATE_PROJECT, project, name)
    return project


@transactional
def add_member(*, by: Manager, project: Project, user: User, role: str) -> Membership:
    """Adding somebody who is in changes nothing but, where it differs, the role."""
    by.require(project)
    role = checked_role(role)
    lock_project(project)
    member, made = Membership.objects.get_or_create(project=project, user=user, defaults={"role": role})
    if not made:
        return change_role(by=by, member=member, role=role)
    note(by, AccessVerb.ADD_MEMBER, project, user.get_username(), after=role)
    return member


@transactional
def change_role(*, by: Manager, member: Membership, role: str) -> Membership:
    """Refused for the last admin: a project that nobody manages can only be repaired by an operator."""
    by.require(member.project)
    role = checked_role(role)
    lock_project(member.project)
    if not Membership.objects.filter(pk=member.pk).exists():
        raise ValidationError(_("%s is not in this project any more.") % member.user)
    member.refresh_from_db()
    if member.role != role:
        keep_an_admin(member)
        before, member.role = member.role, role
        member.save(update_fields=["role"])
        note(
            by, AccessVerb.CHANGE_ROLE, member.project, member.user.get_username(), before=before, after=role
        )
        withdraw_of_former_admin(by=by, user=member.user)
    return member


@transactional
def remove_member(*, by: Manager, member: Membership) -> None:
    by.require(member.project)
    lock_project(member.project)
    if not Membership.objects.filter(pk=member.pk).exists():
        return
    member.refresh_from_db()
    keep_an_admin(member)
    note(by, AccessVerb.REMOVE_MEMBER, member.project, member.user.get_username(), before=member.role)
    member.delete()
    withdraw_of_former_admin(by=by, user=member.user)


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
    note(by, AccessVerb.CREATE_TOKEN, project, str(token), scopes=wanted, agent=token.agent_name)
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
    note(by, AccessVerb.REVOKE_TOKEN, project, str(locked))
    return locked


@transactional
def create_account(
    *,
    by: Manager,
    username: str,
    email: str = "",
    project: Project | None = None,
    role: str = Role.VIEWER,
    operator: bool = False,
) -> User:
    """Without a password: its owner comes in by a one-time link and sets one. Only operators."""
    by.require(None)
    user = new_account(username, email=email, is_staff=operator, is_superuser=operator)
    note(by, AccessVerb.CREATE_ACCOUNT, None, user.get_username(), operator=operator)
    if project is not None:
        add_member(by=by, project=project, user=user, role=role)
    return user
