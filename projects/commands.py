"""What management commands share: the project that they are told by name."""

from __future__ import annotations

from django.core.management.base import CommandError

from projects.models import Project
from projects.names import project_named


def told_project(name: str) -> Project:
    """The project of this slug or alias. Raises CommandError."""
    project = project_named(name)
    if project is None:
        raise CommandError(no_project(name))
    return project


def told_project_or_none(name: str | None) -> Project | None:
    """The same, where the command may be told none."""
    return told_project(name) if name else None


def no_project(name: str) -> str:
    """What a command answers where there is none of this name."""
    return f"There is no project {name!r}. There is: {known_projects() or 'none yet'}."


def known_projects() -> str:
    return ", ".join(Project.objects.order_by("slug").values_list("slug", flat=True)[:20])
