"""Votes fade while nobody uses a pattern: they count half after each `confidence_half_life_days` of its project's policy.

Unused: the row did not change, for nobody voted on it, counted a use by SQL, edited or reviewed it. Each halving is a
step of the evidence, with its cause; like every vote it moves no version.
"""

from __future__ import annotations

import time
from datetime import datetime, timedelta

from django.db.models import F, QuerySet
from django.db.models.functions import Coalesce
from django.utils import timezone
from django.utils.translation import gettext as _

from database.transactions import transactional
from patterns.confidence import NOTHING_LEFT, posterior_mean
from patterns.evidence import add_evidence
from patterns.kind import PATTERN
from patterns.models import Cause, Pattern
from projects.models import ProjectPolicy
from records import revisions, verbs
from records.actor import Actor, SourceKind
from records.guard import writing

BATCH = 100
LOOK_SECONDS = 3600.0
FADER = Actor.command("decay", source_kind=SourceKind.SQL)


def fade_unused(seconds: float = 4.0) -> bool:
    """Halve what is due, for at most so long; True where there is more."""
    give_up_at = time.monotonic() + seconds
    kept = ProjectPolicy.objects.exclude(confidence_half_life_days=None).order_by("project_id")
    for project_id, days in kept.values_list("project_id", "confidence_half_life_days"):
        assert days is not None
        after = 0
        while keys := list(_due(project_id, days).filter(pk__gt=after).values_list("pk", flat=True)[:BATCH]):
            for key in keys:
                if time.monotonic() > give_up_at:
                    return True
                fade(key, days)
            after = keys[-1]
    return False


def _due(project_id: int, days: int) -> QuerySet[Pattern]:
    """Found by the index of `row_changed_at`, or of the project where that is smaller."""
    left = (
        F("worked_count") + F("failed_count") - Coalesce("worked_faded", 0.0) - Coalesce("failed_faded", 0.0)
    )
    return (
        Pattern.objects.filter(project_id=project_id, row_changed_at__lte=_before(days))
        .alias(left=left)
        .filter(left__gt=NOTHING_LEFT)
        .order_by("pk")
    )


def _before(days: int) -> datetime:
    return timezone.now() - timedelta(days=days)


@verbs.taking_in_sql
@transactional
def fade(key: int, days: int) -> Pattern | None:
    """One step of one pattern: a half for each half-life that has passed since the row changed. None: not due."""
    (locked,) = verbs.lock(PATTERN, [key], may_be_erased=True) or (None,)
    if locked is None or locked.erased:
        return None
    halvings = (timezone.now() - locked.row_changed_at) // timedelta(days=days)
    if halvings < 1:  # somebody used it meanwhile
        return None
    worked, failed = (votes / 2 ** min(halvings, 60) for votes in locked.votes)
    score = posterior_mean(locked.prior_confidence, locked.prior_weight, worked, failed)
    with writing():
        Pattern.objects.filter(pk=key).update(
            worked_faded=locked.worked_count - worked,
            failed_faded=locked.failed_count - failed,
            confidence_score=score,
        )
    locked.refresh_from_db()
    note = _("Unused for %(days)s days: its votes count half.") % {"days": halvings * days}
    if halvings > 1:
        note = _("Unused for %(days)s days: its votes were halved %(times)s times.") % {
            "days": halvings * days, "times": halvings,
        }  # fmt: skip
    add_evidence(locked, Cause.DECAY, actor=FADER, note=note)
    revisions.note_event(locked, "decay", actor=FADER, reason=note, detail={"confidence_after": score})
    return locked
