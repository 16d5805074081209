"""What was looked at, how it is, and where it is not well, what to do: for the health page and for `doctor`."""

from __future__ import annotations

from dataclasses import dataclass
from enum import StrEnum


class Level(StrEnum):
    OK = "ok"
    WARN = "warn"
    BAD = "bad"


@dataclass(frozen=True)
class Finding:
    """`area` and `text` say what is, `fix` what an operator does about it."""

    level: Level
    area: str
    text: str
    fix: str = ""


def judged(good: bool, area: str, text: str, fix: str, *, otherwise: Level = Level.BAD) -> Finding:
    return Finding(Level.OK, area, text) if good else Finding(otherwise, area, text, fix)
