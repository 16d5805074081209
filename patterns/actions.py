"""Every write to patterns and their evidence."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any

from django.utils import timezone
from django.utils.translation import gettext as _

from database.transactions import transactional
from patterns.confidence import posterior_mean
from patterns.kind import PATTERN
from patterns.models import Cause, Evidence, Pattern
from projects.access import Capability
from projects.models import Project
from records import checks, revisions, verbs
from records.actor import Actor
from records.errors import InvalidInput
from records.guard import writing

EDITABLE = ("category", "name", "description", "code_example", "language", "tags")


@transactional
def create_patterns(
    *,
    actor: Actor,
    project: Project,
    rows: Sequence[Mapping[str, Any]],
    reason: str = "",
    review_state: str | None = None,
) -> list[Pattern]:
    """`confidence` (0 to 1, default 0.5) of a row becomes its prior."""
    prepared = []
    for row in rows:
        fields = dict(row)
        confidence = fields.pop("confidence", None)
        if confidence is not None:
            fields["confidence_score"] = fields["prior_confidence"] = _checked_confidence(confidence)
        prepared.append(fields)
    patterns = verbs.create(
        PATTERN, prepared, actor=actor, project=project, reason=reason, review_state=review_state
    )
    for pattern in patterns:
        _add_evidence(pattern, Cause.START, actor=actor, note=reason)
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
    *, actor: Actor, pattern: Pattern, confidence: float, reason: str, expected_version: int | None = None
) -> Pattern:
    """A person's judgement: the new prior, with a reason. Votes so far are folded into it and count anew."""
    checks.require_reason(reason)
    value = _checked_confidence(confidence)
    changes = {"prior_confidence": value, "confidence_score": value, "worked_count": 0, "failed_count": 0}
    outcome = verbs.update(
        [pattern], changes, actor=actor, verb="adjust_confidence", reason=reason, expected_version=expected_version,
        capability=Capability.REVIEW,
    )  # fmt: skip
    for changed in outcome.updated:
        _add_evidence(changed, Cause.ADJUSTED, actor=actor, note=reason)
    return outcome.record


@verbs.taking_in_sql
@transactional
def record_evidence(*, actor: Actor, pattern: Pattern, worked: bool, note: str = "") -> Pattern:
    """One vote from use: it worked, or it failed. Counts as a use; changes no version."""
    note = checks.checked_reason(note)
    actor.require(pattern.project_id, Capability.WRITE)
    (locked,) = verbs.lock(PATTERN, [pattern.pk])
    counts = {
        "worked_count": locked.worked_count + worked,
        "failed_count": locked.failed_count + (not worked),
        "usage_count": locked.usage_count + 1,
    }
    score = posterior_mean(
        locked.prior_confidence, locked.prior_weight, counts["worked_count"], counts["failed_count"]
    )
    with writing():
        Pattern.objects.filter(pk=locked.pk).update(**counts, confidence_score=score)
    locked.refresh_from_db()
    cause = Cause.WORKED if worked else Cause.FAILED
    _add_evidence(locked, cause, actor=actor, note=note)
    revisions.note_event(locked, cause.value, actor=actor, reason=note, detail={"confidence_after": score})
    return locked


def begin_evidence(patterns: Sequence[Pattern], *, actor: Actor) -> None:
    """The first step of patterns that come whole from elsewhere: their confidence as it stood there."""
    with writing():
        Evidence.objects.bulk_create(
            [
                Evidence(
                    pattern=pattern,
                    cause=Cause.START,
                    confidence_after=pattern.confidence_score,
                    actor_name=actor.name,
                    created_at=pattern.created_at,
                )
                for pattern in patterns
            ]
        )


def _add_evidence(pattern: Pattern, cause: Cause, *, actor: Actor, note: str = "") -> None:
    with writing():
        Evidence.objects.create(
            pattern=pattern,
            cause=cause,
            confidence_after=pattern.confidence_score,
            note=checks.checked_reason(note).strip() or None,
            actor_name=actor.name,
            source_session=actor.session or None,
            source_run=actor.run or None,
            created_at=timezone.now(),
        )


def _checked_confidence(value: Any) -> float:
    try:
        number = float(value)
    except (TypeError, ValueError):
        number = -1.0
    if isinstance(value, bool) or not 0 <= number <= 1:
        raise InvalidInput({"confidence": [_("Must be a number from 0 to 1.")]})
    return number
