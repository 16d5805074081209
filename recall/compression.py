"""Texts made shorter by leaving out: kept are the whole sentences and code blocks that tell most of what was asked.

Each unit (recall.units) gets a value from the words that it shares with the question, the rarer in the text the more,
from the cosine of the passage that it stands in, from its place, and from the signs of a conclusion: a heading such as
Decision, words such as "because" (after Edmundson, JACM 1969). Taken are those of most value per token. The weights were
set on real questions (benchmarks/compression.py).
"""

from __future__ import annotations

import math
import re
from collections import Counter
from collections.abc import Sequence
from dataclasses import dataclass
from functools import lru_cache

from recall.tokens import count_tokens
from recall.units import LONGEST_READ, PassageScore, Unit, begins_item, begins_line, units_of

WORDS_WEIGHT, MEANING_WEIGHT, PLACE_WEIGHT = 0.5, 1.0, 0.15
CONCLUDING_HEADING, CONCLUDING_WORDS, CODE = 0.4, 0.4, -0.2
NEIGHBOUR_SHARE = 0.1  # of the better neighbour's value: an answer stands beside what was asked
HEADING_SHARE = 0.3  # of the words of its heading
GAP = "…"

_SPACES = re.compile(r"\s+")
_WORD = re.compile(r"[^\W_]+")
_UNSPACED = re.compile(r"[\u0e00-\u0eff\u1000-\u109f\u3040-\u30ff\u3400-\u4dbf\u4e00-\u9fff\uac00-\ud7ff]+")
_ENDING = re.compile(
    r"(?:ational|ization|isation|fulness|iveness|ations?|ments?|ness|ings?|edly|ies|ed|ers?|es|ly|s|e)$"
)
_CONCLUDING_HEADING = re.compile(
    r"decision|outcome|chosen|conclusion|consequence|resolution|root cause|lesson|impact|summary|positive|negative|avoid"
    r"|决|结论|后果",
    re.IGNORECASE,
)
_CONCLUDING = re.compile(
    r"\b(?:chosen|choose|decided?|decision|agreed|consensus|because|therefore|thus|must|should|will|shall|root cause"
    r"|caused|due to|instead|never|only|default|led to|identified|ensures?)\b|决定|因此|必须|因为|选择|应该|导致",
    re.IGNORECASE,
)
_COMMON = frozenset(
    (  # noqa: SIM905
        "the an and or of to in on at is are was were be been it its this that these those for with by as from how "
        "what which who when where why should would could can may might must do does did no not if then than so we "
        "our us you your they their there has have had will into about over under while any all each only own same "
        "such too very"
    ).split()
)


@dataclass(frozen=True, slots=True)
class Compressed:
    """`text` is what was kept, `…` where something was left out; `is_whole` when nothing was."""

    text: str
    tokens: int
    is_whole: bool


def compressed(text: str, asked: str, limit: int, passages: Sequence[PassageScore] = ()) -> Compressed:
    """The text in at most `limit` tokens: the units that answer best what was asked, in the text's order."""
    cut = CutText(text, passages)
    for at in cut.by_worth(cut.values(asked)):
        if cut.tokens + cut.cost(at) <= limit:
            cut.take(at)
    kept = cut.joined()
    return Compressed(kept, count_tokens(kept), cut.is_whole)


class CutText:
    """A text in its units, and those of them that are taken so far. `tokens` is never under the joined text's.

    `line_cost` is what each line of it costs in the place where it will stand (1 where lines are quoted with `>`);
    of a text longer than `read` characters only the beginning and the best passages are looked at.
    """

    def __init__(
        self,
        text: str,
        passages: Sequence[PassageScore] = (),
        *,
        line_cost: int = 0,
        read: int = LONGEST_READ,
    ) -> None:
        self.text = text
        self.passages = passages
        self.units = units_of(text, passages, read)
        self.tokens = 0
        self._line_cost = line_cost
        self._is_read_whole = len(text) <= read
        self._counted: dict[int, int] = {}
        self._taken: set[int] = set()
        self._headed: set[int] = set()

    @property
    def is_whole(self) -> bool:
        return len(self._taken) == len(self.units) and self._is_read_whole

    def values(self, asked: str) -> list[float]:
        """What each unit tells of what was asked; comparable within the text."""
        return values_of(self.text, self.units, asked, self.passages)

    def by_worth(self, values: Sequence[float]) -> list[int]:
        """Places of the units, the most value per token first."""
        lengths = [estimate(self.text, unit) for unit in self.units]
        return sorted(range(len(self.units)), key=lambda at: (-values[at] / lengths[at], at))

    def cost(self, at: int) -> int:
        """Tokens, at most, that one more unit adds: its own, gaps around it, its heading where it is the first."""
        unit = self.units[at]
        if at not in self._counted:
            self._counted[at] = count_tokens(self.text[unit.start : unit.end])
        gaps = 2 - (at - 1 in self._taken) - (at + 1 in self._taken)
        headed = unit.heading and unit.section not in self._headed
        breaks = self.text.count("\n", unit.start, unit.end) + self.text.count("\r", unit.start, unit.end)
        lines = (breaks + 3 if unit.is_code else 1) + bool(headed)
        heading = _heading_cost(unit.heading) if headed else 0
        return self._counted[at] + gaps + lines * self._line_cost + heading

    def take(self, at: int) -> None:
        self.tokens += self.cost(at)
        self._taken.add(at)
        self._headed.add(self.units[at].section)

    def is_taken(self, at: int) -> bool:
        return at in self._taken

    def joined(self) -> str:
        """What was taken, in the text's order: paragraphs as lines, `…` where something was left out."""
        lines: list[str] = []
        before: int | None = None
        ended = True  # the last line: nothing may be added to it
        for at in sorted(self._taken):
            unit = self.units[at]
            gap = f"{GAP} " if at != (-1 if before is None else before) + 1 else ""
            new = before is None or self.units[before].section != unit.section
            head = f"{unit.heading}: " if unit.heading and new else ""
            if unit.is_code:
                lines += [gap + head] if gap or head else []
                lines.append(self.text[unit.start : unit.end])
            else:
                piece = _SPACES.sub(" ", self.text[unit.start : unit.end])
                if head and begins_item(piece):
                    lines += [gap + head, piece]
                elif ended or new or before is None or begins_line(self.text, self.units[before], unit):
                    lines.append(gap + head + piece)
                else:
                    lines[-1] += f" {gap}{piece}"
            before, ended = at, unit.is_code
        if before is not None and not (before == len(self.units) - 1 and self._is_read_whole):
            lines.append(GAP) if ended else lines.append(f"{lines.pop()} {GAP}")
        return "\n".join(line.rstrip() for line in lines)


