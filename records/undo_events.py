"""The events of an act, taken back: links, and what was counted."""

from __future__ import annotations

from collections.abc import Mapping
from datetime import datetime
from typing import Any

from django.db import IntegrityError, transaction
from django.utils import timezone
from django.utils.translation import gettext as _

from projects.access import Capability
from projects.models import Project
from records import attention, marks
from records.actor import Actor
from records.changes import Outcome
from records.counted import Counted, added
from records.errors import Refused
from records.guard import writing
from records.kinds import Kind, kind_named
from records.links import SYMMETRICAL, leads_to, link_between, refuse_erased_ends, said_beside
from records.models import Link
from records.queries import records_by_node_id
from records.revisions import note_event
from records.undo_step import UNDO, Step
from records.verbs import lock


def undo_links(step: Step, *, actor: Actor, reason: str) -> Outcome:
    """A link that the act made goes, one that it took away comes back as it was."""
    detail = step.detail
    relation, ends = detail["relation"], (detail["source"], detail["target"])
    records = records_by_node_id(ends)
    if len(records) < 2:
        raise Refused(_("One end of the link is not there any more."), step.node_id)
    first, second = (records[end] for end in ends)
    actor.require(first.project_id, Capability.WRITE)
    for record in (first, second):
        if record.merged_into:
            raise Refused(
                _("It was merged into %s, and its links with it.") % record.merged_into, record.node_id
            )
    made = link_between(ends[0], relation, ends[1])
    wanted = (step.verb == "link") != step.back
    if (made is not None) == wanted:
        return Outcome(unchanged=[first, second])
    if made is not None:
        beside = said_beside(made)
        with writing():
            Link.objects.filter(pk=made.pk).delete()
    else:
        beside = detail.get("beside") or {
            "source_kind": actor.source_kind, "source_name": actor.name, "created_at": step.row.created_at.isoformat(),
        }  # fmt: skip
        put_link(first.project_id, relation, *ends, beside)
    said = {**step.said(), "relation": relation, "source": ends[0], "target": ends[1], "beside": beside}
    for record in (first, second):
        note_event(record, UNDO, actor=actor, reason=reason, detail=said)
    marks.want_again(ends)
    if relation in attention.ASKING:
        attention.look_again(ends)
    return Outcome(updated=[first, second])


def put_link(
    project_id: int, relation: str, source: str, target: str, beside: Mapping[str, Any] | None
) -> None:
    """A link that was there before, as it was. Raises Refused where by now it would close a circle, where one end was
    erased, or what it said is not kept."""
    refuse_erased_ends(source, target)
    if beside is None or "created_at" not in beside:
        raise Refused(_("What the link said is not kept any more."), source)
    if relation not in SYMMETRICAL:
        Project.objects.select_for_update().get(pk=project_id)  # as records.links does
        if leads_to(target, relation, source):
            raise Refused(_("By now the opposite is said: the two cannot both be so."), source)
    values = {**beside, "created_at": datetime.fromisoformat(beside["created_at"])}
    try:
        with writing(), transaction.atomic():
            Link.objects.create(
                project_id=project_id, relation=relation, source=source, target=target, **values
            )
    except IntegrityError as error:  # by two at once
        raise Refused(_("Somebody is linking these two right now; look again."), source) from error


def undo_counted(step: Step, *, actor: Actor, reason: str) -> Outcome:
    """A vote or an encounter is taken back, or given again. Its row stays, marked; the counters follow."""
    kind = kind_named(step.row.kind)
    counted = kind.counted
    assert counted is not None
    rows = [row for row in counted.of_act(step.of) if counted.verb_of(row) == step.verb]
    # A merge may have taken them to another record since.
    rows = [row for row in rows if step.node_id in _nodes_of(kind, counted, row)]
    keys = {counted.key_of(row) for row in rows}
    if not rows:
        raise Refused(_("What was counted then cannot be told from the rest."), step.node_id)
    outcome = Outcome()
    for key in sorted(keys):
        of_record = [row for row in rows if counted.key_of(row) == key]
        outcome.add(_count_again(kind, key, of_record, step, actor, reason))
    return outcome


def _nodes_of(kind: Kind, counted: Counted, row: Any) -> set[str]:
    """The records that the row is and was of."""
    return {kind.node_id(counted.key_of(row)), *(move["from"] for move in row.moves or ())}


def _count_again(kind: Kind, key: Any, rows: list[Any], step: Step, actor: Actor, reason: str) -> Outcome:
    counted = kind.counted
    assert counted is not None
    (record,) = lock(kind, [key])
    actor.require(record.project_id, Capability.WRITE)
    # Read again under the lock: whoever held it may have turned or moved them.
    fresh = counted.rows([key]).select_for_update().filter(pk__in=[row.pk for row in rows])
    turned = [row for row in fresh if (row.taken_back_at is None) == step.back]
    if not turned:
        return Outcome(unchanged=[record])
    last = counted.last_reset(key)
    if any(counted.is_folded(row, last) for row in turned):
        raise Refused(
            _("A person has set it anew since: what was counted before is part of that."), record.node_id
        )
    sign = -1 if step.back else 1
    moved = added([(counted.counts[step.verb], sign * len(turned))])
    with writing():
        counted.model._default_manager.filter(pk__in=[row.pk for row in turned]).update(
            taken_back_at=timezone.now() if step.back else None
        )
    record = move_counters(kind, record, moved)
    said = {**step.said(), **({} if record.node_id == step.node_id else {"now": record.node_id})}
    note_event(record, UNDO, actor=actor, reason=reason, detail={**said, "counters": moved})
    return Outcome(updated=[record])


def move_counters(kind: Kind, record: Any, moved: Mapping[str, float]) -> Any:
    """Add to the counters of a locked record, and what follows from them; no version. Answers it as it is now."""
    for name, by in moved.items():
        setattr(record, name, max(0, (getattr(record, name) or 0) + by))
    columns = {name: getattr(record, name) for name in moved}
    columns |= kind.follows(record, columns)
    if columns:
        with writing():
            kind.model.objects.filter(pk=record.pk).update(**columns)
        record.refresh_from_db()
    return record
