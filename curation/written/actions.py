"""Review what a session or run wrote: one record, or all that is still unreviewed, as one act of the history."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from types import MappingProxyType
from typing import Any

from django.utils.translation import gettext as _

from curation.inbox.actions import act_on_many
from curation.written.queries import Source, all_waiting
from records.actor import Actor
from records.acts import one_act
from records.checks import require_reason
from records.errors import InvalidInput
from records.models import ReviewState
from records.verbs import Outcome

MOST = 10_000
STATES: Mapping[str, str] = {
    ReviewState.APPROVED: "approve", ReviewState.REJECTED: "reject", ReviewState.QUARANTINED: "quarantine",
}  # fmt: skip
NONE: Mapping[str, int] = MappingProxyType({})


def review_all(
    records: Sequence[Any], state: str, *, actor: Actor, reason: str = "", versions: Mapping[str, int] = NONE
) -> tuple[Outcome, str]:
    """One act over records of any kinds; each that refuses, or is not of the version that was shown, is reported, and
    the others go on. Returns the act's id too."""
    if state not in STATES:
        raise InvalidInput({"state": [_("Must be one of: %s.") % ", ".join(STATES)]})
    if state == ReviewState.REJECTED:
        require_reason(reason)
    with one_act() as act:
        outcome = act_on_many(
            list(records), STATES[state], actor=actor, reason=reason, expected_versions=versions
        )
    return outcome, act


def review_waiting(
    source: Source, state: str, *, actor: Actor, reason: str = "", versions: Mapping[str, int] = NONE
) -> tuple[Outcome, str]:
    """All that it wrote and nobody has reviewed; `versions` are those that were shown. Raises InvalidInput beyond MOST."""
    waiting, more = all_waiting(source, MOST)
    if more:
        raise InvalidInput({"__all__": [_("More than %s wait: review them by their lists.") % f"{MOST:,}"]})
    return review_all(waiting, state, actor=actor, reason=reason, versions=versions)
