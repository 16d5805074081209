"""The strip that says, with this desk's own values, how memories get in. Shown until its reader hides it."""

from __future__ import annotations

from dataclasses import dataclass

from django.http import HttpRequest
from django.urls import reverse

from projects.models import Project, User
from projects.snippets import address_of, import_command, write_command


@dataclass(frozen=True)
class FirstRun:
    import_command: str
    agent_command: str
    tokens_url: str
    dismiss_url: str


def first_run_of(request: HttpRequest, project: Project | None) -> FirstRun | None:
    """None but on a project's overview, and for those who hid it there."""
    user = request.user
    on_overview = request.resolver_match is not None and request.resolver_match.view_name == "desk:overview"
    if (
        project is None
        or not on_overview
        or not isinstance(user, User)
        or user.first_run_hidden_at is not None
    ):
        return None
    return FirstRun(
        import_command=import_command(project),
        agent_command=write_command(address_of(request), project),
        tokens_url=reverse("projects:settings", args=[project.slug]),
        dismiss_url=reverse("desk:hide_first_run", args=[project.slug]),
    )
