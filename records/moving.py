"""What goes along when records are merged, and comes back when that is undone: links, votes and encounters, counters,
and the records that belong to one (outcomes). What moved is told in plain JSON, from which it moves back exactly."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any

from django.db.models import F
from django.utils import timezone

from records import attention, marks, verbs
from records.actor import Actor
from records.counted import Counted, added
from records.errors import VerbError
from records.guard import writing
from records.images import plain
from records.kinds import Kind, kind_named
from records.links import SYMMETRICAL, leads_to, said_beside
from records.models import Attention, Link, Revision
from records.queries import erased_among, records_by_node_id
from records.undo_events import move_counters, put_link
from records.undo_step import this_act


def move_to(
    kind: Kind,
    survivor: Any,
    others: Sequence[Any],
    *,
    actor: Actor,
    reason: str,
    verb: str,
    said: Mapping[str, Any] | None = None,
) -> dict[str, Any]:
    """Move to the survivor what the others have. All are locked. Returns what `move_back` needs, by node id."""
    moved: dict[str, Any] = {}
    for name, column in kind.dependents:
        _move_dependents(kind_named(name), column, survivor, others, actor, reason, verb, said or {})
    total: dict[str, float] = {}
    for other in others:
        counters = kind.counted.standing(other) if kind.counted else {}
        total = added([(total, 1), (counters, 1)])
        moved[other.node_id] = {
            "counters": counters,
            "links": _move_links(other.node_id, survivor.node_id),
            "reads": _move_reads(other.node_id, survivor.node_id),
        }
        if kind.counted is not None:
            _move_counted(kind, kind.counted, survivor, other)
    move_counters(kind, survivor, total)
    _tell_ends(moved, [survivor.node_id, *moved])
    return moved


def move_back(
    kind: Kind, survivor: Any, others: Sequence[Any], moved: Mapping[str, Any], act: str
) -> list[tuple[str, VerbError]]:
    """The inverse. What was taken back or set anew since is not counted twice; a link that somebody took away stays away.
    Returns the links that cannot be any more, with why."""
    total: dict[str, float] = {}
    refused: list[tuple[str, VerbError]] = []
    counted = kind.counted
    reset = bool(counted and _reset_since(counted, survivor, act))
    for other in reversed(others):
        told = moved.get(other.node_id, {})
        refused += _links_back(survivor.project_id, told.get("links", []))
        _reads_back(survivor.node_id, other.node_id, told.get("reads", 0))
        if counted is None:
            continue
        since = _counted_back(kind, counted, survivor, other, act)
        move_counters(kind, other, since)
        gone = added([(told.get("counters", {}), -1), (since, -1)])
        if reset:  # a person's judgement holds those votes now
            gone = {name: by for name, by in gone.items() if name not in counted.reset_counters}
        total = added([(total, 1), (gone, 1)])
    move_counters(kind, survivor, total)
    _tell_ends(moved, [survivor.node_id, *moved])
    return refused


def _move_dependents(
    kind: Kind,
    column: str,
    survivor: Any,
    others: Sequence[Any],
    actor: Actor,
    reason: str,
    verb: str,
    said: Mapping[str, Any],
) -> None:
    """Records of a kind of their own: a version of each, which the undo of versions takes back."""
    rows = kind.model.objects.select_for_update().filter(**{f"{column}__in": [other.pk for other in others]})
    erased = erased_among(record.node_id for record in rows)  # nothing of them is changed any more
    verbs.update(
        [record for record in rows if record.node_id not in erased], {f"{column}_id": survivor.pk},
        actor=actor, verb=verb, reason=reason, merged_too=True,
        detail=lambda record: {**said, "into": survivor.node_id},
    )  # fmt: skip


# --- Links ---------------------------------------------------------------------------------------------------------
def _move_links(old: str, new: str) -> list[dict[str, Any]]:
    """Each link of one node, now of the other; one that would say nothing new, or a contradiction in itself, goes."""
    told, links = [], Link.objects.select_for_update().order_by("pk")
    for made in [*links.filter(source=old), *links.filter(target=old)]:
        ends = [new if end == old else end for end in (made.source, made.target)]
        if made.relation in SYMMETRICAL:
            ends.sort()
        said = {
            "relation": made.relation, "source": made.source, "target": made.target, "beside": said_beside(made),
        }  # fmt: skip
        if _says_nothing_new(made, *ends):
            with writing():
                Link.objects.filter(pk=made.pk).delete()
            told.append({**said, "became": None})
        else:
            with writing():
                Link.objects.filter(pk=made.pk).update(source=ends[0], target=ends[1])
            told.append({**said, "became": ends})
    return told


def _says_nothing_new(made: Link, source: str, target: str) -> bool:
    if source == target or Link.objects.filter(source=source, relation=made.relation, target=target).exists():
        return True
    return made.relation not in SYMMETRICAL and leads_to(target, made.relation, source)


def _links_back(project_id: int, told: Sequence[Mapping[str, Any]]) -> list[tuple[str, VerbError]]:
    refused: list[tuple[str, VerbError]] = []
    for said in reversed(told):
        relation, ends = said["relation"], (said["source"], said["target"])
        if Link.objects.filter(source=ends[0], relation=relation, target=ends[1]).exists():
            continue
        became = said.get("became")  # None, and left out where an end was erased since: it went
        if became is None:
            if len(records_by_node_id(ends, brief=True)) == 2:
                try:
                    put_link(project_id, relation, *ends, said.get("beside"))
                except VerbError as refusal:
                    refused.append((ends[0], refusal))
            continue
        source, target = became
        with writing():
            Link.objects.filter(source=source, relation=relation, target=target).update(
                source=ends[0], target=ends[1]
            )
    return refused


def _tell_ends(moved: Mapping[str, Any], merged: Sequence[str]) -> None:
    """The graph, and what asks for attention, of whatever these links lead to."""
    links = [said for told in moved.values() for said in told["links"]]
    ends = {said[end] for said in links for end in ("source", "target")}
    marks.want_projected(ends - {*merged})
    asking = {
        said[end] for said in links if said["relation"] in attention.ASKING for end in ("source", "target")
    }
    attention.look_again({*merged} | asking)


# --- What is counted ------------------------------------------------------------------------------------------------
def _move_counted(kind: Kind, counted: Counted, survivor: Any, other: Any) -> None:
    last, now = counted.last_reset(other.pk), plain(timezone.now())
    rows = [
        row for row in counted.rows([other.pk]).select_for_update() if counted.verb_of(row) in counted.counts
    ]
    for row in rows:
        move = {
            "act": this_act(), "from": other.node_id, "taken": row.taken_back_at is not None,
            "folded": counted.is_folded(row, last), "at": now,
        }  # fmt: skip
        row.moves = [*(row.moves or ()), move]
        setattr(row, f"{counted.parent}_id", survivor.pk)
    with writing():
        counted.model._default_manager.bulk_update(rows, ["moves", counted.parent], batch_size=250)


def _counted_back(kind: Kind, counted: Counted, survivor: Any, other: Any, act: str) -> dict[str, float]:
    """Move the rows back that this act moved. Returns by how much they count otherwise than they did then."""
    rows, since = [], []
    for row in counted.rows([survivor.pk]).select_for_update().exclude(moves=None):
        move = row.moves[-1]
        if move["act"] != act or move["from"] != other.node_id:
            continue
        taken = row.taken_back_at is not None
        if not move["folded"] and taken != move["taken"]:
            since.append((counted.counts[counted.verb_of(row)], -1 if taken else 1))
        row.moves = row.moves[:-1] or None
        setattr(row, f"{counted.parent}_id", other.pk)
        rows.append(row)
    with writing():
        counted.model._default_manager.bulk_update(rows, ["moves", counted.parent], batch_size=250)
    return added(since)


def _reset_since(counted: Counted, survivor: Any, act: str) -> bool:
    """Whether the survivor's counters started anew after the merge."""
    if not counted.resets or counted.verb_column is None:
        return False
    merged_at = (
        Revision.objects.filter(act=act, node_id=survivor.node_id).order_by("id").values_list("created_at")
    )
    last = counted.last_reset(survivor.pk)
    first = merged_at.first()
    return last is not None and first is not None and last > first[0]


# --- How often agents were told ----------------------------------------------------------------------------------------
def _move_reads(old: str, new: str) -> int:
    """The survivor has been read as often as all of them. The log of reads stays true: who read what."""
    row = Attention.objects.filter(node_id=old).first()
    if row is None or not row.read_count:
        return 0
    kept = Attention.objects.filter(node_id=new)
    kept.update(read_count=F("read_count") + row.read_count)
    if row.last_read_at is not None:
        kept.filter(last_read_at=None).update(last_read_at=row.last_read_at)
        kept.filter(last_read_at__lt=row.last_read_at).update(last_read_at=row.last_read_at)
    return row.read_count


def _reads_back(new: str, old: str, count: int) -> None:
    if count:
        Attention.objects.filter(node_id=new, read_count__gte=count).update(
            read_count=F("read_count") - count
        )
