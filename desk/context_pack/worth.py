"""What a candidate is worth to an agent, in [0, 1]: the formula of docs/context.md, in one place."""

from __future__ import annotations

from desk.context_pack.asked import Asked
from desk.context_pack.candidates import RECENT, Candidate
from records.models import ReviewState

SEVERITY = {"critical": 1.0, "high": 0.9, "medium": 0.6, "low": 0.4}
STATUS = {"accepted": 1.0, "pending": 0.85, "rejected": 0.9, "superseded": 0.6, "deprecated": 0.6}
LEAST_OF_CATEGORY = (
    0.3  # a critical pitfall of the category at hand is worth telling though it says it otherwise
)
LEAST_OF_RECENT = 0.25
UNREVIEWED = 0.9
LEAST_OF_TRUST = 0.7


def worth_of(asked: Asked, one: Candidate) -> float:
    """relevance (with a floor for what a section's own question found), by kind, by trust, by review."""
    if one.section == "session":
        return 1.0
    relevance = one.relevance
    if one.section == RECENT or "recent" in one.why:
        age = asked.age_in_days(getattr(one.record, one.kind.when)) or 0
        relevance = max(relevance, LEAST_OF_RECENT * (1 - age / 60))
    if any(why.startswith("category ") for why in one.why):
        relevance = max(relevance, LEAST_OF_CATEGORY)
    trust = LEAST_OF_TRUST + (1 - LEAST_OF_TRUST) * min(1.0, max(0.0, one.record.trust))
    review = 1.0 if one.record.review_state == ReviewState.APPROVED else UNREVIEWED
    return round(min(1.0, relevance * _by_kind(one) * trust * review), 6)


def _by_kind(one: Candidate) -> float:
    record, name = one.record, one.kind.name
    if name == "pitfall":
        return SEVERITY.get(record.severity, 0.6)
    if name == "pattern":
        return float(record.confidence_score)
    if name == "decision":
        return STATUS.get(record.status, 1.0)
    return 1.0
