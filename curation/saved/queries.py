"""Reads of saved filters."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

from django.core.cache import cache
from django.urls import NoReverseMatch

from curation.models import SavedFilter
from curation.saved.items import path_of
from projects.models import Project

KEPT_SECONDS = 60


@dataclass(frozen=True)
class Shortcut:
    """A saved filter as a link."""

    name: str
    page: str
    path: str
    query: str


def cache_key(user_id: int, project_id: int) -> str:
    return f"saved.filters.{user_id}.{project_id}"


def saved_filters(user: Any, project: Project) -> list[SavedFilter]:
    """A person's own, by name."""
    return list(SavedFilter.objects.filter(user=user, project=project))


def shortcuts(user: Any, project: Project) -> list[Shortcut]:
    """Of the rail of every page: kept for a minute in each process, and read anew after a change in this one."""
    key = cache_key(user.pk, project.pk)
    rows: list[tuple[str, str, str]] | None = cache.get(key)
    if rows is None:
        rows = [(saved.name, saved.page, saved.query) for saved in saved_filters(user, project)]
        cache.set(key, rows, KEPT_SECONDS)
    found = []
    for name, page, query in rows:
        try:
            path = path_of(SavedFilter(page=page, query=query), project)
        except NoReverseMatch:  # of a page that this version has no more
            continue
        found.append(Shortcut(name, page, path, query))
    return found
