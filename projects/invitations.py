"""Inviting by a link: who has it makes an account of their own, or adds the role to the one they have. It works once."""

from __future__ import annotations

import secrets
from datetime import timedelta

from django.core.exceptions import ValidationError
from django.utils import timezone
from django.utils.translation import gettext as _

from database.transactions import transactional
from projects.access import Access, Capability, access_of_user
from projects.manager import Manager, checked_role, lock_project, new_account, note
from projects.models import AccessVerb, Invitation, Membership, Project, Role, User
from projects.queries import invitation_digest, invitation_of, open_invitations

DAYS, DAYS_MOST = 7, 30
OPEN_MOST = 100  # of one project
RANK = [Role.VIEWER, Role.CURATOR, Role.ADMIN]


@transactional
def invite(
    *, by: Manager, project: Project, role: str, note_text: str = "", days: int = DAYS
) -> tuple[Invitation, str]:
    """The invitation, and the secret of its link, which is nowhere kept."""
    by.require(project)
    role = checked_role(role)
    if not 1 <= days <= DAYS_MOST:
        raise ValidationError({"days": _("From 1 to %s days.") % DAYS_MOST})
    note_text = note_text.strip()
    if len(note_text) > 255 or not note_text.isprintable():
        raise ValidationError({"note": _("At most 255 printable characters, on one line.")})
    lock_project(project)
    if open_invitations().filter(project=project).count() >= OPEN_MOST:
        raise ValidationError(_("%s invitations are open already: withdraw some first.") % OPEN_MOST)
    text = secrets.token_urlsafe(32)
    made = Invitation.objects.create(
        project=project,
        role=role,
        note=note_text,
        digest=invitation_digest(text),
        created_by=by.user,
        expires_at=timezone.now() + timedelta(days=days),
    )
    note(by, AccessVerb.INVITE, project, _subject(made), after=role)
    return made, text


@transactional
def withdraw(*, by: Manager, invitation: Invitation) -> bool:
    """False where it was accepted or withdrawn before."""
    by.require(invitation.project)
    return _withdraw(by, invitation)


def withdraw_of_former_admin(*, by: Manager, user: User) -> None:
    """What they invited to before and may invite to no more. In the transaction that took the right away."""
    access = access_of_user(user)
    for one in open_invitations().filter(created_by=user).select_related("project").order_by("pk"):
        if not access.may(one.project_id, Capability.MANAGE):
            _withdraw(by, one)


def _withdraw(by: Manager, invitation: Invitation) -> bool:
    unused = Invitation.objects.filter(pk=invitation.pk, accepted_at=None, withdrawn_at=None)
    if not unused.update(withdrawn_at=timezone.now()):
        return False
    note(by, AccessVerb.WITHDRAW_INVITATION, invitation.project, _subject(invitation))
    return True


@transactional
def accept_with_new_account(
    *, text: str, username: str, password: str, request_id: str = ""
) -> tuple[User, Project]:
    """Makes the account with a password of its owner's. ValidationError by field; nothing is written then."""
    invitation = _claim(text)
    user = new_account(username, password)
    note(_self(user, request_id), AccessVerb.CREATE_ACCOUNT, None, user.get_username(), operator=False)
    return user, _join(invitation, user, request_id)


@transactional
def accept(*, text: str, user: User, request_id: str = "") -> Project:
    """Adds the role to an account; a greater one that it has already stays."""
    if not user.is_active:
        raise ValidationError(_("This account is deactivated."))
    return _join(_claim(text), user, request_id)


def _claim(text: str) -> Invitation:
    found = invitation_of(text)
    if found is None or not open_invitations().filter(pk=found.pk).update(accepted_at=timezone.now()):
        raise ValidationError(_("This invitation no longer works."))
    return found


def _join(invitation: Invitation, user: User, request_id: str) -> Project:
    project = lock_project(invitation.project)
    Invitation.objects.filter(pk=invitation.pk).update(accepted_by=user)
    member, made = Membership.objects.get_or_create(
        project=project, user=user, defaults={"role": invitation.role}
    )
    before = None if made else member.role
    if not made and RANK.index(Role(member.role)) < RANK.index(Role(invitation.role)):
        member.role = invitation.role
        member.save(update_fields=["role"])
    by = _self(user, request_id)
    note(
        by,
        AccessVerb.ACCEPT_INVITATION,
        project,
        _subject(invitation),
        before=before,
        after=member.role,
    )
    return project


def _self(user: User, request_id: str) -> Manager:
    return Manager(name=user.get_username(), access=Access(), channel="web", user=user, request_id=request_id)


def _subject(invitation: Invitation) -> str:
    return invitation.note or f"#{invitation.pk}"
