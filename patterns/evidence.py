"""The steps of a pattern's confidence: written beside what moved it, and read as a table and as points of a picture."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

from django.utils import timezone

from patterns.confidence import interval_of
from patterns.models import Cause, Evidence, Pattern
from records import checks
from records.actor import Actor
from records.acts import current_act
from records.guard import writing
from records.kinds import parse_node_id

SHOWN = 50


def add_evidence(pattern: Pattern, cause: Cause, *, actor: Actor, note: str = "") -> None:
    """One step, within the transaction that moved the confidence; `pattern` as it is after."""
    add_all_evidence([pattern], cause, actor=actor, notes=[note])


def add_all_evidence(
    patterns: Sequence[Pattern], cause: Cause, *, actor: Actor, notes: Sequence[str]
) -> None:
    """One step of each pattern, with its own note."""
    steps = [
        Evidence(
            pattern=pattern,
            cause=cause,
            act=current_act(),
            confidence_after=pattern.confidence_score,
            votes_after=pattern.all_votes,
            note=checks.checked_reason(note).strip() or None,
            actor_name=actor.name,
            source_session=actor.session or None,
            source_run=actor.run or None,
            created_at=timezone.now(),
        )
        for pattern, note in zip(patterns, notes, strict=True)
    ]
    with writing():
        Evidence.objects.bulk_create(steps)


@dataclass(frozen=True)
class Step:
    """One row of the table: `before` is None for the first step."""

    evidence: Evidence
    before: float | None
    interval: tuple[float, float]

    @property
    def after(self) -> float:
        return self.evidence.confidence_after

    @property
    def names_run(self) -> bool:
        """An agent may say anything of its run: only what can be a record's name is an address."""
        return parse_node_id(self.evidence.source_run or "") is not None

    @property
    def moved(self) -> float | None:
        return None if self.before is None else self.after - self.before


def steps_of(pattern: Pattern, limit: int = SHOWN) -> list[Step]:
    """The newest `limit` steps, newest first. One query."""
    rows = list(Evidence.objects.filter(pattern=pattern).order_by("-id")[: limit + 1])[::-1]
    return [
        Step(
            row,
            rows[at - 1].confidence_after if at else None,
            interval_of(row.confidence_after, votes),
        )
        for at, (row, votes) in enumerate(zip(rows, _votes(rows, pattern.prior_weight), strict=True))
        if at or len(rows) <= limit
    ][::-1]


def _votes(rows: Sequence[Evidence], weight: float) -> list[float]:
    """How many votes the confidence stood on after each step, the prior's with them. Steps of before this was kept are
    counted up from the prior; of a history that is cut off, that is too few."""
    found: list[float] = []
    for row in rows:
        if row.votes_after is not None:
            found.append(row.votes_after)
        elif row.cause in (Cause.WORKED, Cause.FAILED):
            found.append((found[-1] if found else weight) + 1)
        else:
            found.append(weight)
    return found
