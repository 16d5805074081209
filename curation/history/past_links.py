"""Which links a record had at a time. A merge moves links to the survivor: what is linked now is led back through the merges
since, and what the history tells is led on through those before."""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from datetime import datetime
from typing import Any

from django.db.models import Q

from records.links import SYMMETRICAL
from records.merging import MERGE
from records.models import Link, Revision
from records.undo_step import UNDO

Edge = tuple[str, str, str]  # source, relation, target
EVENTS_READ = 2_000
STEPS_MOST = 5  # merges of merges
OF_MERGES = Q(verb=MERGE) | Q(verb=UNDO, detail__verb=MERGE)


@dataclass(frozen=True)
class Moved:
    """One link that a merge moved: since when it was there (None where an erasing left no more of it than its ends), from
    which ends, to which (None: it was taken away)."""

    made: str | None
    before: Edge
    after: Edge | None


@dataclass(frozen=True)
class Merge:
    """A merge, or (`back`) the undo of one: its number in the history, when, and the links that it moved."""

    pk: int
    when: datetime
    moved: Sequence[Moved]
    back: bool


def edges_at(node_id: str, moment: datetime) -> set[Edge]:
    """What the history says was linked by then and not unlinked; and links that are there and older, however made."""
    at = Q(source=node_id) | Q(target=node_id)
    kept = Link.objects.filter(at, created_at__lte=moment).order_by()
    edges = set(kept.values_list("source", "relation", "target"))
    told = list(_told(node_id, moment))
    ends = {end for source, _relation, target in (*edges, *(edge for _pk, edge, _made in told)) for end in (source, target)}  # fmt: skip
    merges = _merges_of({node_id, *ends})
    for merge in sorted(merges, key=lambda merge: merge.pk, reverse=True):
        if merge.when > moment:
            _move(edges, merge, moment, back=not merge.back)
    steps: list[tuple[int, Any]] = [(pk, (edge, made)) for pk, edge, made in told]
    steps += [(merge.pk, merge) for merge in merges if merge.when <= moment]
    for _pk, step in sorted(steps, key=lambda step: step[0]):
        if isinstance(step, Merge):
            _move(edges, step, moment, back=step.back)
        else:
            edge, made = step
            (edges.add if made else edges.discard)(edge)
    return {edge for edge in edges if node_id in (edge[0], edge[2])}


def _move(edges: set[Edge], merge: Merge, moment: datetime, *, back: bool) -> None:
    """Move these links as the merge did, or back; those that were there by then."""
    for moved in merge.moved:
        here, there = (moved.after, moved.before) if back else (moved.before, moved.after)
        if moved.made is not None:
            was_there = datetime.fromisoformat(moved.made) <= moment
        else:  # of what is led back, the event that linked them tells
            was_there = merge.when <= moment and here in edges
        if here is not None:
            edges.discard(here)
        if there is not None and was_there:
            edges.add(there)


def _told(node_id: str, moment: datetime) -> Iterator[tuple[int, Edge, bool]]:
    """(number, edge, whether it was made) of what its own history tells of links by then, in order."""
    events = Revision.objects.filter(
        node_id=node_id, verb__in=("link", "unlink", UNDO), created_at__lte=moment
    )
    for pk, verb, detail in events.order_by("pk").values_list("pk", "verb", "detail")[:EVENTS_READ]:
        edge = _edge_of(detail)
        if edge is not None:
            said = detail or {}
            yield (
                pk,
                edge,
                verb == "link" if verb != UNDO else (said.get("verb") == "link") != bool(said.get("back")),
            )


def _edge_of(detail: Any) -> Edge | None:
    """As an event tells it; None where it was written otherwise. A symmetrical one is kept in one order only."""
    ends = [detail.get(name) for name in ("source", "relation", "target")] if isinstance(detail, dict) else []
    source, relation, target = ends or (None, None, None)
    if not (isinstance(source, str) and isinstance(relation, str) and isinstance(target, str)):
        return None
    if relation in SYMMETRICAL and source > target:
        source, target = target, source
    return source, relation, target


def _merges_of(node_ids: set[str]) -> list[Merge]:
    """Every merge that one of these was part of, and of those that these were merged with. One statement a step."""
    rows: dict[int, Revision] = {}
    known, frontier = set(node_ids), set(node_ids)
    for _step in range(STEPS_MOST):
        of_them = Revision.objects.filter(OF_MERGES, node_id__in=frontier).exclude(act=None)
        events = Revision.objects.filter(OF_MERGES, act__in=of_them.order_by().values("act"), version=None)
        found = [row for row in events.order_by("pk")[:EVENTS_READ] if _parts_of(row)]
        rows |= {row.pk: row for row in found}
        frontier = {node_id for row in found for node_id in _parts_of(row)} - known
        known |= frontier
        if not frontier:
            break
    moved = {(row.act, row.node_id): (row.detail or {}).get("moved") or {} for row in rows.values()}
    return [_merge(row, moved) for row in rows.values()]


def _parts_of(row: Revision) -> list[str]:
    """The survivor and the others, where the row is of a merge."""
    detail = row.detail if isinstance(row.detail, dict) else {}
    others = detail.get("from")
    is_merge = row.verb == MERGE or detail.get("verb") == MERGE
    return [row.node_id, *others] if is_merge and isinstance(others, list) else []


def _merge(row: Revision, moved: Mapping[tuple[str | None, str], Any]) -> Merge:
    detail = row.detail or {}
    back = row.verb == UNDO and bool(detail.get("back"))
    told = moved.get((detail.get("undoes") if back else row.act, row.node_id), {})
    links = [said for other in told.values() for said in other.get("links", ())]
    return Merge(row.pk, row.created_at, [_moved(said) for said in links], back)


def _moved(said: Mapping[str, Any]) -> Moved:
    relation, became = said["relation"], said.get("became")
    return Moved(
        said.get("beside", {}).get("created_at"),
        (said["source"], relation, said["target"]),
        (became[0], relation, became[1]) if became else None,
    )
