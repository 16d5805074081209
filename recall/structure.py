"""Where a text may be cut: headings, blocks, sentences, words."""

from __future__ import annotations

import re
from collections.abc import Iterable
from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

Positions = NDArray[np.int64]

_HEADING = re.compile(r"^ {0,3}#{1,6}[ \t]+\S.*$", re.MULTILINE)
_FENCE = re.compile(r"^ {0,3}(`{3,}|~{3,})(.*)$", re.MULTILINE)
_BLANK_LINES = re.compile(r"\n[ \t\r]*\n\s*")
# A sentence ends at its mark and a space; CJK marks need no space. A list item or table row counts as one.
_SENTENCE = re.compile(r"[.!?…][\"')\]]*\s+|[。！？；]\s*|\n(?=[ \t]*(?:[-*+|>]|\d{1,3}[.)]\s))")
_LINE = re.compile(r"\n+")
_WORD = re.compile(r"\s+")


@dataclass(frozen=True)
class Structure:
    """Positions where a passage may begin, strongest kind first; each array ascending."""

    sections: Positions
    levels: tuple[Positions, ...]

    def cut(self, start: int, earliest: int, furthest: int) -> int:
        """Where a passage begun at `start` ends: in (start, furthest].

        A heading past `earliest` ends it even where more would fit. Else the strongest last cut past `earliest`,
        else the strongest before it, else `furthest` itself.
        """
        at = int(np.searchsorted(self.sections, max(earliest, start + 1)))
        if at < self.sections.size and self.sections[at] <= furthest:
            return int(self.sections[at])
        for least in (min(earliest, furthest), start + 1):
            for level in self.levels:
                last = int(np.searchsorted(level, furthest, side="right")) - 1
                if last >= 0 and level[last] >= least and level[last] > start:
                    return int(level[last])
        return furthest


def headings(text: str) -> list[tuple[int, str]]:
    """(position, heading line) of each Markdown heading outside of code."""
    blocks = code_blocks(text)
    found = []
    block = 0
    for match in _HEADING.finditer(text):
        while block < len(blocks) and blocks[block][1] <= match.start():
            block += 1
        if block == len(blocks) or match.start() < blocks[block][0]:
            line = match.group().strip()
            found.append((match.start() + len(match.group()) - len(match.group().lstrip()), line))
    return found


def structure_of(text: str, token_starts: Positions, limit: int) -> Structure:
    """The cuts of a text. A code block of at most `limit` tokens has none inside; a longer one has its lines."""
    blocks = code_blocks(text)
    whole = [
        (start, end)
        for start, end in blocks
        if np.searchsorted(token_starts, end) - np.searchsorted(token_starts, start) <= limit
    ]
    edges = [position for block in blocks for position in block]
    sections = _array(position for position, _ in headings(text))
    paragraphs = np.union1d(_ends(_BLANK_LINES, text), np.array(edges, dtype=np.int64))
    end_of_text = _array([len(text)])
    levels = (
        np.union1d(np.union1d(sections, end_of_text), _outside(paragraphs, blocks)),
        _outside(_ends(_SENTENCE, text), blocks),
        _outside(_ends(_LINE, text), whole),
        _outside(_ends(_WORD, text), whole),
        _outside(token_starts, whole),
    )
    return Structure(sections, levels)


def code_blocks(text: str) -> list[tuple[int, int]]:
    """(start, end) of each fenced block, fences included; an unclosed one runs to the end, as Markdown has it."""
    blocks = []
    opened: tuple[int, str] | None = None
    for match in _FENCE.finditer(text):
        fence, rest = match.group(1), match.group(2)
        if opened is None:
            if "`" not in rest or fence[0] == "~":
                opened = (match.start(), fence)
        elif fence[0] == opened[1][0] and len(fence) >= len(opened[1]) and not rest.strip():
            blocks.append((opened[0], match.end()))
            opened = None
    if opened is not None:
        blocks.append((opened[0], len(text)))
    return blocks


def _outside(positions: Positions, blocks: list[tuple[int, int]]) -> Positions:
    """The positions that lie in no block's inside; a block's own start and end are outside."""
    if not blocks:
        return positions
    starts = np.array([start for start, _ in blocks], dtype=np.int64)
    ends = np.array([end for _, end in blocks], dtype=np.int64)
    block = np.searchsorted(starts, positions, side="left") - 1
    inside = (block >= 0) & (positions < ends[np.maximum(block, 0)])
    return positions[~inside]


def _ends(pattern: re.Pattern[str], text: str) -> Positions:
    return _array(match.end() for match in pattern.finditer(text))


def _array(positions: Iterable[int]) -> Positions:
    return np.array(list(positions), dtype=np.int64)
