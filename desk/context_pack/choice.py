"""Spends the budget: which candidates, and which sentences of each, by value per token.

Two kinds of steps compete: to open an item (its heading and its best sentence, which counts as a usual one until the item
is opened and its text looked at) and to add the next best sentence to an opened one. Taken is the step of most value per token that still fits, until none does. Opening is worth less the more
the record is like one that is there (maximal marginal relevance, after Carbonell and Goldstein, SIGIR 1998, on record
vectors), and more where its section has nothing yet.
"""

from __future__ import annotations

import heapq
from collections import Counter
from collections.abc import Callable, Sequence
from dataclasses import dataclass
from functools import cache, cached_property
from typing import Any

from desk.context_pack.candidates import Candidate, LeftOut
from recall.compression import CutText
from recall.tokens import count_tokens
from recall.topk import Matrix

OPENING_SHARE = (
    0.6  # of an item's worth, for its heading and first sentence; the rest is its further sentences'
)
FIRST_OF_SECTION = 1.5
NOVELTY_FROM = 0.5  # cosine between two records above which the second tells less
LEAST_NOVELTY = 0.2
DUPLICATE = 0.97
LEAST_COST = 60  # tokens: a shorter item is not taken for its shortness
# What a sentence has of its text's value, and its tokens, as long as it was not looked at.
USUAL_SHARE, USUAL_SENTENCE = 0.2, 25
LEAST_HEAD, LEAST_SENTENCE = 20, 6  # tokens: with less left, nothing is opened, or nothing is added
SPARE = 3  # candidates of a section beyond k: some are duplicates, or too long
MISFITS = 3  # sentences of an item that do not fit, after which no further one is tried


class Item:
    """A candidate with its worth. What it costs and its sentences are worked out when they are first needed: most
    candidates never are."""

    def __init__(
        self,
        candidate: Candidate,
        worth: float,
        texts: Callable[[], tuple[str, str]],
        cut: Callable[[], CutText],
        asked: str,
    ) -> None:
        """`texts` gives the lines before and after the record's own text, `cut` that text."""
        self.candidate, self.worth = candidate, worth
        self.node_id = candidate.node_id
        self.next = 0  # the place in `order` of the best sentence that was not looked at yet
        self.misfits = 0
        self._texts, self._cut, self._asked = texts, cut, asked

    @cached_property
    def texts(self) -> tuple[str, str]:
        return self._texts()

    @cached_property
    def fixed(self) -> int:
        """Tokens of what stands around the text."""
        return sum(count_tokens(text) for text in self.texts)

    @cached_property
    def cut(self) -> CutText:
        return self._cut()

    @cached_property
    def values(self) -> list[float]:
        return self.cut.values(self._asked)

    @cached_property
    def order(self) -> list[int]:
        """Places of the sentences, the most value per token first."""
        return self.cut.by_worth(self.values)

    @property
    def has_more(self) -> bool:
        return self.misfits < MISFITS and self.next < len(self.order)

    @property
    def share(self) -> float:
        """Of the text's value, what its next sentence has."""
        total = self._total
        return self.values[self.order[self.next]] / total if self.has_more and total else 1.0

    @cached_property
    def _total(self) -> float:
        return sum(self.values)

    @property
    def next_cost(self) -> int:
        return self.cut.cost(self.order[self.next]) if self.has_more else 0

    def skip(self) -> None:
        """The next sentence does not fit: the one after it is tried."""
        self.next += 1
        self.misfits += 1


def _best_of_sections(items: Sequence[Item], most: int) -> tuple[list[Item], list[Item]]:
    """The `most` of each section that are worth most, of falling worth, and the others: those are not looked into."""
    best: list[Item] = []
    beyond: list[Item] = []
    seen: Counter[str] = Counter()
    for item in sorted(items, key=lambda item: (-item.worth, item.node_id)):
        seen[item.candidate.section] += 1
        (best if seen[item.candidate.section] <= most else beyond).append(item)
    return best, beyond


def _kind(item: Item) -> str:
    """The pitfall and the incident of one story are alike, and neither stands for the other."""
    return item.node_id.partition("_")[0]


@dataclass
class Chosen:
    items: list[Item]
    left_out: list[LeftOut]
    spent: int


