"""Tokens, counted as a budget is: by MiniLM's own tokenizer, which every desk has."""

from __future__ import annotations

import re

from recall.encoders.tokenizer import minilm_tokenizer, without_surrogates

# Named in each answer that keeps to a budget. A word that the vocabulary has not is one token to the model, however
# long it is: a megabyte of base64 too. So such a word counts by its bytes, and the sum is never under the model's.
TOKENIZER = "all-MiniLM-L6-v2 WordPiece, unknown words one token per two bytes"
BYTES_AN_UNKNOWN_TOKEN = 2
UNKNOWN = 100  # [UNK] of this vocabulary
CHUNK = 4_000
_SPACE = re.compile(r"\s")


def count_tokens(text: str) -> int:
    """Tokens of the text, special ones not counted. Of two texts with white space between them: the sum of both."""
    text = without_surrogates(text)
    if not text.strip():
        return 0
    chunks = _chunks(text)
    encodings = minilm_tokenizer().encode_batch(chunks, add_special_tokens=False)
    return sum(_counted(chunk, encoding) for chunk, encoding in zip(chunks, encodings, strict=True))


def _counted(text: str, encoding: object) -> int:
    ids: list[int] = encoding.ids  # type: ignore[attr-defined]
    if UNKNOWN not in ids:
        return len(ids)
    offsets: list[tuple[int, int]] = encoding.offsets  # type: ignore[attr-defined]
    unknown = [text[start:end] for one, (start, end) in zip(ids, offsets, strict=True) if one == UNKNOWN]
    more = sum(max(1, -(-len(word.encode()) // BYTES_AN_UNKNOWN_TOKEN)) - 1 for word in unknown)
    return len(ids) + more


def _chunks(text: str) -> list[str]:
    """Pieces of some 4,000 characters, cut at white space, where no token reaches across."""
    chunks, start = [], 0
    while start < len(text):
        end = start + CHUNK
        if end < len(text):
            space = _SPACE.search(text, end)
            end = space.start() if space else len(text)
        chunks.append(text[start:end])
        start = end
    return chunks
