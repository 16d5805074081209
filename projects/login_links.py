"""One-time links: how a person gets in, or sets a password, before there is one or after it was forgotten."""

from typing import Any

from django.conf import settings
from django.contrib.auth.tokens import PasswordResetTokenGenerator
from django.urls import reverse
from django.utils import timezone
from django.utils.encoding import force_bytes
from django.utils.http import urlsafe_base64_decode, urlsafe_base64_encode

from projects.models import Membership, User


class LoginLinkGenerator(PasswordResetTokenGenerator):
    """Signs who and until when; a login, a new password or a deactivation makes the link worthless."""

    key_salt = "projects.login_links"

    def _make_hash_value(self, user: Any, timestamp: int) -> str:
        last_login = "" if user.last_login is None else user.last_login.isoformat()
        out = "" if user.signed_out_at is None else user.signed_out_at.isoformat()
        return f"{user.pk}|{user.password}|{last_login}|{user.is_active}{out}|{timestamp}"


class ResetLinkGenerator(PasswordResetTokenGenerator):
    """Who sets a password can be the account's owner: worthless too once the account is deactivated, or may do anything
    else than when the link was made, since whoever made it was asked for its rights of then."""

    key_salt = "projects.reset_links"

    def _make_hash_value(self, user: Any, timestamp: int) -> str:
        roles = Membership.objects.filter(user=user).order_by("project_id").values_list("project_id", "role")
        out = "" if user.signed_out_at is None else user.signed_out_at.isoformat()
        rights = f"{user.is_active}|{user.is_superuser}|{user.is_staff}|{list(roles)}|{out}"
        return f"{super()._make_hash_value(user, timestamp)}|{rights}"


_generator = LoginLinkGenerator()
reset_links = ResetLinkGenerator()


def login_link_for(user: User) -> str:
    """The whole address. It works once, for settings.PASSWORD_RESET_TIMEOUT seconds."""
    uid = urlsafe_base64_encode(force_bytes(user.pk))
    path = reverse("login_link", args=[uid, _generator.make_token(user)])
    return f"{settings.SITE_URL}{path}"


def user_of_link(uidb64: str, token: str) -> User | None:
    """Whom the link lets in; None for one that is wrong, used or too old."""
    try:
        key = int(urlsafe_base64_decode(uidb64).decode("ascii"))
        user = User.objects.filter(pk=key, is_active=True).first() if 0 < key < 2**63 else None
    except (ValueError, OverflowError):
        return None
    return user if user is not None and _generator.check_token(user, token) else None


def claim_link(user: User) -> bool:
    """Use the link up. False when another request with the same link was first."""
    unused = User.objects.filter(pk=user.pk, last_login=user.last_login, password=user.password)
    return bool(unused.update(last_login=timezone.now()))
