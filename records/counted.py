"""What is counted on a record, one row each: a vote, an encounter. It can be taken back, and goes along when its record
is merged. A kind says in `Kind.counted` which of its counters such a row moves."""

from __future__ import annotations

from collections.abc import Callable, Collection, Mapping, Sequence
from dataclasses import dataclass, field
from datetime import datetime
from typing import Any

from django.db import models
from django.db.models import Max

from database.columns import ExactCharField
from records.guard import GuardedModel
from records.images import plain


class CountedEvent(GuardedModel):
    """`act` wrote it. `taken_back_at`: it counts no longer, and stays to be seen. `moves`: one entry a merge, the last
    one of where it is now: {act, from (node id), taken (back then), folded (into a new start then), at}."""

    act = ExactCharField(max_length=32, null=True, editable=False)
    taken_back_at = models.DateTimeField(null=True, editable=False)
    moves = models.JSONField(null=True, editable=False)

    class Meta:
        abstract = True


@dataclass(frozen=True, kw_only=True)
class Counted:
    """`verb_of` a row is a key of `counts` (what one row adds to which counter), or a step that counts nothing itself.
    After a row of `resets`, the counters of `reset_counters` start anew: what came before is folded into it.
    `faded` names, by column (NULL: nothing), the counter that it takes away from: the two go along together."""

    model: type[CountedEvent]
    parent: str
    verb_of: Callable[[Any], str]
    counts: Mapping[str, Mapping[str, int]]
    resets: Collection[str] = ()
    reset_counters: Collection[str] = ()
    faded: Mapping[str, str] = field(default_factory=dict)
    verb_column: str | None = None

    @property
    def counters(self) -> list[str]:
        return sorted({name for moved in self.counts.values() for name in moved})

    def standing(self, record: Any) -> dict[str, float]:
        """What its counters say now, and what has faded of them."""
        counts: dict[str, float] = {name: getattr(record, name) for name in self.counters}
        faded = {name: min(getattr(record, name) or 0.0, counts[of]) for name, of in self.faded.items()}
        return counts | {name: value for name, value in faded.items() if value}

    def faded_too_much(self, record: Any) -> dict[str, float]:
        """By how much more has faded than is left, where what had faded was taken back."""
        over = {name: (getattr(record, name) or 0.0) - getattr(record, of) for name, of in self.faded.items()}
        return {name: by for name, by in over.items() if by > 0}

    def rows(self, keys: Collection[Any]) -> models.QuerySet[Any]:
        rows: models.QuerySet[Any] = self.model._default_manager.filter(**{f"{self.parent}__in": list(keys)})
        return rows.order_by("pk")

    def of_act(self, act: str) -> models.QuerySet[Any]:
        rows: models.QuerySet[Any] = self.model._default_manager.filter(act=act)
        return rows.order_by("pk")

    def key_of(self, row: Any) -> Any:
        return getattr(row, f"{self.parent}_id")

    def last_reset(self, key: Any) -> datetime | None:
        """When the counters of a record last started anew, short of what was taken back."""
        if not self.resets or self.verb_column is None:
            return None
        rows = self.rows([key]).filter(**{f"{self.verb_column}__in": list(self.resets)}, taken_back_at=None)
        last: datetime | None = rows.aggregate(last=Max("created_at"))["last"]
        return last

    def is_folded(self, row: Any, last_reset: datetime | None) -> bool:
        """Whether a later new start holds what this row said."""
        move = row.moves[-1] if row.moves else None
        if move and move["folded"]:
            return True
        since = move["at"] if move else plain(row.created_at)
        return last_reset is not None and datetime.fromisoformat(since) <= last_reset


def added(moved: Sequence[tuple[Mapping[str, float], int]]) -> dict[str, float]:
    """The sum of (counts, times)."""
    total: dict[str, float] = {}
    for counts, times in moved:
        for name, one in counts.items():
            total[name] = total.get(name, 0) + one * times
    return total
