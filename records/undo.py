"""Undo: a real inverse of an act, itself an act of the history, so that it can be undone in its turn.

What an act changed goes back to what it was, where nobody changed it since; later changes of other columns stay. What
cannot go back is reported with why. A row of the history written here has the verb `undo` and says in its detail which
act it `undoes`, the first one of that chain (`of`), that one's `verb`, and whether it was taken `back` or done again.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, field
from typing import Any

from django.utils.translation import gettext as _

from database.transactions import transactional
from projects.models import Project
from records.actor import Actor
from records.acts import is_act_id, one_act
from records.changes import Outcome
from records.checks import checked_reason
from records.errors import Refused, VerbError
from records.kinds import kind_named
from records.models import Revision
from records.undo_events import undo_counted, undo_links
from records.undo_step import LINKS, UNDO, Step, nodes_refused, of_higher_floors, step_of
from records.undo_versions import Change, changes_of, undo_changes
from records.verbs import taking_in_sql

__all__ = ["UNDO", "revisions_of_act", "undo"]


@dataclass
class _Parts:
    """What an act consists of."""

    changes: list[Change] = field(default_factory=list)
    links: list[Step] = field(default_factory=list)
    counted: list[Step] = field(default_factory=list)
    further: list[Step] = field(default_factory=list)
    merges: list[Step] = field(default_factory=list)
    lost: list[tuple[str, VerbError]] = field(default_factory=list)  # rows whose facts were erased


def revisions_of_act(act_id: str, project: Project | None = None) -> list[Revision]:
    """The rows of the history that one act wrote, oldest first; of this project, where it is named."""
    if not is_act_id(act_id):
        return []
    rows = Revision.objects.filter(act=act_id).order_by("id")
    return list(rows if project is None else rows.filter(project=project))


def projects_of_act(act_id: str) -> set[int | None]:
    """The projects (None: of none) whose records one act wrote."""
    rows = Revision.objects.filter(act=act_id) if is_act_id(act_id) else Revision.objects.none()
    return set(rows.order_by().values_list("project_id", flat=True).distinct())


def undo(act_id: str, *, actor: Actor, reason: str = "", project: Project | None = None) -> Outcome:
    """Take an act back (of this project, where it is named: an imported history may repeat another's acts).

    Raises Refused where there is no such act for this actor's eyes, or nothing in it can be taken back.
    """
    reason = checked_reason(reason)
    rows = [row for row in revisions_of_act(act_id, project) if actor.access.may(row.project_id)]
    if not rows:
        raise Refused(_("There is no such act."))
    parts = _parts_of(rows)
    beside = parts.links or parts.counted or parts.merges or parts.further
    if parts.lost:  # half of an act is not taken back: what moved with a merge is not known any more
        return Outcome(refused=parts.lost)
    if not (parts.changes or beside):
        verbs = ", ".join(sorted({row.verb for row in rows}))
        raise Refused(_("Nothing in this act can be taken back: %s.") % verbs)
    with one_act():
        if beside:
            return _undo_together(parts, actor, reason)
        return undo_changes(parts.changes, actor=actor, reason=reason)


def _parts_of(rows: Sequence[Revision]) -> _Parts:
    parts = _Parts(changes=changes_of([row for row in rows if row.version is not None]))
    told: set[tuple[Any, ...]] = set()
    for row in rows:
        if row.version is not None:
            continue
        try:
            step = step_of(row)
            said = _said_by(step)
        except VerbError as refusal:
            parts.lost.append((row.node_id, refusal))
            continue
        if said in told:  # it stands in both ends' histories
            continue
        told.add(said)
        counted = kind_named(row.kind).counted
        if step.verb in LINKS:
            parts.links.append(step)
        elif counted is not None and step.verb in counted.counts:
            parts.counted.append(step)
        elif step.verb == "merge":
            parts.merges.append(step)
        elif step.verb in of_higher_floors:
            parts.further.append(step)
    return parts


def _said_by(step: Step) -> tuple[Any, ...]:
    """What a row says, whichever record's history it stands in."""
    if step.verb in LINKS:
        return (step.detail["relation"], step.detail["source"], step.detail["target"])
    if step.verb in of_higher_floors:
        return (step.verb, step.detail["source"], step.detail["target"])
    return (step.verb, step.row.pk if step.verb == "merge" else step.node_id)


@taking_in_sql
@transactional
def _undo_together(parts: _Parts, actor: Actor, reason: str) -> Outcome:
    """An act of several parts goes back in one transaction: a link stays where its record had to stay as it is."""
    if parts.merges:
        from records.merging import undo_merges  # it undoes by this module's own parts

        return undo_merges(parts.merges, parts.changes, actor=actor, reason=reason)
    outcome = undo_changes(parts.changes, actor=actor, reason=reason) if parts.changes else Outcome()
    stuck = nodes_refused(outcome)
    for step in [*reversed(parts.links), *reversed(parts.counted), *reversed(parts.further)]:
        ends = {step.node_id, step.detail.get("source"), step.detail.get("target")}
        if stuck & ends:
            continue  # said already
        undo_one = undo_links if step.verb in LINKS else of_higher_floors.get(step.verb, undo_counted)
        try:
            outcome.add(undo_one(step, actor=actor, reason=reason))
        except VerbError as refusal:
            outcome.refused.append((step.node_id, refusal))
    return _once_each(outcome)


def _once_each(outcome: Outcome) -> Outcome:
    """A record of several parts is told once: as updated where any part of it was."""
    updated = {record.node_id: record for record in outcome.updated}
    unchanged = {record.node_id: record for record in outcome.unchanged if record.node_id not in updated}
    return Outcome([*updated.values()], [*unchanged.values()], outcome.refused)
