"""Several records that say the same made one. The survivor keeps what all of them had: words that were chosen field by
field, tags, links, votes, encounters, outcomes, counts; the others lead to it for ever. It can be taken back.

The history: a version of each of the others (`merged_into`), one of the survivor where its words changed, and beside it
an event that holds what moved (records/moving.py), from which the undo gives exactly that back.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any

from django.utils.translation import gettext as _

from database.transactions import transactional
from projects.access import Capability
from records import verbs
from records.actor import Actor
from records.changes import Outcome, refuse_change_of_erased
from records.checks import checked_reason
from records.errors import Conflict, InvalidInput, Refused
from records.kinds import Kind, kind_named, kind_of
from records.moving import move_back, move_to
from records.queries import records_by_node_id
from records.revisions import note_event
from records.undo_step import UNDO, Step
from records.undo_versions import Change, undo_changes
from records.validation import tag_words
from records.verbs import lock, taking_in_sql

MERGE = "merge"
MOST_MERGED = 50


def merge(
    survivor: Any,
    others: Sequence[Any],
    *,
    actor: Actor,
    choices: Mapping[str, str] | None = None,
    reason: str = "",
    expected_versions: Mapping[str, int] | None = None,
) -> Outcome:
    """Merge `others` into the survivor. `choices` gives, by editable column, the node id whose words it gets; columns
    that are not named stay the survivor's, tags are united. The trust is the least of all.

    All are of one kind and project, and live. Raises Refused or InvalidInput naming the field; Conflict where one of
    `expected_versions` (by node id) is not the version kept now.
    """
    return _merge(survivor, list(others), actor, dict(choices or {}), reason, dict(expected_versions or {}))


@taking_in_sql
@transactional
def _merge(
    survivor: Any,
    others: list[Any],
    actor: Actor,
    choices: dict[str, str],
    reason: str,
    expected_versions: dict[str, int],
) -> Outcome:
    reason = checked_reason(reason)
    kind = kind_of(survivor)
    check_set(survivor, others)
    actor.require(survivor.project_id, Capability.REVIEW)
    locked = {record.node_id: record for record in lock(kind, [survivor.pk, *(other.pk for other in others)])}
    for record in locked.values():
        refuse_unfit(record)
        expected = expected_versions.get(record.node_id)
        if expected is not None and record.version != expected:
            raise Conflict(record, expected)
    kept, away = locked[survivor.node_id], [locked[other.node_id] for other in others]
    ids = [other.node_id for other in away]
    outcome = verbs.update(
        [kept], merged_columns(kind, kept, away, choices), actor=actor, verb=MERGE, reason=reason,
        capability=Capability.REVIEW, detail=lambda record: {"from": ids},
    )  # fmt: skip
    kept = outcome.record
    outcome.unchanged = []
    moved = move_to(kind, kept, away, actor=actor, reason=reason, verb=MERGE)
    gone = verbs.update(
        away, {"merged_into": kept.node_id}, actor=actor, verb=MERGE, reason=reason,
        capability=Capability.REVIEW, detail=lambda record: {"into": kept.node_id},
    )  # fmt: skip
    kept.refresh_from_db()
    note_event(kept, MERGE, actor=actor, reason=reason, detail={"from": ids, "moved": moved})
    return Outcome([kept, *gone.updated])


def check_set(survivor: Any, others: Sequence[Any]) -> None:
    """Raises Refused where these are no set that can be merged."""
    kind = kind_of(survivor)
    if not kind.repeats_are_duplicates:
        raise Refused(
            _("These are events, each of its own: %s cannot be merged.") % kind.label_plural, survivor.node_id
        )
    ids = [other.node_id for other in others]
    if not ids or len({*ids, survivor.node_id}) != len(ids) + 1:
        raise Refused(
            _("Name one or more other records to merge into this one, each once."), survivor.node_id
        )
    if len(ids) > MOST_MERGED:
        raise Refused(_("At most %s records at once.") % MOST_MERGED, survivor.node_id)
    for other in others:
        if other.prefix != survivor.prefix:
            raise Refused(_("Only records of one kind can be merged."), other.node_id)
        if other.project_id != survivor.project_id:
            raise Refused(_("All must be in the same project."), other.node_id)


def refuse_unfit(record: Any) -> None:
    refuse_change_of_erased(record)
    if record.merged_into:
        raise Refused(_("It was merged into %s already.") % record.merged_into, record.node_id)
    if record.archived_at is not None:
        raise Refused(_("It is archived; restore it first."), record.node_id)


def merged_columns(
    kind: Kind, survivor: Any, others: Sequence[Any], choices: Mapping[str, str]
) -> dict[str, Any]:
    """What the survivor's columns become."""
    records = {record.node_id: record for record in (survivor, *others)}
    columns: dict[str, Any] = {"trust": min(record.trust for record in records.values())}
    for name, node_id in choices.items():
        if name not in kind.editable:
            raise InvalidInput({name: [_("Cannot be chosen here.")]}, survivor.node_id)
        if node_id not in records:
            raise InvalidInput({name: [_("Must be one of: %s.") % ", ".join(records)]}, survivor.node_id)
        columns[name] = getattr(records[node_id], name)
    for name, other in kind.goes_with.items():
        if other in choices:
            columns.setdefault(name, getattr(records[choices[other]], name))
    if "tags" not in choices:
        columns["tags"] = united_tags(records.values())
    return columns


