"""The one answer to "may this person or token do that in this project?"."""

from collections.abc import Callable, Mapping
from dataclasses import dataclass, field
from enum import StrEnum
from functools import wraps
from typing import Any

from django.core.exceptions import PermissionDenied
from django.http import Http404, HttpRequest, HttpResponse, HttpResponseRedirect
from django.urls import reverse

from projects.models import AgentToken, Membership, Project, Role, Scope, User
from projects.names import project_named


class Capability(StrEnum):
    READ = "read"
    WRITE = "write"
    REVIEW = "review"
    MANAGE = "manage"


READ_ONLY = frozenset({Capability.READ})
ALL = frozenset(Capability)
ROLE_GIVES = {
    Role.VIEWER: READ_ONLY,
    Role.CURATOR: frozenset({Capability.READ, Capability.WRITE, Capability.REVIEW}),
    Role.ADMIN: ALL,
}
SCOPE_GIVES = {Scope.READ: Capability.READ, Scope.WRITE: Capability.WRITE, Scope.REVIEW: Capability.REVIEW}


@dataclass(frozen=True)
class Access:
    """What one person, token or command may do: per project, or (`everywhere`) in all and in records of none."""

    projects: Mapping[int, frozenset[Capability]] = field(default_factory=dict)
    everywhere: bool = False

    def may(self, project_id: int | None, capability: Capability = Capability.READ) -> bool:
        if self.everywhere:
            return True
        return project_id is not None and capability in self.projects.get(project_id, frozenset())

    def project_ids(self, capability: Capability = Capability.READ) -> list[int]:
        return [project_id for project_id, granted in self.projects.items() if capability in granted]

    @property
    def manages_any(self) -> bool:
        """An admin of some project, or an operator: who may see how the desk as a whole is doing."""
        return self.everywhere or bool(self.project_ids(Capability.MANAGE))


NOBODY = Access()
OPERATOR = Access(everywhere=True)


def access_of_user(user: Any) -> Access:
    if not isinstance(user, User) or not user.is_active:
        return NOBODY
    if user.is_superuser:
        return OPERATOR
    roles = Membership.objects.filter(user=user).values_list("project_id", "role")
    return Access({project_id: ROLE_GIVES[Role(role)] for project_id, role in roles})


def access_of_token(token: AgentToken) -> Access:
    """A live token's scopes, the same in each of its projects."""
    if not token.is_live:
        return NOBODY
    granted = frozenset(SCOPE_GIVES[Scope(scope)] for scope in token.scopes if scope in Scope.values)
    return Access({project.pk: granted for project in token.reach})


def visible_projects(access: Access) -> list[Project]:
    """The projects a person or token may read, by name."""
    projects = Project.objects.all()
    return list(projects if access.everywhere else projects.filter(pk__in=access.project_ids()))


def project_or_404(access: Access, slug: str, capability: Capability = Capability.READ) -> Project:
    """The project by slug or alias: 404 where it may not be seen, 403 where it may be seen but not this."""
    project = project_named(slug)
    if project is None or not access.may(project.pk):
        raise Http404
    if not access.may(project.pk, capability):
        raise PermissionDenied
    return project


def in_project(capability: Capability = Capability.READ) -> Callable[..., Any]:
    """View decorator: turns the URL's slug into the project, after `project_or_404`. An alias leads to the slug."""

    def decorate(view: Callable[..., HttpResponse]) -> Callable[..., HttpResponse]:
        @wraps(view)
        def wrapped(request: HttpRequest, slug: str, *args: Any, **kwargs: Any) -> HttpResponse:
            project = project_or_404(request.access, slug, capability)  # type: ignore[attr-defined]
            if project.slug != slug and request.method in ("GET", "HEAD"):
                return _by_its_slug(request, project)
            request.project = project  # type: ignore[attr-defined]
            return view(request, project, *args, **kwargs)

        wrapped.capability = capability  # type: ignore[attr-defined]
        return wrapped

    return decorate


def _by_its_slug(request: HttpRequest, project: Project) -> HttpResponse:
    """Not for ever: an alias may be given up, and a browser would keep on going there."""
    match = request.resolver_match
    assert match is not None
    address = reverse(match.view_name, kwargs={**match.kwargs, "slug": project.slug})
    query = request.META.get("QUERY_STRING", "")
    return HttpResponseRedirect(f"{address}?{query}" if query else address)


def for_operators(view: Callable[..., HttpResponse]) -> Callable[..., HttpResponse]:
    """View decorator for pages of the whole desk: 403 for everybody but its operators."""

    @wraps(view)
    def wrapped(request: HttpRequest, *args: Any, **kwargs: Any) -> HttpResponse:
        if not request.access.everywhere:  # type: ignore[attr-defined]
            raise PermissionDenied
        return view(request, *args, **kwargs)

    return wrapped


def for_managers(view: Callable[..., HttpResponse]) -> Callable[..., HttpResponse]:
    """View decorator for pages of no project: 403 for those who manage none. What they see stays within their own."""

    @wraps(view)
    def wrapped(request: HttpRequest, *args: Any, **kwargs: Any) -> HttpResponse:
        if not request.access.manages_any:  # type: ignore[attr-defined]
            raise PermissionDenied
        return view(request, *args, **kwargs)

    wrapped.for_managers = True  # type: ignore[attr-defined]
    return wrapped
