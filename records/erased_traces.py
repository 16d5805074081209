"""What other rows keep of an erased record's words: its history, the histories of those it was linked or merged with,
the first answers to keyed writes."""

from __future__ import annotations

import json
import re
from collections.abc import Callable, Collection, Iterable, Iterator, Sequence
from typing import Any

from django.db.models import Q, TextField
from django.db.models.functions import Cast

from records.guard import writing
from records.kinds import parse_node_id
from records.models import IdempotencyKey, Relation, Revision
from records.undo_step import UNDO

ROWS_A_QUERY = 500
GONE = 410


def clear_history(records: Sequence[Any]) -> None:
    """Of their own acts: who, when and which stay. Of the acts of others that name them: what was said goes, too."""
    node_ids = {record.node_id for record in records}
    about = [row.pk for row in told_by_others(node_ids)]  # before their own, which names these, is cleared
    own = Revision.objects.filter(node_id__in=node_ids)
    _clear_details(own, facts_of)
    with writing():
        own.update(after=None, reason="")
    for start in range(0, len(about), ROWS_A_QUERY):
        rows = Revision.objects.filter(pk__in=about[start : start + ROWS_A_QUERY])
        _clear_details(rows, lambda detail: without_words_on(node_ids, detail))
        with writing():
            rows.update(reason="")


def told_by_others(node_ids: Collection[str]) -> Iterator[Revision]:
    """Events in the histories of other records whose detail names one of these."""
    histories = Revision.objects.filter(node_id__in=node_ids)
    named = _nodes_in(histories.exclude(detail=None).values_list("detail", flat=True))
    projects = set(histories.order_by().values_list("project_id", flat=True).distinct())
    # A merge of what they were linked with, and its undo, hold the links that moved, notes and all.
    moved = Q(project_id__in=projects - {None}, verb__in=("merge", UNDO))
    others = (
        Revision.objects.exclude(detail=None).exclude(node_id__in=node_ids).only("pk", "node_id", "detail")
    )
    told: dict[int, Revision] = {}
    for rows in (others.filter(node_id__in=named), others.filter(moved)):  # each by an index of its own
        for row in rows.iterator(chunk_size=ROWS_A_QUERY):
            if _nodes_in([row.detail]) & {*node_ids}:
                told[row.pk] = row
    yield from told.values()


def _clear_details(rows: Any, clear: Callable[[Any], Any]) -> None:
    with writing():
        for row in rows.exclude(detail=None).only("pk", "detail"):
            facts = clear(row.detail)
            if facts != row.detail:
                Revision.objects.filter(pk=row.pk).update(detail=facts)


def without_words_on(node_ids: Collection[str], detail: Any) -> Any:
    """An event's detail where each part that names one of these is left with its facts; what is told of others stays."""
    if isinstance(detail, list):
        return [without_words_on(node_ids, inner) for inner in detail]
    if not isinstance(detail, dict):
        return detail
    if any(_is_named(node_ids, value) for value in detail.values()):
        return facts_of(detail)
    return {
        name: facts_of(inner) if name in node_ids else without_words_on(node_ids, inner)
        for name, inner in detail.items()
    }


def _is_named(node_ids: Collection[str], value: Any) -> bool:
    return any(
        isinstance(one, str) and one in node_ids for one in (value if isinstance(value, list) else [value])
    )


def facts_of(detail: Any) -> Any:
    """What of an event's detail is no text: numbers, node ids, relations; under the names that we gave them."""
    if isinstance(detail, dict):
        kept = {
            name: value if _is_step(name, value) else facts_of(value)
            for name, value in detail.items()
            if _is_ours(name)
        }
        return {name: value for name, value in kept.items() if value not in (None, {}, [])}
    if isinstance(detail, list):
        return [value for value in map(facts_of, detail) if value not in (None, {}, [])]
    if isinstance(detail, str):
        return detail if parse_node_id(detail) or detail in Relation.values else None
    return detail


def _is_step(name: str, value: Any) -> bool:
    """Which act an undo takes back, and that it was a merge: without that, nobody knows what is linked to what since."""
    if name in ("undoes", "of"):
        return isinstance(value, str) and re.fullmatch(r"[0-9a-f]{32}", value) is not None
    return name == "verb" and value == "merge"


def _is_ours(name: str) -> bool:
    return re.fullmatch(r"[a-z_]{1,40}", name) is not None or parse_node_id(name) is not None


def _nodes_in(details: Iterable[Any]) -> set[str]:
    found: set[str] = set()
    for detail in details:
        if isinstance(detail, str) and parse_node_id(detail):
            found.add(detail)
        elif isinstance(detail, dict):
            found |= _nodes_in([*detail.keys(), *detail.values()])
        elif isinstance(detail, list):
            found |= _nodes_in(detail)
    return found


def clear_answers(node_ids: Collection[str], says: str) -> None:
    """Kept first answers that tell of one of these: whoever sends the write again is told that it is gone, and it is
    not done a second time."""
    body = json.dumps(
        {"type": "urn:memory-desk:problem:erased", "title": "Gone", "status": GONE, "detail": says}
    )
    for node_id in node_ids:
        IdempotencyKey.objects.filter(pk__in=answers_about(node_id)).update(
            status=GONE, answer=body, headers=None
        )


def answers_about(node_id: str) -> list[int]:
    """Keys of the kept answers that name this record."""
    named = re.compile(rf"(?<![0-9A-Za-z_]){re.escape(node_id)}(?![0-9A-Za-z])")
    rows = IdempotencyKey.objects.annotate(said=Cast("answer", TextField())).filter(said__contains=node_id)
    return [key for key, said in rows.values_list("pk", "said") if named.search(said)]
