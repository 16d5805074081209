"""The Connect page: how an agent's client is told of the desk, who came, and what is offered."""

from __future__ import annotations

from typing import Any

from django.core.exceptions import ValidationError
from django.http import HttpRequest, HttpResponse
from django.shortcuts import render
from django.views.decorators.cache import never_cache
from django.views.decorators.http import require_http_methods, require_safe

from agent_api.connect.snippets import snippets
from agent_api.queries import agents_seen, catalogue_of
from projects.access import Capability, in_project
from projects.actions import create_token
from projects.forms import TokenForm, add_errors
from projects.manager import Manager
from projects.models import Project
from projects.snippets import address_of, export_command, token_command


@require_safe
@in_project()
def page(request: HttpRequest, project: Project) -> HttpResponse:
    return _page(request, project)


@never_cache
@require_http_methods(["POST"])
@in_project(Capability.MANAGE)
def new_token(request: HttpRequest, project: Project) -> HttpResponse:
    """Answers with the token's text in the snippets: it is in no address, no cookie and no log."""
    form = TokenForm(request.POST)
    if form.is_valid():
        try:
            token, text = create_token(by=Manager.person(request), project=project, **form.cleaned_data)
        except ValidationError as error:
            add_errors(form, error)
        else:
            given = {"new_token": token, "export_command": export_command(text), "text": text}
            return _page(request, project, status=201, **given)
    return _page(request, project, status=422, token_form=form)


@require_safe
@in_project()
def seen(request: HttpRequest, project: Project) -> HttpResponse:
    """The part that the page asks for again while somebody looks at it."""
    return render(request, "agent_api/_seen.html", {"project": project, "seen": agents_seen(project)})


def _page(request: HttpRequest, project: Project, status: int = 200, **more: Any) -> HttpResponse:
    address = address_of(request)
    manages = request.access.may(project.pk, Capability.MANAGE)  # type: ignore[attr-defined]
    context: dict[str, Any] = {
        "project": project,
        "address": f"{address}/mcp",
        "snippets": snippets(address, project, more.pop("text", None)),
        "seen": agents_seen(project),
        "catalogue": catalogue_of(project),
        "manages": manages,
        "token_command": token_command(project),
        **({"token_form": TokenForm()} if manages else {}),
        **more,
    }
    return render(request, "agent_api/connect.html", context, status=status)
