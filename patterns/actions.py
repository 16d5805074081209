"""Every write to patterns and their evidence."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any

from django.utils.translation import gettext as _

from database.transactions import transactional
from patterns.evidence import add_all_evidence, add_evidence
from patterns.kind import NO_VOTES, PATTERN
from patterns.models import Cause, Evidence, Pattern
from projects.access import Capability
from projects.models import WEIGHT_LEAST, WEIGHT_MOST, Project
from projects.queries import policy_of
from records import attention, checks, revisions, verbs
from records.actor import Actor
from records.checks import Reason
from records.counted import added
from records.errors import InvalidInput
from records.guard import writing
from records.undo_events import move_counters

EDITABLE = PATTERN.editable


@transactional
def create_patterns(
    *,
    actor: Actor,
    project: Project,
    rows: Sequence[Mapping[str, Any]],
    reason: Reason = "",
    review_state: str | None = None,
) -> list[Pattern]:
    """`confidence` (0 to 1, default 0.5) of a row becomes its prior, which weighs as much as the project's policy says."""
    weight = policy_of(project.pk).prior_weight
    prepared = []
    for row in rows:
        fields = {"prior_weight": weight, **row}
        confidence = fields.pop("confidence", None)
        if confidence is not None:
            fields["confidence_score"] = fields["prior_confidence"] = _checked_confidence(confidence)
        prepared.append(fields)
    patterns = verbs.create(
        PATTERN, prepared, actor=actor, project=project, reason=reason, review_state=review_state
    )
    notes = checks.each_reason(reason, len(patterns))
    add_all_evidence(patterns, Cause.START, actor=actor, notes=notes)
    return patterns


def create_pattern(*, actor: Actor, project: Project, reason: str = "", **fields: Any) -> Pattern:
    return create_patterns(actor=actor, project=project, rows=[fields], reason=reason)[0]


def edit_pattern(
    *,
    actor: Actor,
    pattern: Pattern,
    changes: Mapping[str, Any],
    reason: str = "",
    expected_version: int | None = None,
) -> Pattern:
    changes = checks.only(changes, EDITABLE, pattern.node_id)
    return verbs.update(
        [pattern], changes, actor=actor, reason=reason, expected_version=expected_version
    ).record


@transactional
def adjust_confidence(
    *,
    actor: Actor,
    pattern: Pattern,
    confidence: float,
    reason: str,
    weight: float | None = None,
    expected_version: int | None = None,
) -> Pattern:
    """A person's judgement: the new prior, with a reason. Votes so far are folded into it and count anew.

    `weight`: how many votes it counts for, 0.1 to 1000; None: as many as before.
    """
    checks.require_reason(reason)
    value = _checked_confidence(confidence)
    changes = {"prior_confidence": value, "confidence_score": value, **NO_VOTES}
    if weight is not None:
        changes["prior_weight"] = _checked_weight(weight)
    outcome = verbs.update(
        [pattern], changes, actor=actor, verb="adjust_confidence", reason=reason, expected_version=expected_version,
        capability=Capability.REVIEW,
    )  # fmt: skip
    for changed in outcome.updated:
        add_evidence(changed, Cause.ADJUSTED, actor=actor, note=reason)
    return outcome.record


@verbs.taking_in_sql
@transactional
def record_evidence(*, actor: Actor, pattern: Pattern, worked: bool, note: str = "") -> Pattern:
    """One vote from use: it worked, or it failed. Counts as a use; changes no version."""
    note = checks.checked_reason(note)
    actor.require(pattern.project_id, Capability.WRITE)
    locked = verbs.lock_live(pattern)
    cause = Cause.WORKED if worked else Cause.FAILED
    counted = PATTERN.counted
    assert counted is not None
    # A new vote counts whole: it does not make up for votes that had faded before they were taken back.
    moved = added([(counted.counts[cause], 1), (counted.faded_too_much(locked), -1)])
    locked = move_counters(PATTERN, locked, moved)
    score = locked.confidence_score
    add_evidence(locked, cause, actor=actor, note=note)
    revisions.note_event(locked, cause.value, actor=actor, reason=note, detail={"confidence_after": score})
    attention.touch([locked.node_id])
    return locked


def retire_pattern(
    *, actor: Actor, pattern: Pattern, reason: str, expected_version: int | None = None
) -> Pattern:
    """No longer to be followed: hidden and not recalled, kept with its evidence. The reason is for whoever looks for it."""
    checks.require_reason(reason)
    return verbs.archive(
        [pattern], actor=actor, verb="retire", reason=reason, expected_version=expected_version
    ).record


def unretire_pattern(
    *, actor: Actor, pattern: Pattern, reason: str = "", expected_version: int | None = None
) -> Pattern:
    return verbs.restore(
        [pattern], actor=actor, verb="unretire", reason=reason, expected_version=expected_version
    ).record


def begin_evidence(patterns: Sequence[Pattern], *, actor: Actor) -> None:
    """The first step of patterns that come whole from elsewhere: their confidence as it stood there."""
    with writing():
        Evidence.objects.bulk_create(
            [
                Evidence(
                    pattern=pattern,
                    cause=Cause.START,
                    confidence_after=pattern.confidence_score,
                    votes_after=pattern.all_votes,
                    actor_name=actor.name,
                    created_at=pattern.created_at,
                )
                for pattern in patterns
            ]
        )


def _checked_confidence(value: Any) -> float:
    try:
        number = float(value)
    except (TypeError, ValueError):
        number = -1.0
    if isinstance(value, bool) or not 0 <= number <= 1:
        raise InvalidInput({"confidence": [_("Must be a number from 0 to 1.")]})
    return number


def _checked_weight(value: Any) -> float:
    try:
        number = float(value)
    except (TypeError, ValueError):
        number = 0.0
    if isinstance(value, bool) or not WEIGHT_LEAST <= number <= WEIGHT_MOST:
        bounds = {"least": WEIGHT_LEAST, "most": WEIGHT_MOST}
        raise InvalidInput({"weight": [_("Must be a number from %(least)g to %(most)g.") % bounds]})
    return number
