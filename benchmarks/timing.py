"""Timing in this process: wall and processor time of an act, in milliseconds."""

from __future__ import annotations

import math
import time
from collections.abc import Callable, Sequence
from typing import NamedTuple


class Took(NamedTuple):
    """Milliseconds: wall p50 and p95, processor time p50 and p95."""

    wall50: float
    wall95: float
    cpu50: float
    cpu95: float


def measure(act: Callable[[], object], times: int = 60) -> Took:
    for _ in range(5):
        act()
    wall, cpu = [], []
    for _ in range(times):
        start, started = time.perf_counter(), time.process_time()
        act()
        wall.append((time.perf_counter() - start) * 1000)
        cpu.append((time.process_time() - started) * 1000)
    return Took(*(percentile(took, part) for took in (wall, cpu) for part in (0.5, 0.95)))


def percentile(values: Sequence[float], part: float) -> float:
    """The value that this part of them, in (0, 1], does not exceed (nearest rank)."""
    return sorted(values)[max(0, math.ceil(len(values) * part) - 1)]


def row(what: str, took: Took) -> str:
    return f"| {what:<44} | " + " | ".join(f"{number:8.1f}" for number in took) + " |"


HEADER = f"| {'':<44} | wall p50 | wall p95 |  CPU p50 |  CPU p95 |\n| {'-' * 44} |" + " -------: |" * 4
