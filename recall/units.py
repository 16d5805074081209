"""A text cut into what is taken whole or not at all: sentences, list items, table rows, code blocks."""

from __future__ import annotations

import re
from collections.abc import Sequence
from dataclasses import dataclass
from itertools import pairwise

from recall.structure import code_blocks, headings

# Longer than this is no sentence that one reads: it is parted at lines and commas, then at spaces.
LONGEST_SENTENCE = 600
SHORTEST_SENTENCE = 16  # characters; a shorter one goes with the next
# Of a longer text only its beginning and its best passages are looked at.
LONGEST_READ = 24_000
BEGINNING_SHARE = 4  # one in so many of the characters that are read

_BLANK = re.compile(r"\n[ \t\r]*\n\s*")
_ITEM = re.compile(r"\n(?=[ \t]*(?:[-*+|>]|\d{1,3}[.)])\s)")
_ROW_END = re.compile(r"\|[ \t\r]*\n")
_BEGINS_ITEM = re.compile(r"(?:[-*+|>]|\d{1,3}[.)])\s")
# A mark and a space, or a mark of a script that needs no space.
_SENTENCE = re.compile(r"[.!?…।॥؟۔][\"'”’»)\]*_`]*\s+|[。！？；။][」』”’）]*\s*")
_ABBREVIATION = re.compile(
    r"(?:\b(?:e\.g|i\.e|vs|cf|etc|approx|resp|fig|no|dr|mr|mrs|ms|prof|st|ca)|\b[A-Za-z]|(?:^|\s)\d{1,3})$",
    re.IGNORECASE,
)
_CLAUSE = re.compile(r"[,;:、，]\s+|[、，]|\s[-–—]\s|\n")
_SPACES = re.compile(r"\s+")
# Rules, borders of tables, empty list items.
_MARKS_ONLY = re.compile(r"[\s#>*+|_=:-]*")


@dataclass(frozen=True, slots=True)
class Unit:
    """text[start:end]; `section` counts the headings up to it, `heading` is the last of them, without its marks."""

    start: int
    end: int
    is_code: bool
    section: int
    heading: str


@dataclass(frozen=True, slots=True)
class PassageScore:
    """text[start:end] and its cosine with what was asked."""

    start: int
    end: int
    cosine: float


def units_of(text: str, passages: Sequence[PassageScore] = (), read: int = LONGEST_READ) -> list[Unit]:
    """The units of a text, in order; of one longer than `read` characters, those of its beginning and best passages."""
    blocks, heads = code_blocks(text), headings(text)
    spans: list[tuple[int, int, bool]] = []
    for first, last in _windows(text, passages, read):
        spans += _spans(text, max(first, spans[-1][1] if spans else 0), last, blocks, heads)
    units: list[Unit] = []
    section = 0
    for start, end, is_code in spans:
        while section < len(heads) and heads[section][0] <= start:
            section += 1
        heading = _heading_words(heads[section - 1][1]) if section else ""
        units.append(Unit(start, end, is_code, section, heading))
    return units


def begins_item(piece: str) -> bool:
    """Whether a list item or table row begins with it."""
    return bool(_BEGINS_ITEM.match(piece))


def begins_line(text: str, before: Unit, unit: Unit) -> bool:
    """Whether a paragraph, list item or table row begins with the unit."""
    between = text[before.end : unit.start]
    return "\n" in between and bool(_BLANK.search(between) or _BEGINS_ITEM.match(text, unit.start))


