"""Capped counts per kind for the rail and the overview: one statement, kept until the project's history moves."""

from __future__ import annotations

from dataclasses import dataclass
from time import monotonic
from typing import Any

from django.core.cache import cache
from django.db.models import QuerySet

from projects.models import Project
from records.attention import WAITING
from records.kinds import Kind, all_kinds, kind_named
from records.models import Attention, ReviewState
from records.paging import COUNT_EXACT_TO, capped_count, count_label, counts_up_to, shown_of
from records.queries import newest_revision

# Every act, a plain-SQL one after its sweep too, writes a revision; so counts hold as long as the newest one does.
KEPT_SECONDS = 30.0
INBOX = "inbox"  # beside the names of kinds
WHOLE_UP_TO = 2 * COUNT_EXACT_TO + 1  # less so many hidden ones as are counted, still more than are told


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
    return counts_of(project, newest_revision(project.pk) or 0)[0]


def counts_of(project: Project, newest: int) -> tuple[dict[str, KindCount], int]:
    """The same, with how many records wait in the inbox (capped); `newest`: the project's
    newest history row, 0 before there is one."""
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


def _named(numbers: dict[str, tuple[int, int]]) -> tuple[dict[str, KindCount], int]:
    kinds = {name: KindCount(kind_named(name), *pair) for name, pair in numbers.items() if name != INBOX}
    return kinds, numbers[INBOX][0]


def _count(project: Project) -> dict[str, tuple[int, int]]:
    """One statement for all kinds, that reads a bounded number of rows; another one where very many are hidden."""
    waiting = Attention.objects.filter(project_id=project.pk, standing=WAITING)
    asked: list[tuple[QuerySet[Any], int]] = [(waiting, COUNT_EXACT_TO + 1)]
    for kind in all_kinds():
        whole: Any = kind.model.objects.filter(project=project)  # type: ignore[attr-defined]
        unreviewed = whole.active().filter(review_state=ReviewState.UNREVIEWED)
        asked += [
            (whole, WHOLE_UP_TO),
            (whole.hidden(), COUNT_EXACT_TO + 1),
            (unreviewed, COUNT_EXACT_TO + 1),
        ]
    in_inbox, *counts = counts_up_to(asked)
    numbers = {INBOX: (in_inbox, in_inbox)}
    for place, kind in enumerate(all_kinds()):
        every, hidden, new = counts[3 * place : 3 * place + 3]
        if hidden > COUNT_EXACT_TO:
            shown = capped_count(kind.model.objects.active().filter(project=project))  # type: ignore[attr-defined]
        else:
            shown = shown_of(every, hidden)
        numbers[kind.name] = (shown, new)
    return numbers
