"""One memory as a pack tells it."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any

from desk.context_pack import markdown
from desk.context_pack.candidates import Candidate
from recall.units import PassageScore


@dataclass
class PackedItem:
    """`tokens` of its `markdown`; `text` is its own words in it, whole where `is_whole`, another's where `is_rewritten`."""

    candidate: Candidate
    score: float
    head: str
    text: str
    tail: str
    is_whole: bool
    passages: Sequence[PassageScore]
    is_rewritten: bool = False
    tokens: int = 0

    @property
    def markdown(self) -> str:
        return markdown.block(self.head, self.text, self.tail)

    @property
    def record(self) -> Any:
        return self.candidate.record
