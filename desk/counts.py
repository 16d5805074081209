"""Capped counts per kind for the rail and the overview: one statement, kept until the project's history moves."""

from __future__ import annotations

from dataclasses import dataclass
from time import monotonic
from typing import Any

from django.core.cache import cache
from django.db import connection

from projects.models import Project
from records.kinds import Kind, all_kinds, kind_named
from records.models import ReviewState
from records.paging import COUNT_EXACT_TO, count_label
from records.queries import newest_revision

# Every act, a plain-SQL one after its sweep too, writes a revision; so counts hold as long as the newest one does.
KEPT_SECONDS = 30.0


@dataclass(frozen=True)
class KindCount:
    """Active records of a kind, and how many of them wait for a person; both capped (`label` says "10,000+")."""

    kind: Kind
    count: int
    waiting: int

    @property
    def label(self) -> str:
        return count_label(self.count)

    @property
    def waiting_label(self) -> str:
        return count_label(self.waiting)


def counts_by_kind(project: Project) -> dict[str, KindCount]:
    """By kind name. One query, or two when something was written since the last call."""
    newest = newest_revision(project.pk)
    key = f"desk.counts.{project.pk}"
    kept = cache.get(key)
    if kept is not None:
        seen, at, numbers = kept
        age = monotonic() - at
        if seen == newest and age < KEPT_SECONDS:
            return _named(numbers)
    numbers = _count(project)
    cache.set(key, (newest, monotonic(), numbers), KEPT_SECONDS)
    return _named(numbers)


def _named(numbers: dict[str, tuple[int, int]]) -> dict[str, KindCount]:
    return {name: KindCount(kind_named(name), *pair) for name, pair in numbers.items()}


def _count(project: Project) -> dict[str, tuple[int, int]]:
    """One statement for all kinds; each count reads at most COUNT_EXACT_TO + 1 rows."""
    parts: list[str] = []
    parameters: list[Any] = []
    for kind in all_kinds():
        active = kind.model.objects.active().filter(project=project).order_by()  # type: ignore[attr-defined]
        for rows in (active, active.filter(review_state=ReviewState.UNREVIEWED)):
            sql, values = rows.values("pk")[: COUNT_EXACT_TO + 1].query.sql_with_params()
            parts.append(f"SELECT '{kind.name}' AS kind, COUNT(*) AS records FROM ({sql}) AS capped")
            parameters += values
    with connection.cursor() as cursor:
        cursor.execute(" UNION ALL ".join(parts), parameters)
        found: dict[str, list[int]] = {}
        for name, count in cursor.fetchall():
            found.setdefault(name, []).append(count)
    return {name: (numbers[0], numbers[1]) for name, numbers in found.items()}
