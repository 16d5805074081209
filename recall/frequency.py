"""In how many texts of the desk a word stands, about: the fewer, the more it tells.

Estimated from a sample of the texts of all projects (InnoDB works through every text that has a word, whosever it is),
which is held in this process's memory for some minutes.
"""

from __future__ import annotations

import math
import random
import time
from collections import Counter
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field

from django.db.models import Max, Min

from recall.models import SearchText
from recall.tokenise import Term

# Of so many texts any question is answered fast: nothing is counted, and no word left out.
FEW = 5_000
SAMPLED, MOST_LOOKED_FOR = 1_000, 20_000
KEPT_SECONDS = 600
# Okapi BM25 as Robertson and Zaragoza give it: how soon a repeated word says no more, how much the length of a text counts.
SATURATION, LENGTH = 1.2, 0.75


@dataclass(frozen=True)
class Frequencies:
    """About how many `texts` there are, and in how many of those `sampled` each token stands."""

    texts: float = 0.0
    sampled: int = 0
    with_token: Counter[str] = field(default_factory=Counter)

    @property
    def are_known(self) -> bool:
        return self.sampled > 0

    def of(self, token: str) -> float:
        """About how many texts have it. In none of the sample does not mean in none."""
        return (self.with_token[token] + 0.5) / (self.sampled + 1) * self.texts

    def rarest_of(self, term: Term) -> str:
        """The token of a term that stands in the fewest texts, of those that every text with the term has."""
        return min(term.parts or (term.whole,), key=self.of)

    def telling(self, terms: Sequence[Term], most_texts: int) -> list[Term]:
        """The rarest of the terms, at least one, that together stand in so many texts at most; each as the token that
        stands for the whole of it, and the rarest of its parts. All of them as they came where nothing is known."""
        if not self.are_known:
            return list(terms)
        chosen: list[Term] = []
        room = float(most_texts)
        for term in self.rarest_first(terms):
            tokens = dict.fromkeys(filter(None, (term.whole, self.rarest_of(term))))
            room -= sum(map(self.of, tokens))
            if chosen and room < 0:
                break
            chosen += [Term(token, ()) for token in tokens]
        return chosen

    def enough_of(self, rarest_first: Sequence[Term], few_texts: int, most: int) -> list[Term]:
        """As many of the terms as no more than so many texts have together, if their words had nothing to do with each
        other; one at least, and `most`. All of them where nothing is known."""
        if not self.are_known:
            return list(rarest_first)
        chosen: list[Term] = []
        left = self.texts
        for term in rarest_first:
            if chosen and (left <= few_texts or len(chosen) == most):
                break
            left *= self.of(self.rarest_of(term)) / self.texts
            chosen.append(term)
        return chosen

    def best_first(self, terms: Sequence[Term], texts: Mapping[str, str]) -> list[str]:
        """The keys of those texts (of tokens) that say any of the terms: first those that say most, and the rarest, often."""
        weights = {
            token: math.log1p(self.texts / self.of(token))
            for token in {token for term in terms for token in (term.whole, self.rarest_of(term)) if token}
        }
        lengths = {key: text.count(" ") + 1 for key, text in texts.items()}
        usual = sum(lengths.values()) / max(len(lengths), 1)
        scores: dict[str, float] = {}
        for key, text in texts.items():
            said = Counter(filter(weights.__contains__, text.split()))
            held = SATURATION * (1 - LENGTH + LENGTH * lengths[key] / usual)
            scores[key] = sum(
                weights[token] * count * (SATURATION + 1) / (count + held) for token, count in said.items()
            )
        return sorted(filter(scores.get, scores), key=lambda key: -scores[key])

    def rarest_first(self, terms: Sequence[Term]) -> list[Term]:
        """The terms as they came where nothing is known, and those that are equally rare."""
        if not self.are_known:
            return list(terms)
        return sorted(terms, key=lambda term: self.of(self.rarest_of(term)))


_held: tuple[float, Frequencies] | None = None


def frequencies() -> Frequencies:
    """As of some minutes ago at most. Of few texts nothing is known."""
    global _held
    held, now = _held, time.monotonic()
    if held is None or now - held[0] > KEPT_SECONDS:
        _held = held = (now, _counted())
    return held[1]


def forget_frequencies() -> None:
    """Count anew at the next question."""
    global _held
    _held = None


def _counted() -> Frequencies:
    ends = SearchText.objects.aggregate(first=Min("id"), last=Max("id"))
    if ends["last"] is None or ends["last"] - ends["first"] < FEW:
        return Frequencies()
    span = range(ends["first"], ends["last"] + 1)
    # Of the same texts the same sample: they answer the same question in the same way.
    chance = random.Random(len(span))
    asked = min(SAMPLED, len(span))
    texts = _texts(chance.sample(span, asked))
    # Rewritten texts leave gaps among the ids: where few are met, more are looked for.
    if len(texts) < asked // 2:
        asked = min(SAMPLED * SAMPLED // (len(texts) + 1), MOST_LOOKED_FOR, len(span))
        texts = _texts(chance.sample(span, asked))
    count = len(texts) / asked * len(span)
    if count < FEW:
        return Frequencies()
    return Frequencies(count, len(texts), Counter(token for text in texts for token in {*text.split()}))


def _texts(keys: Sequence[int]) -> list[str]:
    return list(SearchText.objects.filter(pk__in=keys).values_list("words", flat=True))
