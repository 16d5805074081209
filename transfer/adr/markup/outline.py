"""What every markup's outline gives: the visible lines and the headings."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass


@dataclass(frozen=True)
class Heading:
    """A heading with its level and the lines it takes (an underlined one takes two or three)."""

    text: str
    level: int
    first: int
    last: int


Outline = Callable[[list[str], int], tuple[list[str], list[Heading]]]
