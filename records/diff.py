"""What changed between two texts, word by word."""

from __future__ import annotations

import re
from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from difflib import SequenceMatcher
from typing import Literal

from django.utils.html import format_html, format_html_join
from django.utils.safestring import SafeString

Op = Literal["same", "del", "ins", "skip"]

# The matcher's time can grow with the product of both sides: changed lines beyond this are shown as whole lines, and
# of texts beyond MOST_LINES only the common beginning and end are taken away.
MOST_WORD_PAIRS = 1_000_000
MOST_WORD_PAIRS_IN_ALL = 4_000_000
MOST_LINES = 20_000

# Chinese, Japanese and Thai have no spaces: by character (with its marks). Else words, runs of space, single marks.
# A word is what is neither space nor punctuation, so that combining marks and joined emoji stay in one piece.
_UNSPACED = "\u0e00-\u0eff\u3040-\u30ff\u3400-\u4dbf\u4e00-\u9fff\uf900-\ufaff\U00020000-\U0003134f"
_THAI_MARKS = "\u0e31\u0e34-\u0e3a\u0e47-\u0e4e\u0eb1\u0eb4-\u0ebc\u0ec8-\u0ecd\u3099\u309a"
_PUNCTUATION = "!-/:-@\\[-^`{-~\u2010-\u205e\u3000-\u303f\uff01-\uff0f\uff1a-\uff20"
_WORD = re.compile(rf"\n|[^\S\n]+|[{_UNSPACED}][{_THAI_MARKS}]*|[^\s{_PUNCTUATION}{_UNSPACED}]+|.", re.DOTALL)
_LINE = re.compile(r"[^\n]*\n|[^\n]+")
_MATTERS = re.compile(rf"[^\s{_PUNCTUATION}]")


@dataclass(frozen=True, slots=True)
class Piece:
    """A run of text with one fate. A `skip` stands for `words` unchanged words and carries no text."""

    op: Op
    text: str
    words: int = 0


def word_diff(before: str, after: str) -> list[Piece]:
    """The pieces that lead from one text to the other: same and del in order make `before`, same and ins `after`.

    Lines first, then words within changed lines; changed lines too many to compare by word stay whole lines.
    Removed text comes before what replaced it. Equal texts are one `same`; two empty ones no piece.
    """
    old, new = _LINE.findall(before), _LINE.findall(after)
    pieces: list[Piece] = []
    budget = MOST_WORD_PAIRS_IN_ALL
    for old_lines, new_lines, same in _hunks(old, new):
        removed, added = "".join(old_lines), "".join(new_lines)
        if same:
            pieces.append(Piece("same", removed))
            continue
        old_words, new_words = _WORD.findall(removed), _WORD.findall(added)
        pairs = len(old_words) * len(new_words)
        if 0 < pairs <= min(MOST_WORD_PAIRS, budget):
            budget -= pairs
            for gone, come, unchanged in _hunks(old_words, new_words):
                if unchanged:
                    pieces.append(Piece("same", "".join(gone)))
                else:
                    pieces += [Piece("del", "".join(gone)), Piece("ins", "".join(come))]
        else:
            pieces += [Piece("del", removed), Piece("ins", added)]
    return _settled(pieces)


def fold(pieces: Sequence[Piece], context: int = 20) -> list[Piece]:
    """The pieces with `context` words of unchanged text around each change; longer runs become a `skip`."""
    folded: list[Piece] = []
    for at, piece in enumerate(pieces):
        if piece.op != "same":
            folded.append(piece)
            continue
        ends = [match.end() for match in re.finditer(r"\S+\s*", piece.text)]
        head = context if at > 0 else 0
        tail = context if at < len(pieces) - 1 else 0
        hidden = len(ends) - head - tail
        # A skip of a few words is longer than the words themselves.
        if hidden <= max(5, context // 2) or len(pieces) == 1:
            folded.append(piece)
            continue
        if head:
            folded.append(Piece("same", piece.text[: ends[head - 1]]))
        folded.append(Piece("skip", "", words=hidden))
        if tail:
            folded.append(Piece("same", piece.text[ends[len(ends) - tail - 1] :]))
    return folded


def render_diff(pieces: Sequence[Piece]) -> SafeString:
    """HTML of the pieces for a block with `white-space: pre-wrap`: <del> and <ins>, said in words to a reader of the
    page by ear; a changed run of nothing but space has the class `space`, so that it can be made visible."""
    return format_html_join("", "{}", ((_rendered(piece),) for piece in pieces))


def _rendered(piece: Piece) -> SafeString:
    if piece.op == "same":
        return format_html("{}", piece.text)
    if piece.op == "skip":
        noun = "word" if piece.words == 1 else "words"
        return format_html('<span class="skip">… {} unchanged {} …</span>', f"{piece.words:,}", noun)
    said = "removed: " if piece.op == "del" else "added: "
    hidden = format_html('<span class="visually-hidden">{}</span>', said)
    if not piece.text.strip():
        shown = piece.text.replace("\n", "↵\n")
        return format_html('<{} class="space">{}{}</{}>', piece.op, hidden, shown, piece.op)
    return format_html("<{}>{}{}</{}>", piece.op, hidden, piece.text, piece.op)


def _hunks(old: Sequence[str], new: Sequence[str]) -> Iterator[tuple[Sequence[str], Sequence[str], bool]]:
    """(old part, new part, whether they are the same), in order and complete."""
    head = 0
    while head < min(len(old), len(new)) and old[head] == new[head]:
        head += 1
    tail = 0
    while tail < min(len(old), len(new)) - head and old[-1 - tail] == new[-1 - tail]:
        tail += 1
    if head:
        yield old[:head], new[:head], True
    a, b = old[head : len(old) - tail], new[head : len(new) - tail]
    if a and b and max(len(a), len(b)) <= MOST_LINES:
        # With autojunk, items that fill more than a hundredth of a long side do not anchor a match: without it a
        # text of thousands of equal lines takes minutes.
        matcher = SequenceMatcher(None, a, b, autojunk=len(a) * len(b) > 250_000)
        for op, a_start, a_end, b_start, b_end in matcher.get_opcodes():
            yield a[a_start:a_end], b[b_start:b_end], op == "equal"
    elif a or b:
        yield a, b, False
    if tail:
        yield old[len(old) - tail :], new[len(new) - tail :], True


def _settled(pieces: Sequence[Piece]) -> list[Piece]:
    """Neighbours of one fate joined, removed before added. A space or comma that stayed between two changed words
    goes with them: 'red fox' to 'blue cat' is one change, not two around a space."""
    settled: list[Piece] = []
    removed: list[str] = []
    added: list[str] = []
    last_change = max((at for at, piece in enumerate(pieces) if piece.op != "same"), default=-1)

    def close() -> None:
        for op, texts in (("del", removed), ("ins", added)):
            if text := "".join(texts):
                settled.append(Piece("del" if op == "del" else "ins", text))
            texts.clear()

    for at, piece in enumerate(pieces):
        if not piece.text:
            continue
        if piece.op == "del":
            removed.append(piece.text)
        elif piece.op == "ins":
            added.append(piece.text)
        elif (
            removed
            and added
            and at < last_change
            and "\n" not in piece.text
            and not _MATTERS.search(piece.text)
        ):
            removed.append(piece.text)
            added.append(piece.text)
        else:
            close()
            if settled and settled[-1].op == "same":
                settled[-1] = Piece("same", settled[-1].text + piece.text)
            else:
                settled.append(piece)
    close()
    return settled