class Choice:
    def __init__(
        self,
        items: Sequence[Item],
        *,
        budget: int,
        k: int,
        section_cost: Callable[[str], int],
        vector: Callable[[str], Matrix | None],
    ) -> None:
        """`budget`: tokens for items and the lines that name their sections."""
        self._waiting, self._beyond = _best_of_sections(items, k + SPARE)
        self._budget, self._k = budget, k
        self._section_cost, self._vector = cache(section_cost), vector
        self._likeness: dict[str, float] = {}  # the greatest cosine with an opened item
        self._twins: dict[str, str] = {}  # and the opened item of its own kind that says the same
        self._opened: list[Item] = []
        self._left_out: list[LeftOut] = []
        self._of_section: Counter[str] = Counter()
        self._next: list[tuple[float, str, Item]] = []
        self._spent = 0

    def made(self) -> Chosen:
        while True:
            opening = self._best_opening()
            growing = self._next[0] if self._next else None
            if opening is None and growing is None:
                break
            if growing is None or (opening is not None and opening[0] >= -growing[0]):
                assert opening is not None
                self._open(opening[1])
            else:
                heapq.heappop(self._next)
                self._grow(growing[2])
        for item in self._beyond:
            enough = self._of_section[item.candidate.section] >= self._k
            reason = "k" if enough else "budget"
            self._left_out.append(LeftOut(item.candidate.record, item.candidate.section, item.worth, reason))
        return Chosen(self._opened, self._left_out, self._spent)

    def _best_opening(self) -> tuple[float, Item] | None:
        """The item that is worth most per token with a sentence of usual length; only its text is looked at."""
        while True:
            best: tuple[float, Item] | None = None
            for item in self._waiting:  # of falling worth
                if best is not None and best[0] * LEAST_COST > item.worth * FIRST_OF_SECTION:
                    break
                gain = item.worth * (OPENING_SHARE + (1 - OPENING_SHARE) * USUAL_SHARE) * self._novelty(item)
                gain *= 1.0 if self._of_section[item.candidate.section] else FIRST_OF_SECTION
                cost = max(LEAST_COST, self._fixed_cost(item) + USUAL_SENTENCE)
                if best is None or gain / cost > best[0]:
                    best = (gain / cost, item)
            if best is None or not self._is_left_out(best[1]):
                return best

    def _is_left_out(self, item: Item) -> bool:
        reason = ""
        if item.node_id in self._twins:
            reason = "duplicate"
        elif self._of_section[item.candidate.section] >= self._k:
            reason = "k"
        elif not self._fit_opening(item):
            reason = "budget"
        if reason:
            self._waiting.remove(item)
            of = self._twins.get(item.node_id, "")
            self._left_out.append(
                LeftOut(item.candidate.record, item.candidate.section, item.worth, reason, of)
            )
        return bool(reason)

    def _fit_opening(self, item: Item) -> bool:
        """Move on to the best sentence that fits beside the heading; without any text the heading is all."""
        if self._budget - self._spent < LEAST_HEAD:
            return False
        left = self._budget - self._spent - self._fixed_cost(item)
        if left < 2 * LEAST_SENTENCE:  # without looking at its text
            return False
        while item.has_more and item.next_cost > left:
            item.skip()
        return item.has_more or not item.order

    def _fixed_cost(self, item: Item) -> int:
        section = item.candidate.section
        return item.fixed + (0 if self._of_section[section] else self._section_cost(section))

    def _novelty(self, item: Item) -> float:
        cosine = self._likeness.get(item.node_id, 0.0)
        return max(LEAST_NOVELTY, 1 - max(0.0, cosine - NOVELTY_FROM) / (1 - NOVELTY_FROM))

    def _open(self, item: Item) -> None:
        self._waiting.remove(item)
        self._spent += self._fixed_cost(item)
        self._of_section[item.candidate.section] += 1
        self._opened.append(item)
        if item.has_more:
            self._take(item)
        vector = self._vector(item.node_id)
        for other in self._waiting if vector is not None else ():
            theirs: Any = self._vector(other.node_id)
            if theirs is not None:
                cosine = round(float(vector @ theirs), 6)
                self._likeness[other.node_id] = max(cosine, self._likeness.get(other.node_id, 0.0))
                if cosine >= DUPLICATE and _kind(other) == _kind(item):
                    self._twins.setdefault(other.node_id, item.node_id)
        self._offer(item)

    def _take(self, item: Item) -> None:
        before = item.cut.tokens
        item.cut.take(item.order[item.next])
        self._spent += item.cut.tokens - before
        item.next += 1

    def _offer(self, item: Item) -> None:
        if self._budget - self._spent >= LEAST_SENTENCE and item.has_more:
            gain = item.worth * (1 - OPENING_SHARE) * item.share / max(1, item.next_cost)
            heapq.heappush(self._next, (-gain, item.node_id, item))

    def _grow(self, item: Item) -> None:
        if item.next_cost <= self._budget - self._spent:
            self._take(item)
        else:
            item.skip()
        self._offer(item)
