"""Signing in by a proxy's word: a header that names the person, believed from the proxy's own addresses alone."""

from __future__ import annotations

import logging
from collections.abc import Callable, Sequence
from contextlib import suppress
from ipaddress import ip_address

from django.conf import settings
from django.contrib.auth import login, logout
from django.core.exceptions import MiddlewareNotUsed, ValidationError
from django.http import HttpRequest, HttpResponse

from database.transactions import transactional
from projects.actions import add_member, create_account
from projects.manager import Manager
from projects.models import Project, Role, User
from projects.names import project_named

log = logging.getLogger("memory_desk.proxy")
BACKEND = "django.contrib.auth.backends.ModelBackend"
BY_PROXY = "signed_in_by_proxy"
# They know their callers by tokens, or ask for nobody.
OTHER_DOORS = ("/api/v1/", "/mcp", "/healthz", "/metrics", "/static/")


class ProxySignIn:
    """Only where PROXY_USER_HEADER is set. A session that the proxy began ends once it names nobody, or somebody else."""

    def __init__(self, get_response: Callable[[HttpRequest], HttpResponse]) -> None:
        if not settings.PROXY_USER_HEADER:
            raise MiddlewareNotUsed
        self.get_response = get_response

    def __call__(self, request: HttpRequest) -> HttpResponse:
        if not request.path.startswith(OTHER_DOORS):
            self._settle(request)
        return self.get_response(request)

    def _settle(self, request: HttpRequest) -> None:
        named = _named(request) if is_proxy(request) else ""
        current = request.user if isinstance(request.user, User) else None
        if named and current is not None and named == current.get_username():
            return
        user = _account(named) if named else None
        if user is not None and user == current:  # the database may not tell apart letters and capitals
            return
        if current is not None and BY_PROXY in request.session:
            logout(request)
        if user is not None:
            login(request, user, backend=BACKEND)
            request.session[BY_PROXY] = True


def _named(request: HttpRequest) -> str:
    """Headers arrive as Latin-1; proxies write names in UTF-8. As accounts are named, so that it finds the one it made."""
    said = request.headers.get(settings.PROXY_USER_HEADER, "").strip()
    with suppress(UnicodeError):
        said = said.encode("latin-1").decode()
    return User.normalize_username(said)


def is_proxy(request: HttpRequest) -> bool:
    """Whether the connection itself comes from an address of PROXY_USER_FROM; what headers say of it does not count."""
    try:
        address = ip_address(request.META.get("REMOTE_ADDR") or "")
    except ValueError:
        return False
    return any(address in network for network in settings.PROXY_USER_FROM)


def _account(username: str) -> User | None:
    """The active account; one made now where PROXY_USER_PROJECTS names projects, as their viewer."""
    user = User.objects.filter(username=username).first()
    if user is not None:
        return user if user.is_active else None
    projects = [found for slug in settings.PROXY_USER_PROJECTS if (found := project_named(slug))]
    if not projects:
        return None
    try:
        return _make_viewer(username, projects)
    except ValidationError as error:
        # Of two first requests at once one makes the account, and the other finds it.
        user = User.objects.filter(username=username, is_active=True).first()
        if user is None:
            log.warning("The proxy named somebody who can be no account: %s", " ".join(error.messages))
        return user


@transactional
def _make_viewer(username: str, projects: Sequence[Project]) -> User:
    by = Manager.command("proxy")
    user = create_account(by=by, username=username, project=projects[0], role=Role.VIEWER)
    for project in projects[1:]:
        add_member(by=by, project=project, user=user, role=Role.VIEWER)
    return user
