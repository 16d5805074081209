"""Who changes access, and what every such change needs: the right, a lock, an event that stays."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

from django.contrib.auth.password_validation import validate_password
from django.core.exceptions import PermissionDenied, ValidationError
from django.db import IntegrityError, transaction
from django.http import HttpRequest
from django.utils import timezone
from django.utils.translation import gettext as _

from projects.access import OPERATOR, Access, Capability
from projects.models import AccessEvent, AccessVerb, Membership, Project, Role, User


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

    def require_operator(self) -> None:
        if not self.access.everywhere:
            raise PermissionDenied(_("Only an operator of this desk may do that."))


def new_account(username: str, password: str | None = None, **fields: Any) -> User:
    """Saved, with a password that cannot be used where none is given. ValidationError by field, to whom another took the
    name from just now too."""
    user = User(username=User.normalize_username(username), **fields)
    user.set_unusable_password()
    user.full_clean(exclude=["password"])
    if password is not None:
        try:
            validate_password(password, user)
        except ValidationError as error:
            raise ValidationError({"password": error.messages}) from error
        user.set_password(password)
    try:
        with transaction.atomic():
            user.save()
    except IntegrityError as error:
        raise ValidationError({"username": _("Somebody is called so already.")}) from error
    return user


def lock_project(project: Project) -> Project:
    """One change of a project's people at a time: two admins who remove each other at once leave one."""
    return Project.objects.select_for_update().get(pk=project.pk)


def keep_an_admin(member: Membership) -> None:
    """Refused for the last admin who can sign in: nobody but an operator could repair the project."""
    if member.role != Role.ADMIN:
        return
    others = Membership.objects.filter(project=member.project, role=Role.ADMIN, user__is_active=True)
    if not others.exclude(pk=member.pk).exists():
        raise ValidationError(
            {
                "role": _("%(who)s is the last admin of %(project)s. Make somebody else an admin first.")
                % {"who": member.user, "project": member.project}
            }
        )


def checked_role(role: str) -> str:
    if role not in Role.values:
        raise ValidationError({"role": _("Choose among: %s.") % ", ".join(Role.values)})
    return role


def checked_name(name: str) -> str:
    name = name.strip()
    if not 1 <= len(name) <= 255 or "\x00" in name:
        raise ValidationError({"name": _("A name has 1 to 255 characters.")})
    return name


def checked_reason(reason: str) -> str:
    reason = reason.strip()
    if len(reason) > 500 or "\x00" in reason or not reason.isprintable():
        raise ValidationError({"reason": _("At most 500 printable characters, on one line.")})
    return reason


def note(by: Manager, verb: AccessVerb, project: Project | None, subject: str, **detail: Any) -> None:
    """The event of one change, within its transaction."""
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
