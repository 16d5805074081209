"""Timing in this process: wall and processor time of an act, in milliseconds."""

from __future__ import annotations

import time
from collections.abc import Callable
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
    at = (times // 2, int(times * 0.95) - 1)
    return Took(*(sorted(took)[place] for took in (wall, cpu) for place in at))


def row(what: str, took: Took) -> str:
    return f"| {what:<44} | " + " | ".join(f"{number:8.1f}" for number in took) + " |"


HEADER = f"| {'':<44} | wall p50 | wall p95 |  CPU p50 |  CPU p95 |\n| {'-' * 44} |" + " -------: |" * 4
