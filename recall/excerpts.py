"""The part of a text that answers a search, with its words marked."""

from __future__ import annotations

import re
from collections.abc import Collection
from typing import NamedTuple

from recall.tokenise import query_terms, tokens_with_places

LENGTH = 280
_HEADING = re.compile(r"^#{1,6}[ \t]+(.+?)[ \t#]*$", re.MULTILINE)
LEAD = 60  # characters before the first word that was asked for
MOST_WORDS = 32  # of a pasted page of words, the first
LOOKED_THROUGH = 60  # places of a word, at most: a megabyte may hold it ten thousand times


class Piece(NamedTuple):
    text: str
    marked: bool


def marked(text: str, asked: str) -> list[Piece]:
    """The whole text in pieces; those that hold a word of what was asked are marked."""
    wanted = _tokens(asked)
    pieces: list[Piece] = []
    at = 0
    for start, end, tokens in tokens_with_places(text):
        if wanted.isdisjoint(tokens):
            continue
        if start < at:
            continue
        if start > at:
            pieces.append(Piece(text[at:start], False))
        pieces.append(Piece(text[start:end], True))
        at = end
    if at < len(text):
        pieces.append(Piece(text[at:], False))
    return pieces


def excerpt(text: str, asked: str, start: int = 0, end: int = 0) -> list[Piece]:
    """About 280 characters around the most of the words asked for: in text[start:end] where that has any, or where
    no word of the text was asked for; Markdown headings as plain words."""
    terms = query_terms(asked)[:MOST_WORDS]
    words = [term.whole.rstrip("_") for term in terms if not term.is_common]
    first, last = (start, end) if end > start else (0, len(text))
    at = _best_place(text[first:last], words)
    if at is None and (first, last) != (0, len(text)):
        at = _best_place(text, words)
        if at is not None:
            first, last = 0, len(text)
    here, at = text[first:last], at or 0
    begins = _word_start(here, at - LEAD) if at > LEAD else 0
    ends = _word_end(here, begins + LENGTH)
    shown = " ".join(_HEADING.sub(r"\1:", here[begins:ends]).split())
    pieces = marked(shown, asked)
    if begins > 0 or first > 0:
        pieces.insert(0, Piece("… ", False))
    if ends < len(here) or last < len(text):
        pieces.append(Piece(" …", False))
    return pieces


def _best_place(text: str, words: Collection[str]) -> int | None:
    """Where the window with the most different words begins. By plain search: cutting a megabyte takes a second."""
    lower = text.lower()
    if len(lower) != len(text):  # `İ` becomes two characters: places would no longer be those of the text
        lower = "".join(small if len(small := letter.lower()) == 1 else letter for letter in text)
    places: list[tuple[int, str]] = []
    for word in dict.fromkeys(words):
        at = lower.find(word) if word else -1
        for _ in range(LOOKED_THROUGH):
            if at < 0:
                break
            places.append((at, word))
            at = lower.find(word, at + len(word))
    places.sort()
    best, best_count = None, 0
    for number, (at, _word) in enumerate(places):
        window = {word for place, word in places[number : number + 40] if place < at + LENGTH - LEAD}
        if len(window) > best_count:
            best, best_count = at, len(window)
    return best


def _word_start(text: str, at: int) -> int:
    space = text.rfind(" ", max(0, at - 30), at)
    return at if space < 0 else space + 1


def _word_end(text: str, at: int) -> int:
    if at >= len(text):
        return len(text)
    space = text.find(" ", at, at + 30)
    return at if space < 0 else space


def _tokens(asked: str) -> set[str]:
    terms = query_terms(asked)
    telling = [term for term in terms if not term.is_common] or terms
    return {token for term in telling for token in (term.whole, *term.parts) if token}
