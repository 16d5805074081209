"""Accounts as a whole: who may reset whose password, deactivate and reactivate. They are of the desk, not of a project."""

from __future__ import annotations

from typing import Any

from django.core.exceptions import PermissionDenied, ValidationError
from django.urls import reverse
from django.utils import timezone
from django.utils.encoding import force_bytes
from django.utils.http import urlsafe_base64_encode
from django.utils.translation import gettext as _

from database.transactions import transactional
from projects.access import Capability
from projects.actions import create_account
from projects.invitations import withdraw_of_former_admin
from projects.login_links import reset_links
from projects.manager import Manager, checked_reason, keep_an_admin, lock_project, note
from projects.models import AccessVerb, Membership, Project, Role, User


def may_reset(by: Manager, user: User) -> bool:
    """An operator; or an admin of every project that the account is in, since who sets a password can be its owner."""
    if by.access.everywhere:
        return True
    inside = list(user.memberships.values_list("project_id", flat=True))
    own = by.user is not None and by.user.pk == user.pk
    managed = bool(inside) and all(by.access.may(project_id, Capability.MANAGE) for project_id in inside)
    return managed and not own and not user.is_superuser


@transactional
def reset_link(*, by: Manager, user: User) -> str:
    """The path of a page where the account's owner sets a new password; it works once, for a day."""
    if not may_reset(by, user):
        raise PermissionDenied(_("Only an admin of all its projects, or an operator, may do that."))
    if not user.is_active:
        raise ValidationError(_("This account is deactivated."))
    note(by, AccessVerb.RESET_PASSWORD, None, user.get_username())
    uid = urlsafe_base64_encode(force_bytes(user.pk))
    return reverse("password_reset", args=[uid, reset_links.make_token(user)])


@transactional
def create_account_with_link(
    *, by: Manager, username: str, email: str, project: Project | None, role: str
) -> tuple[User, str]:
    """The account, and the path of the page where its owner sets the first password: both or neither."""
    user = create_account(by=by, username=username, email=email, project=project, role=role)
    return user, reset_link(by=by, user=user)


@transactional
def deactivate(*, by: Manager, user: User, reason: str) -> User:
    """Its sessions, links, feeds and open invitations end at once, and do not come back with it. The last operator and the last admin of a
    project stay."""
    by.require_operator()
    reason = checked_reason(reason)
    if not reason:
        raise ValidationError({"reason": _("Say why: the next admin needs it.")})
    memberships = list(
        Membership.objects.filter(user=user, role=Role.ADMIN).select_related("project", "user")
    )
    for member in sorted(memberships, key=lambda member: member.project_id):
        lock_project(member.project)
    # All operators, so that two who deactivate each other at once leave one.
    operators = list(
        User.objects.select_for_update().filter(is_superuser=True, is_active=True).order_by("pk")
    )
    locked = User.objects.select_for_update().get(pk=user.pk)
    if not locked.is_active:
        return locked
    if operators == [locked]:
        raise ValidationError(_("%s is the last operator of this desk.") % locked)
    for member in memberships:
        keep_an_admin(member)
    locked.is_active, locked.signed_out_at = False, timezone.now()
    locked.save(update_fields=["is_active", "signed_out_at"])
    note(by, AccessVerb.DEACTIVATE, None, locked.get_username(), reason=reason)
    withdraw_of_former_admin(by=by, user=locked)
    return locked


@transactional
def reactivate(*, by: Manager, user: User) -> User:
    """With its roles and its password; it signs in anew."""
    by.require_operator()
    locked = User.objects.select_for_update().get(pk=user.pk)
    if not locked.is_active:
        locked.is_active = True
        locked.save(update_fields=["is_active"])
        note(by, AccessVerb.REACTIVATE, None, locked.get_username())
    return locked


def keep_preferences(user: User, **chosen: Any) -> None:
    """One's own address, zone, looks and digest: these columns alone. What an operator does to the account meanwhile stays."""
    User.objects.filter(pk=user.pk).update(**chosen)


def hide_first_run(user: User) -> None:
    """For this person, on every project's overview."""
    User.objects.filter(pk=user.pk, first_run_hidden_at=None).update(first_run_hidden_at=timezone.now())
