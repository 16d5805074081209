"""A record that may go into a context pack, and one that did not."""

from __future__ import annotations

from dataclasses import dataclass, field
from typing import Any

from recall.nearby import Near
from records.kinds import Kind, kind_of

RECENT = "recent"
# Below it a record has too little to do with what was asked: a word in common is no reason to read it.
LEAST_RELEVANCE = 0.2


@dataclass
class Candidate:
    """A record that may be packed. `relevance` in [0, 1]; `why` names what found it."""

    record: Any
    section: str
    relevance: float
    cosine: float | None
    why: list[str]
    lines: list[str] = field(default_factory=list)  # what is told with it, one a line
    beside: list[str] = field(default_factory=list)  # node ids of what its lines tell
    run: Any = None  # of a run memory

    @property
    def node_id(self) -> str:
        return str(self.record.node_id)

    @property
    def kind(self) -> Kind:
        return kind_of(self.record)


@dataclass(frozen=True)
class LeftOut:
    """A record that was a candidate and is not in the pack: why, and in favour of which."""

    record: Any
    section: str
    score: float
    reason: str
    of: str = ""


def relevance_of(one: Near | None, cosine: float | None) -> float:
    """Two thirds the cosine (0.1 counts for nothing, 0.8 for all), a third the place in the fused rankings."""
    meaning = 0.0 if cosine is None else min(1.0, max(0.0, (cosine - 0.1) / 0.7))
    place = one.score if one is not None else 0.0
    return round(place if cosine is None and one else (2 * meaning + place) / 3, 6)
