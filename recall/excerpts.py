"""The part of a text that answers a search, with its words marked."""

from __future__ import annotations

from collections.abc import Collection
from typing import NamedTuple

from recall.tokenise import query_terms, tokens_with_places

LENGTH = 280
LEAD = 60  # characters before the first word that was asked for
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
    """About 280 characters around the most of the words asked for, inside text[start:end] where a place is given."""
    here = text[start:end] if end > start else text
    at = _best_place(here, [term.whole.rstrip("_") for term in query_terms(asked) if not term.is_common])
    first = _word_start(here, at - LEAD) if at > LEAD else 0
    last = _word_end(here, first + LENGTH)
    shown = " ".join(here[first:last].split())
    pieces = marked(shown, asked)
    if first > 0 or start > 0:
        pieces.insert(0, Piece("… ", False))
    if last < len(here) or (end > start and end < len(text)):
        pieces.append(Piece(" …", False))
    return pieces


def _best_place(text: str, words: Collection[str]) -> int:
    """Where the window with the most different words begins. By plain search: cutting a megabyte takes a second."""
    lower = text.lower()
    places: list[tuple[int, str]] = []
    for word in dict.fromkeys(words):
        at = lower.find(word) if word else -1
        for _ in range(LOOKED_THROUGH):
            if at < 0:
                break
            places.append((at, word))
            at = lower.find(word, at + len(word))
    places.sort()
    best, best_count = 0, 0
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