@lru_cache(maxsize=4096)
def _heading_cost(heading: str) -> int:
    return count_tokens(f"{heading}:")


def estimate(text: str, unit: Unit) -> float:
    """Roughly its tokens, without counting: four letters each, one each of an unspaced script."""
    size = unit.end - unit.start
    piece = text[unit.start : unit.end]
    unspaced = 0 if piece.isascii() else sum(len(run) for run in _UNSPACED.findall(piece))
    return max(1.0, unspaced + (size - unspaced) / 4)


def values_of(
    text: str, units: Sequence[Unit], asked: str, passages: Sequence[PassageScore] = ()
) -> list[float]:
    """What each unit tells of what was asked; comparable within the text."""
    shared = _shared_words(text, units, stems_of(asked))
    meaning = _meaning(units, passages)
    own = [
        WORDS_WEIGHT * words
        + MEANING_WEIGHT * cosine
        + PLACE_WEIGHT / (1 + place / 4)
        + _concluding(text, units[place])
        for place, (words, cosine) in enumerate(zip(shared, meaning, strict=True))
    ]
    return [
        max(
            0.01,
            own[at] + NEIGHBOUR_SHARE * max([*own[max(0, at - 1) : at], *own[at + 1 : at + 2]], default=0.0),
        )
        * estimate(text, unit)
        for at, unit in enumerate(units)
    ]


def _concluding(text: str, unit: Unit) -> float:
    """Whether it looks like what somebody decided, found or warns of, rather than like its background."""
    words = {match.lower() for match in _CONCLUDING.findall(text, unit.start, unit.end)}
    heading = CONCLUDING_HEADING if _CONCLUDING_HEADING.search(unit.heading) else 0.0
    return heading + CONCLUDING_WORDS * min(2, len(words)) / 2 + (CODE if unit.is_code else 0.0)


def _shared_words(text: str, units: Sequence[Unit], asked: frozenset[str]) -> list[float]:
    """Of the words that were asked and occur in the text, the share that each unit has, by their rarity in it."""
    stems = [stems_of(text[unit.start : unit.end]) & asked for unit in units]
    heads = {unit.section: stems_of(unit.heading) & asked for unit in units}
    seen = Counter(stem for found in stems for stem in found)
    rarity = {stem: math.log(1 + len(units) / count) for stem, count in seen.items()}
    total = sum(rarity.values()) or 1.0
    return [
        (
            sum(rarity[stem] for stem in found)
            + HEADING_SHARE * sum(rarity.get(stem, 0.0) for stem in heads[unit.section] - found)
        )
        / total
        for unit, found in zip(units, stems, strict=True)
    ]


def _meaning(units: Sequence[Unit], passages: Sequence[PassageScore]) -> list[float]:
    """The cosine of the passage that a unit begins in, from 0 for the text's least to 1 for its best."""
    if not passages:
        return [0.0] * len(units)
    least = min(one.cosine for one in passages)
    width = max(max(one.cosine for one in passages) - least, 0.1)
    ordered = sorted(passages, key=lambda one: one.start)
    scores, at = [], 0
    for unit in units:
        while at + 1 < len(ordered) and ordered[at].end <= unit.start:
            at += 1
        scores.append((ordered[at].cosine - least) / width)
    return scores


def stems_of(text: str) -> frozenset[str]:
    """The words of a text that tell something, without their endings; of an unspaced script each two characters."""
    found: set[str] = set()
    for word in _WORD.findall(text.lower()):
        if not word.isascii() and _UNSPACED.search(word):
            for run in _UNSPACED.findall(word):
                found.update(run[at : at + 2] for at in range(max(1, len(run) - 1)))
            found.update(map(_stem, _WORD.findall(_UNSPACED.sub(" ", word))))
        elif word not in _COMMON:
            found.add(_stem(word))
    return frozenset(found)


@lru_cache(maxsize=65_536)
def _stem(word: str) -> str:
    cut = _ENDING.sub("", word) if len(word) > 4 and word.isascii() else word
    return cut if len(cut) >= 3 else word
