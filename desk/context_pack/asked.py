"""What a context pack is asked for."""

from __future__ import annotations

from dataclasses import dataclass
from datetime import UTC, date, datetime
from typing import Any

from django.utils import timezone

from projects.models import Project
from records.kinds import all_kinds
from runs.payload import leaves_of

DEFAULT_BUDGET, LEAST_BUDGET, MOST_BUDGET = 1_500, 100, 32_000  # tokens
DEFAULT_K, MOST_K = 5, 50  # items of a section
MOST_COMPARED = 20_000  # characters


def packed_kinds() -> list[str]:
    """The kinds that a pack holds items of, by name."""
    return [kind.name for kind in all_kinds() if kind.pack_section]


def today() -> date:
    """The day that ages are counted from, in UTC: the same for every reader."""
    return timezone.now().astimezone(UTC).date()


@dataclass(frozen=True, kw_only=True)
class Asked:
    """`text` is a task in words or a trigger; `kinds` are names of kinds; `agent` and `session` may be empty."""

    project: Project
    text: str
    budget: int = DEFAULT_BUDGET
    k: int = DEFAULT_K
    kinds: frozenset[str]
    reviewed_only: bool = False
    agent: str = ""
    session: str = ""
    as_of: date

    @property
    def words(self) -> str:
        """So much of the text as sentences and categories are compared with."""
        return self.text[:MOST_COMPARED]

    def age_in_days(self, when: datetime | None) -> int | None:
        """Whole days from the record's day to the day of the pack; 0 for what is yet to come."""
        if when is None:
            return None
        return max(0, (self.as_of - when.astimezone(UTC).date()).days if timezone.is_aware(when) else 0)


def trigger_text(payload: Any) -> str:
    """A trigger as words: a text as it is, JSON as its leaves, one a line, each with its path."""
    if isinstance(payload, str):
        return payload
    return "\n".join(f"{path}: {value}" if path else value for path, value in leaves_of(payload) if value)
