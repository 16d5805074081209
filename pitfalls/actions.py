"""Every write to pitfalls and their encounters."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any

from django.utils import timezone
from django.utils.translation import gettext as _

from database.transactions import transactional
from pitfalls.kind import PITFALL
from pitfalls.models import Encounter, Pitfall, Severity
from projects.access import Capability
from projects.models import Project
from records import attention, checks, revisions, verbs
from records.actor import Actor
from records.acts import current_act
from records.checks import Reason
from records.errors import InvalidInput
from records.guard import writing

EDITABLE = PITFALL.editable


def create_pitfalls(
    *,
    actor: Actor,
    project: Project,
    rows: Sequence[Mapping[str, Any]],
    reason: Reason = "",
    review_state: str | None = None,
) -> list[Pitfall]:
    return verbs.create(PITFALL, rows, actor=actor, project=project, reason=reason, review_state=review_state)


def create_pitfall(*, actor: Actor, project: Project, reason: str = "", **fields: Any) -> Pitfall:
    return create_pitfalls(actor=actor, project=project, rows=[fields], reason=reason)[0]


def edit_pitfall(
    *,
    actor: Actor,
    pitfall: Pitfall,
    changes: Mapping[str, Any],
    reason: str = "",
    expected_version: int | None = None,
) -> Pitfall:
    changes = checks.only(changes, EDITABLE, pitfall.node_id)
    return verbs.update(
        [pitfall], changes, actor=actor, reason=reason, expected_version=expected_version
    ).record


def change_severity(
    *, actor: Actor, pitfalls: Sequence[Pitfall], severity: str, reason: str, **options: Any
) -> verbs.Outcome:
    if severity not in Severity.values:
        raise InvalidInput({"severity": [_("Must be one of: %s.") % ", ".join(Severity.values)]})
    checks.require_reason(reason)
    return verbs.update(
        pitfalls, {"severity": severity}, actor=actor, verb="change_severity", reason=reason, **options
    )


@verbs.taking_in_sql
@transactional
def meet_again(*, actor: Actor, pitfall: Pitfall, note: str = "") -> Pitfall:
    """It was met again. Counts; changes no version."""
    note = checks.checked_reason(note)
    actor.require(pitfall.project_id, Capability.WRITE)
    locked = verbs.lock_live(pitfall)
    with writing():
        Pitfall.objects.filter(pk=locked.pk).update(encountered_count=locked.encountered_count + 1)
        Encounter.objects.create(
            pitfall=locked,
            act=current_act(),
            note=note.strip() or None,
            actor_name=actor.name,
            source_session=actor.session or None,
            source_run=actor.run or None,
            created_at=timezone.now(),
        )
    locked.refresh_from_db()
    revisions.note_event(
        locked, "met_again", actor=actor, reason=note, detail={"encountered_count": locked.encountered_count}
    )
    attention.touch([locked.node_id])
    return locked
