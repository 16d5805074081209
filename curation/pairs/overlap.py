"""How many of their words two records share, title and body apart."""

from __future__ import annotations

from collections.abc import Collection
from dataclasses import dataclass

from recall.tokenise import COMMON, search_text
from recall.words import HEADING_WEIGHT

# Of a longer text the beginning is compared: what it decides, it says there.
MOST_TOKENS = 1_500
SHINGLE = 3
# A body of fewer words is contained in many others by chance.
FEWEST_WORDS = 8
# Accents are folded away: a token that is not ASCII is of another script.
MOST_FOREIGN = 0.1


@dataclass(frozen=True, slots=True)
class Words:
    """The telling words of a record's title and of its body, and the body's runs of three words (hashes).

    `is_read`: by the encoder, whose model knows English and hardly another script: the cosine of two Chinese texts is
    high whatever they say.
    """

    title: frozenset[str]
    body: frozenset[str]
    shingles: frozenset[int]
    is_read: bool = True


@dataclass(frozen=True, slots=True)
class Overlap:
    """Each in [0, 1]. `title` and `body` are Jaccard, `contained` is the share of the shorter body's words that the
    other has too, `phrases` the same of its runs of three words."""

    title: float
    body: float
    contained: float
    phrases: float
    is_read: bool = True


def words_of(heading: str, tags: str, kept: str) -> Words:
    """The words of a record from what `recall.words` keeps of it: its heading three times, its tags, its body."""
    title = search_text(heading).split()
    before_body = HEADING_WEIGHT * len(title) + len(search_text(tags).split())
    tokens = kept.split()[before_body : before_body + MOST_TOKENS]
    runs = zip(tokens, tokens[1:], tokens[2:], strict=False)
    foreign = sum(not token.isascii() for token in (*title, *tokens))
    is_read = foreign <= MOST_FOREIGN * (len(title) + len(tokens))
    return Words(_telling(title), _telling(tokens), frozenset(map(hash, runs)), is_read)


def overlap_of(one: Words, other: Words) -> Overlap:
    """Of two texts too short to be contained by more than chance, containment counts in proportion."""
    enough = min(1.0, min(len(one.body), len(other.body)) / FEWEST_WORDS)
    return Overlap(
        title=_jaccard(one.title, other.title),
        body=_jaccard(one.body, other.body),
        contained=_contained(one.body, other.body) * enough,
        phrases=_contained(one.shingles, other.shingles) * enough,
        is_read=one.is_read and other.is_read,
    )


def _telling(tokens: Collection[str]) -> frozenset[str]:
    return frozenset(token for token in tokens if token.rstrip("_") not in COMMON)


def _jaccard(one: frozenset[str], other: frozenset[str]) -> float:
    either = len(one | other)
    return len(one & other) / either if either else 0.0


def _contained(one: frozenset[object], other: frozenset[object]) -> float:
    fewer = min(len(one), len(other))
    return len(one & other) / fewer if fewer else 0.0
