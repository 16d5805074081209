"""What two records are to each other as far as a program can tell: likely duplicates, maybe contradicting, or neither.

The score of a pair is the cosine of its record vectors, raised by the words that both titles use: from the project's
threshold on, likely duplicates. Whether two are of one subject, whatever they decide, is told better by the cosine and by
how many words of the whole texts they share beyond chance. Weights and thresholds were measured (benchmarks/pairs.py,
docs/pairs.md).
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field
from datetime import datetime, timedelta
from typing import Any

from curation.models import Sort
from curation.pairs.overlap import Overlap, Words, overlap_of
from records.models import Relation

# Of any other scorer: every pair is judged anew (see chores).
SCORER = "2"

TITLE_WEIGHT = 0.2
# Of the subject the rest is the cosine.
WORDS_WEIGHT = 1 / 3
# Where the encoder cannot read the texts, their words decide: none shared scores this at most.
UNREAD = 0.5

# Of records so much of one subject a disagreement is worth a look; of those of which neither names the other, the later
# from somewhat more on.
CONFLICT_SUBJECT = 0.62
LATER_SUBJECT = 0.68
LATER_BY = timedelta(days=1)

Why = dict[str, Any]


@dataclass(frozen=True, slots=True)
class End:
    """One of two records, as far as it matters here. `holds`: see Kind. `outcome`: (what followed, its level)."""

    node_id: str
    kind: str
    project_id: int | None
    is_active: bool
    when: datetime | None
    status: str
    holds: bool | None
    outcome: tuple[str, str] | None
    words: Words | None
    text_hash: str


@dataclass(frozen=True, slots=True)
class Between:
    """What is known of the two together: their cosine where it is kept, and who asserted which relation."""

    cosine: float | None = None
    links: Mapping[str, str] = field(default_factory=dict)
    is_replacement: bool = False


@dataclass(frozen=True, slots=True)
class Suggestion:
    sort: str
    score: float
    cosine: float | None
    words: float | None
    why: list[Why]


def judged(one: End, other: End, between: Between, threshold: float) -> Suggestion | None:
    """The one queue that a pair belongs to, whether its ends are active or not; None for neither.

    `threshold` is the project's policy: likely duplicates from this score.
    """
    if one.project_id is None or one.project_id != other.project_id:
        return None
    overlap = overlap_of(one.words, other.words) if one.words and other.words else None
    same_text = one.kind == other.kind and bool(one.text_hash) and one.text_hash == other.text_hash
    score = 1.0 if same_text else score_of(between.cosine, overlap)
    subject = 1.0 if same_text else subject_of(between.cosine, overlap)
    words = None if overlap is None else round(overlap.contained, 4)

    def suggestion(sort: str, score: float, *why: Why) -> Suggestion:
        known = [*why, *_likeness(same_text, between.cosine, words)]
        return Suggestion(sort, round(score, 4), between.cosine, words, known)

    if said_by := between.links.get(Relation.CONTRADICTS):
        return suggestion(Sort.CONFLICT, 1.0, {"code": "contradicts", "by": said_by})
    if one.kind != other.kind or between.is_replacement:
        return None
    said_by = between.links.get(Relation.DUPLICATE_OF)
    is_likely = same_text or said_by is not None or score >= threshold
    if is_likely or subject >= CONFLICT_SUBJECT:
        disagreements = _disagreements(one, other)
        if not is_likely and not disagreements and subject >= LATER_SUBJECT:
            disagreements = _later(one, other)
        if disagreements:
            return suggestion(Sort.CONFLICT, subject, *disagreements)
    if not is_likely:
        return None
    if said_by is not None and not same_text:
        return suggestion(Sort.DUPLICATE, 1.0, {"code": "duplicate", "by": said_by})
    return suggestion(Sort.DUPLICATE, score)


def score_of(cosine: float | None, overlap: Overlap | None) -> float:
    """In [0, 1]: the cosine, and more where the titles share words. 1 is said of equal texts alone."""
    if cosine is None:
        return 0.0
    titles = overlap.title if overlap is not None else 0.0
    score = min(0.9999, max(0.0, cosine + TITLE_WEIGHT * titles))
    if overlap is not None and not overlap.is_read:
        return min(score, UNREAD + (1 - UNREAD) * overlap.body)
    return score


def subject_of(cosine: float | None, overlap: Overlap | None) -> float:
    """In [0, 1]: how far two are of one subject, whether they decide the same or not."""
    if cosine is None:
        return 0.0
    words = overlap.beyond_chance if overlap is not None else 0.0
    subject = min(0.9999, max(0.0, (1 - WORDS_WEIGHT) * cosine + WORDS_WEIGHT * words))
    if overlap is not None and not overlap.is_read:
        # Two records made from one template share nearly all of the body, whatever their titles say.
        return min(subject, UNREAD + (1 - UNREAD) * min(overlap.title, overlap.body))
    return subject


def _likeness(same_text: bool, cosine: float | None, words: float | None) -> list[Why]:
    if same_text:
        return [{"code": "same_text"}]
    why: list[Why] = []
    if cosine is not None:
        why.append({"code": "cosine", "value": round(cosine, 4)})
    if words is not None:
        why.append({"code": "words", "value": words})
    return why


def _disagreements(one: End, other: End) -> list[Why]:
    why: list[Why] = []
    if {one.holds, other.holds} == {True, False}:
        why.append({"code": "status", "first": one.status, "second": other.status})
    if one.outcome and other.outcome and {one.outcome[1], other.outcome[1]} == {"good", "bad"}:
        why.append({"code": "outcome", "first": one.outcome[0], "second": other.outcome[0]})
    return why


def _later(one: End, other: End) -> list[Why]:
    """Both hold, and the later one says nothing of the earlier."""
    if not (one.holds and other.holds and one.when and other.when):
        return []
    days = abs(one.when - other.when) // LATER_BY
    return [{"code": "later", "days": days}] if days else []
