"""What a token's scopes open. Which records it may touch, the verbs and queries say."""

from __future__ import annotations

from typing import TYPE_CHECKING

from django.utils.translation import gettext as _
from rest_framework.exceptions import NotAuthenticated, PermissionDenied
from rest_framework.permissions import SAFE_METHODS, BasePermission
from rest_framework.request import Request

from projects.access import SCOPE_GIVES, Capability
from projects.models import AgentToken, Scope
from records.actor import Actor

if TYPE_CHECKING:
    from rest_framework.views import APIView  # which itself loads this module


def scopes_give(token: AgentToken) -> set[Capability]:
    """What the token may ask for, in its projects."""
    return {SCOPE_GIVES[Scope(scope)] for scope in token.scopes if scope in Scope.values}


class TokenScope(BasePermission):
    """`read` for reading, `write` for the rest, or what the action itself names."""

    def has_permission(self, request: Request, view: APIView) -> bool:
        actor = request.auth
        if not isinstance(actor, Actor) or actor.token is None:
            raise NotAuthenticated
        if request.method not in view.allowed_methods:
            return True  # no such method here: 405 for everyone
        needed = getattr(view, "capability", None) or (
            Capability.READ if request.method in SAFE_METHODS else Capability.WRITE
        )
        if needed not in scopes_give(actor.token):
            raise PermissionDenied(_("This token lacks the scope: %s.") % needed)
        return True
