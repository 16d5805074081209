"""Records cut into passages that the model reads whole.

The model reads 256 tokens; a real decision record has 1,854 (median). So each passage of a record has a vector of
its own, and search shows the passage that matched.
"""

from __future__ import annotations

import re
from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from recall.encoders.base import MAX_TOKENS
from recall.encoders.tokenizer import minilm_tokenizer, without_surrogates
from recall.structure import Structure, headings, structure_of

# Tokens of one passage, its title and heading included, [CLS] and [SEP] not: 14 are left for another model's count.
PASSAGE_TOKENS = 240
# A run without spaces counts as one token however long it is: characters bound what one passage shows.
PASSAGE_CHARACTERS = 2_000
# A section shorter than this goes on into the next one: "Status: accepted" alone makes a poor vector.
SMALLEST_SECTION_TOKENS = 64
TITLE_TOKENS = 24
HEADING_TOKENS = 16
RECORD_TITLE_TOKENS = 96
# The record vector (see record_text) is stored as part 0; passages count from 1.
RECORD_PART = 0

_CHUNK = 4_000


@dataclass(frozen=True, slots=True)
class Passage:
    """`text` is what is embedded: title and heading, if any, then text[start:end] of the record, unchanged."""

    part: int
    start: int
    end: int
    text: str


def token_count(text: str) -> int:
    """Tokens that MiniLM's tokenizer makes of the text, [CLS] and [SEP] not counted."""
    return int(_token_starts(text).size)


def split(text: str, title: str = "") -> list[Passage]:
    """The text in passages of at most 240 tokens and 2,000 characters, in order, parts from 1; blank text has none.

    Cut before headings, else between paragraphs, sentences, words; a code block stays whole where it fits. Between
    two passages there is only white space: nothing of the text is lost or repeated. Linear in the text's length.
    """
    if not text.strip():
        return []
    starts = _token_starts(text)
    title_line = _cut_to(title.strip(), TITLE_TOKENS)
    has_headings = headings(text)
    body_tokens = PASSAGE_TOKENS - token_count(title_line) - (HEADING_TOKENS if has_headings else 0)
    structure = structure_of(text, starts, body_tokens)
    spans = _verified(text, _spans(text, starts, structure, body_tokens), body_tokens)
    passages = []
    heading_at = np.array([at for at, _ in has_headings], dtype=np.int64)
    for part, (start, end) in enumerate(spans, start=1):
        # The heading that the passage stands under, unless it begins with one itself.
        above = int(np.searchsorted(heading_at, start, side="right")) - 1
        heading = ""
        if above >= 0 and heading_at[above] != start:
            heading = _cut_to(has_headings[above][1], HEADING_TOKENS)
        lines = [line for line in (title_line, heading) if line]
        passages.append(Passage(part, start, end, "\n".join([*lines, text[start:end]])))
    return passages


def record_text(title: str, summary: str) -> str:
    """The text of the record vector: title, then decision or summary, cut at a word so that the model reads it all."""
    limit = MAX_TOKENS - 2  # [CLS] and [SEP]
    head = _cut_to(title.strip(), RECORD_TITLE_TOKENS if summary.strip() else limit)
    body = _cut_to(summary.strip(), limit - token_count(head))
    return "\n".join(line for line in (head, body) if line)


def _token_starts(text: str) -> NDArray[np.int64]:
    """Where each token of the text starts, in characters, ascending."""
    tokenizer = minilm_tokenizer()
    chunks = _chunks(without_surrogates(text))
    encodings = tokenizer.encode_batch([chunk for _, chunk in chunks], add_special_tokens=False)
    starts = [
        np.fromiter((start for start, _ in encoding.offsets), dtype=np.int64, count=len(encoding.offsets))
        + offset
        for (offset, _), encoding in zip(chunks, encodings, strict=True)
    ]
    if not starts:
        return np.zeros(0, dtype=np.int64)
    # Unicode normalisation may report two parts of one character out of order; the cuts search a sorted array.
    return np.maximum.accumulate(np.concatenate(starts))


def _chunks(text: str) -> list[tuple[int, str]]:
    """The text in pieces of at most 4,000 characters cut at white space: many short texts are tokenised twice as
    fast as one long one, and no word is cut that the model would read as a word."""
    chunks = []
    start = 0
    while start < len(text):
        end = min(start + _CHUNK, len(text))
        if end < len(text):
            space = max(text.rfind(" ", start, end), text.rfind("\n", start, end))
            end = space + 1 if space > start else end
        chunks.append((start, text[start:end]))
        start = end
    return chunks


def _spans(text: str, starts: NDArray[np.int64], structure: Structure, limit: int) -> list[tuple[int, int]]:
    """Greedy from the front: the strongest cut that leaves a passage of sensible size within the limits."""
    spans = []
    start = _skip_space(text, 0)
    while start < len(text):
        first = int(np.searchsorted(starts, start))
        # The furthest end: before the first token too many, and within the characters.
        too_many = int(starts[first + limit]) if first + limit < starts.size else len(text)
        furthest = min(too_many, start + PASSAGE_CHARACTERS)
        enough = first + SMALLEST_SECTION_TOKENS
        earliest = int(starts[enough]) if enough < starts.size else len(text)
        end = structure.cut(start, earliest, furthest)
        spans.append((start, start + len(text[start:end].rstrip())))
        start = _skip_space(text, end)
    return spans


_SPACE = re.compile(r"\s*")
_PARTED = re.compile(r"[ \t\r\n!-/:-@\[-`{-~\u3400-\u4dbf\u4e00-\u9fff]")


def _skip_space(text: str, at: int) -> int:
    found = _SPACE.match(text, at)
    return found.end() if found else at


def _verified(text: str, spans: list[tuple[int, int]], limit: int) -> list[tuple[int, int]]:
    """The spans, with any halved that alone has more tokens than inside the text: a word cut in two may."""
    # Between two words the count is the text's own: no need to make it twice.
    done = {start: end for start, end in spans if _between_words(text, start) and _between_words(text, end)}
    pending = [(start, end) for start, end in spans if start not in done]
    while pending:
        encodings = minilm_tokenizer().encode_batch(
            [without_surrogates(text[start:end]) for start, end in pending], add_special_tokens=False
        )
        halves = []
        for (start, end), encoding in zip(pending, encodings, strict=True):
            if len(encoding.ids) <= limit or end - start < 2:
                done[start] = end
                continue
            middle = (start + end) // 2
            for left, right in ((start, middle), (middle, end)):
                left = min(_skip_space(text, left), right)
                right = left + len(text[left:right].rstrip())
                if left < right:
                    halves.append((left, right))
        pending = halves
    return sorted(done.items())


def _between_words(text: str, at: int) -> bool:
    """Whether the tokenizer too parts the text here: at a space, beside ASCII punctuation or a Chinese character."""
    return at in (0, len(text)) or _PARTED.search(text, at - 1, at + 1) is not None


def _cut_to(text: str, limit: int) -> str:
    """The text up to the last whole word within so many tokens; of one long word, as much as fits."""
    if 3 * len(text) <= limit:  # no character makes more: a Hangul syllable becomes its three letters
        return text
    text = text[: max(limit, 1) * 128]
    starts = _token_starts(text)
    if starts.size <= limit:
        return text
    if limit <= 0:
        return ""
    end = int(starts[limit])
    space = max(text.rfind(" ", 0, end), text.rfind("\n", 0, end))
    cut = text[: space if space > end // 2 else end].rstrip()
    while token_count(cut) > limit:
        cut = cut[: len(cut) * 3 // 4]
    return cut
