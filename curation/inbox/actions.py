"""What one key does to the open record. Each is a verb of records, with the version that the page showed."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from typing import Any

from django.db.models import Q, QuerySet
from django.utils.translation import gettext as _
from django.utils.translation import gettext_lazy

from curation.models import SuggestedPair, Verdict
from curation.pairs.actions import settle_pairs
from database.transactions import transactional
from records import verbs
from records.actor import Actor
from records.errors import InvalidInput
from records.kinds import kind_of
from records.models import ReviewState
from records.verbs import Outcome

# Chosen by one key where a reason is asked for.
REASONS = (
    gettext_lazy("Wrong"),
    gettext_lazy("Out of date"),
    gettext_lazy("Says what another says"),
    gettext_lazy("Too vague to act on"),
    gettext_lazy("Not of this project"),
)

Verb = Callable[..., Outcome]


def _review(state: ReviewState) -> Verb:
    def act(records: list[Any], **options: Any) -> Outcome:
        return verbs.review(records, state, **options)

    return act


def open_pairs_of(node_id: str) -> QuerySet[SuggestedPair]:
    return SuggestedPair.objects.filter(Q(first=node_id) | Q(second=node_id), is_open=True).order_by("id")


@transactional
def keep_both(records: list[Any], *, actor: Actor, reason: str = "", **options: Any) -> Outcome:
    """Approve it, and say of each pair that is suggested with it that the two have nothing to do with each other."""
    outcome = verbs.review(records, ReviewState.APPROVED, actor=actor, reason=reason, **options)
    for record in [*outcome.updated, *outcome.unchanged]:
        settle_pairs(list(open_pairs_of(record.node_id)), Verdict.UNRELATED, actor=actor, reason=reason)
    return outcome


VERBS: Mapping[str, Verb] = {
    "keep_both": keep_both,
    "approve": _review(ReviewState.APPROVED),
    "reject": _review(ReviewState.REJECTED),
    "quarantine": _review(ReviewState.QUARANTINED),
    "archive": verbs.archive,
    "confirm": verbs.confirm,
}


# For the bar of the ticked ones: label, key, look.
BULK: Mapping[str, tuple[Any, str, str]] = {
    "approve": (gettext_lazy("Approve"), "A", "primary"),
    "confirm": (gettext_lazy("Still hold"), "C", "primary"),
    "reject": (gettext_lazy("Reject"), "R", "danger"),
    "quarantine": (gettext_lazy("Quarantine"), "Q", ""),
    "archive": (gettext_lazy("Archive"), "Z", ""),
}


def act_on(
    records: list[Any], verb: str, *, actor: Actor, reason: str = "", expected_version: int | None = None
) -> Outcome:
    """Raises InvalidInput for a verb that is none of VERBS, and whatever the verb raises."""
    if verb not in VERBS:
        raise InvalidInput({"verb": [_("Must be one of: %s.") % ", ".join(VERBS)]})
    return VERBS[verb](records, actor=actor, reason=reason, expected_version=expected_version)


def act_on_many(
    records: list[Any], verb: str, *, actor: Actor, reason: str, expected_versions: Mapping[str, int]
) -> Outcome:
    """Records of any kinds, kind by kind: each that refuses is reported, the others go on."""
    by_kind: dict[str, list[Any]] = {}
    for record in records:
        by_kind.setdefault(kind_of(record).name, []).append(record)
    outcome = Outcome()
    for _name, of_kind in sorted(by_kind.items()):
        part = VERBS[verb](
            of_kind, actor=actor, reason=reason, expected_version=expected_versions, partial=True
        )
        outcome.updated += part.updated
        outcome.unchanged += part.unchanged
        outcome.refused += part.refused
    return outcome