def _windows(text: str, passages: Sequence[PassageScore], read: int) -> list[tuple[int, int]]:
    if len(text) <= read:
        return [(0, len(text))]
    beginning = _sentence_end(text, read // BEGINNING_SHARE)
    spans, left = [(0, beginning)], read - beginning
    for one in sorted(passages, key=lambda one: (-one.cosine, one.start)):
        if 0 <= one.start < one.end <= len(text) and one.end - one.start <= left:
            spans.append((one.start, one.end))
            left -= one.end - one.start
    if len(spans) == 1:
        return [(0, _sentence_end(text, read))]
    merged: list[tuple[int, int]] = []
    for start, end in sorted(spans):
        if merged and start <= merged[-1][1] + 2:
            merged[-1] = (merged[-1][0], max(merged[-1][1], end))
        else:
            merged.append((start, end))
    return merged


def _sentence_end(text: str, most: int) -> int:
    """The last place up to `most` characters where a paragraph or sentence ends; `most` where none does."""
    ends = [match.end() for pattern in (_BLANK, _SENTENCE) for match in pattern.finditer(text, 0, most)]
    return max(ends, default=most)


def _spans(
    text: str, first: int, last: int, blocks: list[tuple[int, int]], heads: list[tuple[int, str]]
) -> list[tuple[int, int, bool]]:
    """(start, end, is code) within text[first:last]; headings are no units. A code block belongs, whole, to the
    window in which it begins."""
    at = max([first, *(end for start, end in blocks if start < first < end)])
    whole = [(start, end, True) for start, end in blocks if at <= start < last]
    whole += [(start, start + len(line), False) for start, line in heads if at <= start < last]
    spans: list[tuple[int, int, bool]] = []
    for start, end, is_code in sorted(whole):
        if start < at:
            continue
        spans += _sentences(text, at, start)
        if is_code:
            spans += _stripped(text, start, end, is_code=True)
        at = end
    return spans + _sentences(text, at, last)


def _sentences(text: str, first: int, last: int) -> list[tuple[int, int, bool]]:
    if first >= last:
        return []
    cuts = {first, last}
    for pattern in (_BLANK, _ITEM, _ROW_END):
        cuts.update(match.end() for match in pattern.finditer(text, first, last))
    at = first
    for match in _SENTENCE.finditer(text, first, last):
        if match.end() == last or (match.end() - at >= SHORTEST_SENTENCE and not _goes_on(text, match)):
            cuts.add(match.end())
            at = match.end()
    ordered = sorted(cuts)
    spans: list[tuple[int, int, bool]] = []
    for start, end in pairwise(ordered):
        for one, two, _is_code in _stripped(text, start, end, is_code=False):
            spans += _parted(text, one, two)
    return spans


def _goes_on(text: str, match: re.Match[str]) -> bool:
    """Whether the full stop ends no sentence: a small letter follows, or an abbreviation stands before it."""
    if not match.group().startswith("."):
        return False
    before = text[max(0, match.start() - 8) : match.start()]
    return text[match.end()].islower() or bool(_ABBREVIATION.search(before))


def _stripped(text: str, start: int, end: int, *, is_code: bool) -> list[tuple[int, int, bool]]:
    piece = text[start:end]
    if is_code:
        return [(start, start + len(piece.rstrip()), True)]
    start += len(piece) - len(piece.lstrip())
    end = start + len(piece.strip())
    return [] if start >= end or _MARKS_ONLY.fullmatch(text, start, end) else [(start, end, False)]


def _parted(text: str, start: int, end: int) -> list[tuple[int, int, bool]]:
    """A run without an end to its sentences, in pieces: at its lines and clauses, else at spaces, else anywhere."""
    pieces: list[tuple[int, int, bool]] = []
    while end - start > LONGEST_SENTENCE:
        limit = start + LONGEST_SENTENCE
        at = 0
        for pattern in (_CLAUSE, _SPACES):
            at = max((match.end() for match in pattern.finditer(text, start + 1, limit)), default=0)
            if at > start + LONGEST_SENTENCE // 3:
                break
        at = at if at > start else limit
        pieces += _stripped(text, start, at, is_code=False)
        start = at
    return pieces + _stripped(text, start, end, is_code=False)


def _heading_words(line: str) -> str:
    words = " ".join(line.strip().strip("#").split())
    return words if len(words) <= 120 else f"{words[:119]}…"
