"""Projection marks: what the worker is asked for. Written in the transaction of the act that asks."""

from collections.abc import Callable, Iterable, Sequence
from datetime import datetime
from typing import Any

from django.db import connection, transaction
from django.db.models import Case, F, Q, Value, When
from django.utils import timezone

from records import followers
from records.images import seen_digest_of
from records.kinds import kind_of
from records.models import ProjectionMark, Record
from records.same_text import NOT_COMPARED, text_hash_of

SEEN = ["project_id", "seen_digest", "seen_changed_at", "gone", "text_hash"]
_wakers: list[Callable[[], None]] = []


def wake_after_commit(waker: Callable[[], None]) -> None:
    """From now on call `waker` after each commit that asks for something; it must not touch the database."""
    if waker not in _wakers:
        _wakers.append(waker)


def want(records: Sequence[Record], *, new: bool = False) -> None:
    """Ask for the records as they are now; remember their digest, so that the sweep knows them as ours."""
    now = timezone.now()
    rows = [
        ProjectionMark(
            node_id=record.node_id,
            kind=kind_of(record).name,
            wanted_version=1 if new else 0,
            wanted_at=now,
            next_try_at=now,
            **_seen(record),
        )
        for record in records
    ]
    if new:
        ProjectionMark.objects.bulk_create(rows)
        _wake()
    else:
        _upsert(rows)
        want_again([record.node_id for record in records], now)
    followers.tell_written(records)


def _upsert(rows: list[ProjectionMark]) -> None:
    """Those that are there learn what is seen now. One statement: an UPDATE with a CASE a row costs ten times as much."""
    target = ["node_id"] if connection.features.supports_update_conflicts_with_target else None
    ProjectionMark.objects.bulk_create(
        rows, update_conflicts=True, update_fields=SEEN, unique_fields=target, batch_size=500
    )


def _seen(record: Record) -> dict[str, Any]:
    return {
        "project_id": record.project_id,
        "seen_digest": seen_digest_of(record),
        "seen_changed_at": record.row_changed_at,
        "text_hash": text_hash_of(record),
        "gone": False,  # a row that was deleted may come back
    }


def want_again(node_ids: Iterable[str], now: datetime | None = None) -> None:
    """Ask once more for records that have a mark: a link changed, a rebuild, a retry."""
    now = now or timezone.now()
    due = ProjectionMark.objects.filter(node_id__in=list(node_ids))
    due.update(
        wanted_at=_since(now),
        wanted_version=F("wanted_version") + 1,
        next_try_at=now,
        attempts=0,
        dead=False,
        error=None,
    )
    _wake()


def _since(now: datetime) -> Case:
    """A mark that already waits keeps its time: it is how far behind the projection is. Named before `next_try_at` in
    an update: MySQL assigns from left to right and reads what it has just assigned."""
    return Case(When(next_try_at=None, then=Value(now)), default=F("wanted_at"))


def want_projected(node_ids: Iterable[str]) -> None:
    """Ask for the graph alone: relations of these records changed, their text did not."""
    now = timezone.now()
    embedded = When(embedded_version=F("wanted_version"), then=F("wanted_version") + 1)
    # In this order: MySQL assigns from left to right and reads what it has just assigned.
    ProjectionMark.objects.filter(node_id__in=list(node_ids)).update(
        embedded_version=Case(embedded, default=F("embedded_version")),
        wanted_version=F("wanted_version") + 1,
        wanted_at=_since(now),
        next_try_at=Case(When(Q(next_try_at=None), then=Value(now)), default=F("next_try_at")),
    )
    _wake()


def forget_projected() -> int:
    """The graph shows nothing any more: ask for all of it anew, embeddings stay. Returns how many are asked for."""
    now = timezone.now()
    # As a new version each: a worker that is at work now must not tick off what it wrote before.
    asked = ProjectionMark.objects.update(
        embedded_version=Case(
            When(embedded_version=F("wanted_version"), then=F("wanted_version") + 1),
            default=F("embedded_version"),
        ),
        wanted_version=F("wanted_version") + 1,
        projected_version=0,
        wanted_at=now,
        next_try_at=now,
    )
    _wake()
    return asked


def _wake() -> None:
    for waker in _wakers:
        transaction.on_commit(waker, robust=True)


def note_seen(records: Iterable[Record]) -> None:
    """Remember rows as known to the desk, without asking the worker for anything."""
    by_node = {record.node_id: record for record in records}
    marks = list(ProjectionMark.objects.filter(node_id__in=by_node))
    for mark in marks:
        for name, value in _seen(by_node[mark.node_id]).items():
            setattr(mark, name, value)
        mark.pk = None
    _upsert(marks)


def entomb(node_ids: Iterable[str]) -> None:
    """The rows are gone: leave a tombstone that the worker projects and no stale worker can undo."""
    node_ids = list(node_ids)
    want_again(node_ids)
    ProjectionMark.objects.filter(node_id__in=node_ids).update(gone=True)
    followers.tell_gone(node_ids)


def entomb_text(node_ids: Iterable[str]) -> None:
    """The text of these is erased for good, the rows stay: nothing of them is embedded or shown any more, and what a
    worker has in its hands now it may not store."""
    node_ids = list(node_ids)
    want_again(node_ids)
    ProjectionMark.objects.filter(node_id__in=node_ids).update(
        erased=True, text_hash=NOT_COMPARED, searchable_at=None, lease_token=None, lease_until=None
    )


def disinter(node_ids: Iterable[str]) -> None:
    """Plain SQL wrote a text into a row that was erased: it is a memory like any other again."""
    ProjectionMark.objects.filter(node_id__in=list(node_ids), erased=True).update(erased=False)