def united_tags(records: Any) -> list[str] | None:
    """Every tag of any of them, once, in the order of the records."""
    return list(dict.fromkeys(tag for record in records for tag in tag_words(record.tags))) or None


def undo_merges(steps: Sequence[Step], changes: Sequence[Change], *, actor: Actor, reason: str) -> Outcome:
    """Take merges back, or do them again. Words of the survivor that were changed since stay, and are reported."""
    outcome = Outcome()
    of_sets = {node_id for step in steps for node_id in (step.node_id, *step.detail["from"])}
    for step in reversed(steps):
        of_set = [change for change in changes if change.node_id in (step.node_id, *step.detail["from"])]
        outcome.add(_undo_one(step, of_set, actor, reason))
    if (
        outcome.updated and steps[0].back
    ):  # what moved along and is of a kind of its own; done again, it moves anew
        rest = [change for change in changes if change.node_id not in of_sets]
        outcome.add(undo_changes(rest, actor=actor, reason=reason, keep_later=True))
    return outcome


def _undo_one(step: Step, changes: Sequence[Change], actor: Actor, reason: str) -> Outcome:
    kind, ids = kind_named(step.row.kind), [step.node_id, *step.detail["from"]]
    records = {
        record.node_id: record for record in lock(kind, [node_id.partition("_")[2] for node_id in ids])
    }
    if missing := [node_id for node_id in ids if node_id not in records]:
        raise Refused(_("It is not there any more."), missing[0])
    survivor, others = records[step.node_id], [records[node_id] for node_id in step.detail["from"]]
    actor.require(survivor.project_id, Capability.REVIEW)
    if all(bool(other.merged_into) != step.back for other in others):
        return Outcome(unchanged=[survivor, *others])
    _refuse_moved_on(survivor, others, step.back)
    moved: dict[str, Any] = {}
    if step.back:
        outcome = undo_changes(changes, actor=actor, reason=reason, keep_later=True)
        outcome.refused += move_back(kind, survivor, others, step.detail["moved"], step.act)
    else:
        moved = move_to(kind, survivor, others, actor=actor, reason=reason, verb=UNDO, said=step.said())
        outcome = undo_changes(changes, actor=actor, reason=reason, keep_later=True)
    said = {**step.said(), "from": step.detail["from"], "moved": moved}
    note_event(survivor, UNDO, actor=actor, reason=reason, detail=said)
    return Outcome([*records_by_node_id(ids).values()], [], outcome.refused)


def _refuse_moved_on(survivor: Any, others: Sequence[Any], back: bool) -> None:
    """What was merged on since goes back first; what is to be merged again must still be there to be."""
    if survivor.merged_into:
        raise Refused(
            _("It was merged into %s since: take that back first.") % survivor.merged_into, survivor.node_id
        )
    for other in others:
        if back and other.merged_into != survivor.node_id:
            raise Refused(_("It is not merged into %s any more.") % survivor.node_id, other.node_id)
        if not back:
            refuse_unfit(other)
