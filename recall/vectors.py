"""The stored vectors in this process's memory, brought up to date from the database at each use.

Other processes write embeddings too. A changed vector is a new row with a new id, so count, greatest and sum of the
ids tell whether anything changed; what did is loaded, the rest stays. To count takes a look at each row of the project:
it is done every two seconds for a minute after new ids were seen, since a transaction that ended late may bring lower
ones, and then no more until there are new ones again. Those at the end of the table are seen at each use. A vector that
only went may stay an hour: its record is gone too, and is not found.
"""

from __future__ import annotations

import os
import threading
import time
from collections.abc import Callable, Collection, Iterable, Iterator
from functools import cache
from typing import Any

from django.conf import settings
from django.db.models import Count, Max, QuerySet, Sum

from recall.encoders import Encoder, get_encoder
from recall.models import Embedding
from recall.passages import RECORD_PART
from recall.topk import Vector, VectorSet

IDS_A_QUERY = 500
# Seconds: longer than a transaction that writes vectors lasts; after so many the rows are counted, while a transaction may
# be under way and when none is.
UNSETTLED, COUNTED_EVERY, SETTLED_COUNTED_EVERY = 60.0, 2.0, 3600.0


def configured_encoder() -> Encoder:
    """The encoder that the setting ENCODER names."""
    return get_encoder(settings.ENCODER)


class _Held:
    """What is in memory of one project: row id -> node id."""

    def __init__(self) -> None:
        self.lock = threading.Lock()
        self.nodes: dict[int, str] = {}
        self.fingerprint = (0, 0, 0)
        # When rows were last found changed, when they were last counted, and beyond which id there was none then.
        self.changed_at: float | None = None
        self.counted_at = 0.0
        self.newest = 0

    def is_to_be_counted(self, now: float) -> bool:
        """Whether rows may have come since that have no greater id than the newest."""
        if self.changed_at is None:
            return True
        settled = self.counted_at - self.changed_at > UNSETTLED
        return now - self.counted_at >= (SETTLED_COUNTED_EVERY if settled else COUNTED_EVERY)

    def keep(self, nodes: dict[int, str]) -> None:
        self.nodes = nodes
        self.fingerprint = (len(nodes), max(nodes, default=0), sum(nodes))


class StoredVectors:
    """Record vectors (part 0) or passages (parts from 1) of the configured model, by project."""

    def __init__(self, *, passages: bool, model: str, dimension: int) -> None:
        self._passages = passages
        self._model = model
        self._set = VectorSet(dimension)
        self._held: dict[int, _Held] = {}
        self._adding = threading.Lock()

    def of(
        self, project_ids: Collection[int], *, counted: bool = False, newest: Callable[[], int] | None = None
    ) -> VectorSet:
        """The set, with these projects as the database has them now: one query when nothing changed.

        `counted`: whatever was seen before, each row is looked at. `newest`: the greatest id, as somebody else looks it up.
        """
        newest = newest or cache(_newest)
        for project_id in set(project_ids):
            with self._adding:
                held = self._held.setdefault(project_id, _Held())
            with held.lock:
                if counted or held.is_to_be_counted(time.monotonic()):
                    self._refresh(project_id, held)
                else:
                    self._take_newer(project_id, held, newest())
        return self._set

    def _take_newer(self, project_id: int, held: _Held, newest: int) -> None:
        if newest == held.newest:
            return
        newer = set(self._rows(project_id).filter(id__gt=held.newest).values_list("node_id", flat=True))
        if newer:
            self._load(project_id, held, newer)
            held.changed_at = time.monotonic()
        held.newest = newest

    def _refresh(self, project_id: int, held: _Held) -> None:
        rows = self._rows(project_id)
        now, wanted = time.monotonic(), _fingerprint(rows)
        held.counted_at, held.newest = now, wanted[1]
        if held.fingerprint != wanted or held.changed_at is None:
            held.changed_at = now
        if held.fingerprint == wanted:
            return
        newest = held.fingerprint[1]
        newer = set(rows.filter(id__gt=newest).values_list("node_id", flat=True))
        if newer:
            self._load(project_id, held, newer)
        if held.fingerprint != wanted:
            # Rows are gone, or came with a lower id than one seen before (a transaction that ended late).
            stored = dict(rows.values_list("id", "node_id"))
            changed = {held.nodes[row] for row in held.nodes.keys() - stored.keys()}
            changed |= {stored[row] for row in stored.keys() - held.nodes.keys()}
            self._load(project_id, held, changed)

    def _load(self, project_id: int, held: _Held, node_ids: set[str]) -> None:
        """Take these records, with all their parts, as they are stored; those with none are forgotten."""
        found: list[Vector] = []
        ids: dict[int, str] = {}
        rows = self._rows(project_id)
        everything = not held.nodes
        for some in [None] if everything else _chunks(sorted(node_ids)):
            page = rows if some is None else rows.filter(node_id__in=some)
            columns = page.values_list("id", "node_id", "part", "vector")
            for row, node_id, part, vector in columns.iterator(chunk_size=2000):
                found.append(Vector(node_id, project_id, bytes(vector), part))
                ids[row] = node_id
        kept = {row: node_id for row, node_id in held.nodes.items() if node_id not in node_ids}
        self._set.put(found)
        self._set.remove(project_id, node_ids - set(ids.values()))
        held.keep(kept | ids)

    def _rows(self, project_id: int) -> QuerySet[Embedding]:
        rows = Embedding.objects.order_by().filter(project_id=project_id, model=self._model)
        return rows.filter(part__gt=RECORD_PART) if self._passages else rows.filter(part=RECORD_PART)


def _newest() -> int:
    return Embedding.objects.aggregate(last=Max("id"))["last"] or 0


def _fingerprint(rows: QuerySet[Embedding]) -> tuple[int, int, int]:
    found: dict[str, Any] = rows.aggregate(count=Count("id"), last=Max("id"), sum=Sum("id"))
    return found["count"], found["last"] or 0, int(found["sum"] or 0)


def _chunks(node_ids: list[str]) -> Iterator[list[str]]:
    for start in range(0, len(node_ids), IDS_A_QUERY):
        yield node_ids[start : start + IDS_A_QUERY]


@cache
def _stored(model: str, dimension: int, passages: bool) -> StoredVectors:
    return StoredVectors(passages=passages, model=model, dimension=dimension)


def record_vectors(project_ids: Iterable[int], *, counted: bool = False) -> VectorSet:
    """One vector a record, of these projects, as the database has them now; `counted`: to the last row."""
    return _held_vectors(passages=False).of(set(project_ids), counted=counted)


def all_vectors(project_ids: Iterable[int]) -> tuple[VectorSet, VectorSet]:
    """The record vectors of these projects and those of every passage, by one look at the database."""
    projects, newest = set(project_ids), cache(_newest)
    records, passages = (_held_vectors(passages=which).of(projects, newest=newest) for which in (False, True))
    return records, passages


def _held_vectors(*, passages: bool) -> StoredVectors:
    encoder = configured_encoder()
    return _stored(encoder.name, encoder.dimension, passages)


def record_vector(node_id: str) -> bytes | None:
    """The stored vector of one record, by the configured model; None where it has none yet."""
    rows = Embedding.objects.filter(node_id=node_id, model=configured_encoder().name, part=RECORD_PART)
    vector = rows.values_list("vector", flat=True).first()
    return None if vector is None else bytes(vector)


def forget_vectors() -> None:
    """Drop what is in memory: after a fork (a lock may be held by a thread that is no more), or in tests."""
    _stored.cache_clear()


os.register_at_fork(after_in_child=forget_vectors)
