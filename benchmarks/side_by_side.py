"""Our reads and the raw statements they stand for, asked in turn, so that a busy machine slows both alike."""

from __future__ import annotations

import time
from collections.abc import Callable, Sequence
from dataclasses import dataclass
from typing import Any

from benchmarks.timing import percentile

WARM_UP = 10


@dataclass(frozen=True)
class Pair:
    """Milliseconds of both at the median and at the 95th percentile, of so many questions."""

    what: str
    ours50: float
    ours95: float
    raw50: float
    raw95: float

    @property
    def is_near_raw(self) -> bool:
        """At most 1.5 times the raw statement, or 3 ms over it, at the median."""
        return self.ours50 <= max(1.5 * self.raw50, self.raw50 + 3)


def side_by_side(
    what: str, questions: Sequence[Any], ours: Callable[[Any], Any], raw: Callable[[Any], Any]
) -> Pair:
    for question in questions[:WARM_UP]:
        ours(question)
        raw(question)
    took: tuple[list[float], list[float]] = ([], [])
    for at, question in enumerate(questions):
        for which in (0, 1) if at % 2 else (1, 0):
            began = time.perf_counter()
            (ours, raw)[which](question)
            took[which].append((time.perf_counter() - began) * 1000)
    return Pair(
        what, percentile(took[0], 0.5), percentile(took[0], 0.95), percentile(took[1], 0.5), percentile(took[1], 0.95)
    )  # fmt: skip


HEADER = (
    f"| {'milliseconds':<46} | p50 | p95 | raw p50 | raw p95 | goal p95 | |\n"
    f"| {'-' * 46} | --: | --: | --: | --: | --: | --- |"
)


def row(pair: Pair, goal: float) -> str:
    verdicts = []
    if pair.ours95 > goal:
        verdicts.append("over the goal")
    if not pair.is_near_raw:
        verdicts.append("far from raw")
    numbers = " | ".join(f"{number:.2f}" for number in (pair.ours50, pair.ours95, pair.raw50, pair.raw95))
    return f"| {pair.what:<46} | {numbers} | {goal:g} | {', '.join(verdicts) or 'met'} |"
