"""Scores that were tried on the labelled pairs, and cross-validation of choosing among them."""

from __future__ import annotations

from collections.abc import Sequence
from itertools import product

import numpy as np

from benchmarks.pairs_labels import Labelled, Score, best_threshold, precision_and_recall, score
from curation.pairs import judging

# The score that was tried: the weights of cosine, words and gist (see agreeing), as the half to choose on gave them.
TRIED_WEIGHTS, TRIED_THRESHOLD = (0.4, 0.2, 0.4), 0.77
FOLDS, SHUFFLES = 8, 5


def weighed(cosine: float, words: float, gist: float) -> Score:
    """The score that was tried, by any weights; bounded like the subject where the encoder cannot read the texts."""

    def score(pair: Labelled) -> float:
        if not pair.is_candidate:
            return 0.0
        overlap = pair.overlap
        most = 1.0 if overlap.is_read else 0.5 + 0.5 * min(overlap.title, overlap.body)
        return min(most, cosine * pair.cosine + words * overlap.beyond_chance + gist * pair.gist)

    return score


def titled(title: float, words: float) -> Score:
    """The engine's own kind of score, by any weights."""
    return lambda pair: (
        judging.score_of(pair.cosine, pair.overlap)
        + (title - judging.TITLE_WEIGHT) * pair.overlap.title
        + words * pair.overlap.contained
        if pair.is_candidate
        else 0.0
    )


def cross_validated(half: Sequence[Labelled], scores: Sequence[Score]) -> tuple[float, float]:
    """(precision, recall) on pairs of which none, nor any of the same original, had a part in choosing among the scores."""
    known = [pair for pair in half if pair.is_duplicate is not None]
    originals = sorted({pair.of for pair in known})
    right = suggested = positives = 0
    for shuffle in range(SHUFFLES):
        order = np.random.default_rng(shuffle).permutation(len(originals))
        fold = {of: int(place) % FOLDS for of, place in zip(originals, order, strict=True)}
        for held_out in range(FOLDS):
            others = [pair for pair in known if fold[pair.of] != held_out]
            (threshold, _), chosen = max(
                ((best_threshold(others, score), score) for score in scores), key=lambda found: found[0][1]
            )
            own = [pair for pair in known if fold[pair.of] == held_out]
            told = [pair for pair in own if chosen(pair) >= threshold]
            right += sum(bool(pair.is_duplicate) for pair in told)
            suggested += len(told)
            positives += sum(bool(pair.is_duplicate) for pair in own)
    return right / suggested, right / positives


def choose(pairs: Sequence[Labelled]) -> None:
    """Weights with their best threshold, on the half to choose on, and what cross-validation says of choosing so."""
    half = [pair for pair in pairs if pair.chosen_on]
    ours = [
        (float(title), float(words), 0.0)
        for title in np.arange(0, 0.41, 0.1)
        for words in np.arange(0, 0.41, 0.1)
    ]
    tried = [
        (float(cosine), float(words), float(1 - cosine - words))
        for cosine, words in product(np.arange(0.2, 1.01, 0.1), np.arange(0, 0.41, 0.1))
        if cosine + words < 1.01
    ]
    kinds = (
        ("cosine + title, words", {of: titled(*of[:2]) for of in ours}),
        ("cosine, words, gist", {of: weighed(*of) for of in tried}),
    )
    for name, scores in kinds:
        found = [(*best_threshold(half, one), of) for of, one in scores.items()]
        for threshold, _margin, of in sorted(found, key=lambda row: -row[1])[:6]:
            precision, recall = precision_and_recall(half, scores[of], threshold)
            weights = " ".join(f"{weight:.1f}" for weight in of)
            print(
                f"  {name}: {weights}  threshold {threshold:.2f}  precision {precision:.2f}  recall {recall:.2f}"
            )
        precision, recall = cross_validated(half, list(scores.values()))
        print(f"  {name}, cross-validated: precision {precision:.2f}, recall {recall:.2f}")
    precision, recall = cross_validated(half, [score])
    print(
        f"  as it is, but for the threshold, cross-validated: precision {precision:.2f}, recall {recall:.2f}"
    )
