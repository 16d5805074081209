"""The labelled pairs: what both labellers said of each, what the engine measures of it, and how right a score is."""

from __future__ import annotations

import hashlib
import json
import re
from collections.abc import Callable, Iterable, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import numpy as np

from curation.pairs import judging
from curation.pairs.candidates import Candidates, ends, kept_words
from curation.pairs.overlap import MOST_TOKENS, Overlap, Words, overlap_of, telling
from decisions.models import Decision
from projects.models import Project
from recall.tokenise import search_text
from recall.vectors import record_vector
from records.kinds import kind_of
from records.queries import records_by_node_id

LABELLED = Path(__file__).resolve().parent.parent / "tests/data/pairs"
DUPLICATE = "duplicate"
# What the file of an earlier version is called before its own name.
VERSION = re.compile(r"v\d+\.")
LEAST_PRECISION, LEAST_RECALL = 0.8, 0.7
OUTSIDE, UNTOLD = 0.25, 0.9


@dataclass(frozen=True)
class Labelled:
    """A pair of the pool: what both said, what is known of it, and whether the engine looks at it at all."""

    name: str
    of: str
    made: bool
    chosen_on: bool
    labels: tuple[str, str]
    cosine: float
    overlap: Overlap
    gist: float
    is_candidate: bool

    @property
    def is_duplicate(self) -> bool | None:
        """None where the labellers disagree."""
        said = {label == DUPLICATE for label in self.labels}
        return said.pop() if len(said) == 1 else None


def lines(path: Path) -> list[dict[str, Any]]:
    return [json.loads(line) for line in path.read_text(encoding="utf-8").splitlines() if line.strip()]


def node_ids(project: Project) -> dict[str, str]:
    """Of each file of the shared data and each made text the record that was made of it."""
    rows = Decision.objects.filter(project=project).only("pk", "origin")
    return {row.origin["path"]: row.node_id for row in rows if row.origin}


def labelled_pairs(found: Candidates, ids: dict[str, str]) -> tuple[list[Labelled], int]:
    """The pool's pairs, and how many of them name a file that made no record."""
    said = [
        {row["pair"]: row["label"] for row in lines(LABELLED / f"labels-{who}.jsonl")} for who in ("a", "b")
    ]
    pairs, missing = [], 0
    records = records_by_node_id(ids.values())
    words = kept_words(records, list(ids.values()))
    gists = {node_id: gist_words(records[node_id], words[node_id]) for node_id in words}
    originals = {f"made/{text['id']}": text["of"] for text in lines(LABELLED / "rewrites.jsonl")}
    for row in lines(LABELLED / "pool.jsonl"):
        if row["a"] not in ids or row["b"] not in ids:
            missing += 1
            continue
        pair = ends(ids[row["a"]], ids[row["b"]])
        vectors = [np.frombuffer(record_vector(node_id) or b"", dtype="<f4") for node_id in pair]
        names = sorted((row["a"], row["b"]))
        pairs.append(
            Labelled(
                name=" | ".join(names),
                of=VERSION.sub("", Path(originals.get(names[0]) or originals.get(names[1]) or names[1]).name),
                made=row["pool"] == "made",
                chosen_on=hashlib.sha256("\0".join(names).encode()).digest()[0] % 2 == 0,
                labels=(said[0][row["pair"]], said[1][row["pair"]]),
                cosine=float(np.dot(vectors[0], vectors[1])),
                overlap=overlap_of(words[pair[0]], words[pair[1]]),
                gist=sum(
                    agreeing(gists[one], gists[other], words[other].all | gists[other])
                    for one, other in (pair, pair[::-1])
                )
                / 2,
                is_candidate=pair in found.cosines or pair in found.pairs,
            )
        )
    return pairs, missing


def gist_words(record: Any, words: Words) -> frozenset[str]:
    """The telling words of what a record decides: its title and summary."""
    return words.title | telling(search_text(kind_of(record).summary_of(record)).split()[:MOST_TOKENS])


def agreeing(gist: frozenset[str], others: frozenset[str], other: frozenset[str]) -> float:
    """Of the words of a gist that the other text has, the share in the other's gist: one that decides the opposite names as
    its choice what the other weighs or rejects further down. Where less than OUTSIDE of the other text is outside its gist,
    and of one word in any case, UNTOLD is taken for the share."""
    found = gist & other
    share = (len(found & others) + UNTOLD) / (len(found) + 1)
    told = min(1.0, (1 - len(others) / len(other)) / OUTSIDE) if other else 0.0
    return told * share + (1 - told) * UNTOLD


def kappa(labels: Iterable[tuple[str, str]]) -> float:
    """Cohen's kappa: the agreement beyond what two who label by chance, each by their own shares, would have."""
    pairs = list(labels)
    agreed = sum(one == other for one, other in pairs) / len(pairs)
    names = {label for pair in pairs for label in pair}
    chance = sum(
        (sum(one == name for one, _ in pairs) / len(pairs))
        * (sum(other == name for _, other in pairs) / len(pairs))
        for name in names
    )
    return (agreed - chance) / (1 - chance)


Score = Callable[[Labelled], float]


def score(pair: Labelled) -> float:
    """As the engine scores it; 0 where it never looks at the pair."""
    return judging.score_of(pair.cosine, pair.overlap) if pair.is_candidate else 0.0


def subject_of(pair: Labelled) -> float:
    return judging.subject_of(pair.cosine, pair.overlap) if pair.is_candidate else 0.0


def precision_and_recall(pairs: Sequence[Labelled], score: Score, threshold: float) -> tuple[float, float]:
    known = [pair for pair in pairs if pair.is_duplicate is not None]
    suggested = [pair for pair in known if score(pair) >= threshold]
    right = sum(bool(pair.is_duplicate) for pair in suggested)
    positives = sum(bool(pair.is_duplicate) for pair in known)
    return right / len(suggested) if suggested else 1.0, right / positives if positives else 1.0


def best_threshold(pairs: Sequence[Labelled], score: Score) -> tuple[float, float]:
    """(threshold, margin): where the goal is exceeded most, or missed least, in the worse of precision and recall."""
    found = []
    for threshold in sorted({round(score(pair), 2) for pair in pairs}):
        precision, recall = precision_and_recall(pairs, score, threshold)
        found.append((min(precision - LEAST_PRECISION, recall - LEAST_RECALL), threshold))
    margin, threshold = max(found)
    return threshold, margin
