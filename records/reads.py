"""What agents were answered with: noted in memory, written in batches within a second, never in an answer's way."""

from __future__ import annotations

import atexit
import logging
import os
import threading
import time
from collections import Counter, deque
from collections.abc import Collection, Iterable
from datetime import datetime
from typing import NamedTuple

from django.db import DatabaseError, DataError, Error, IntegrityError, close_old_connections, connection
from django.utils import timezone

from database.transactions import transactional
from projects.models import AgentToken
from records.actor import Actor
from records.attention import count_reads
from records.models import ProjectionMark, Read

log = logging.getLogger("memory_desk.reads")
CAPACITY = 20_000
BATCH = 500
FLUSH_SECONDS = 0.5
IDLE_SECONDS = 30.0
AFTER_ERROR_SECONDS = 5.0


class _Noted(NamedTuple):
    node_id: str
    token_id: int | None
    agent_name: str
    session: str
    run: str
    door: str
    request_id: str
    read_at: datetime


class _Queue:
    """The reads of this process that are not written yet."""

    def __init__(self) -> None:
        self.noted: deque[_Noted] = deque()
        self.lost = 0
        self.wanted = threading.Event()
        self.starting = threading.Lock()
        self.flushing = threading.Lock()
        self.thread: threading.Thread | None = None


_queue = _Queue()
# Tests write inside transactions that another connection does not see: they turn this off and flush themselves.
in_background = True


def note_reads(node_ids: Iterable[str], *, actor: Actor, door: str) -> None:
    """Remember that these records were answered to the actor through this door (`api.decisions.list`).

    Touches no database. Past 20,000 unwritten ones further reads are counted as lost, not waited for.
    """
    now = timezone.now()
    about = (
        actor.token.pk if actor.token else None,
        _clean(actor.name, 255),
        _clean(actor.session, 255),
        _clean(actor.run, 255),
        _clean_ascii(door, 40),
        _clean_ascii(actor.request_id, 64),
        now,
    )
    queue = _queue
    for node_id in node_ids:
        if len(queue.noted) >= CAPACITY:
            queue.lost += 1
        else:
            queue.noted.append(_Noted(node_id, *about))
    if in_background and queue.noted:
        _ensure_thread(queue)
        queue.wanted.set()


def reads_lost() -> int:
    """How many reads of this process could not be kept: the queue was full, or the database refused the row."""
    return _queue.lost


def reads_waiting() -> int:
    """How many reads of this process are noted and not written yet."""
    return len(_queue.noted)


def flush_reads() -> int:
    """Write what is noted, now and in this thread. Returns how many rows were written."""
    queue, written = _queue, 0
    with queue.flushing:
        while batch := _taken(queue):
            try:
                _write(batch)
                written += len(batch)
            except (DataError, IntegrityError, ValueError):
                written += _write_singly(queue, batch)
            except Error:
                queue.noted.extendleft(reversed(batch))
                raise
    return written


def forget_reads() -> None:
    """Drop what is noted, in tests."""
    _queue.noted.clear()
    _queue.lost = 0


def _taken(queue: _Queue) -> list[_Noted]:
    batch: list[_Noted] = []
    while queue.noted and len(batch) < BATCH:
        batch.append(queue.noted.popleft())
    return batch


@transactional
def _write(batch: list[_Noted]) -> None:
    projects = _projects_of({noted.node_id for noted in batch})
    tokens = {noted.token_id for noted in batch if noted.token_id}
    kept = set(AgentToken.objects.filter(pk__in=tokens).values_list("pk", flat=True))
    Read.objects.bulk_create(
        [
            Read(
                **noted._replace(token_id=noted.token_id if noted.token_id in kept else None)._asdict(),
                project_id=projects.get(noted.node_id),
            )
            for noted in batch
        ]
    )
    count_reads(Counter(noted.node_id for noted in batch), max(noted.read_at for noted in batch))


def _projects_of(node_ids: Collection[str]) -> dict[str, int | None]:
    return dict(ProjectionMark.objects.filter(node_id__in=node_ids).values_list("node_id", "project_id"))


def _write_singly(queue: _Queue, batch: list[_Noted]) -> int:
    """One row is refused: the others are written."""
    written = 0
    for noted in batch:
        try:
            _write([noted])
            written += 1
        except (DatabaseError, ValueError) as error:
            queue.lost += 1
            log.warning("The read of %s was not kept: %s", noted.node_id, error)
    return written


def _ensure_thread(queue: _Queue) -> None:
    if queue.thread is not None and queue.thread.is_alive():
        return
    with queue.starting:
        if queue.thread is None or not queue.thread.is_alive():
            queue.thread = threading.Thread(
                target=_flush_for_ever, args=(queue,), name="memory-desk-reads", daemon=True
            )
            queue.thread.start()


def _flush_for_ever(queue: _Queue) -> None:
    while True:
        if not queue.wanted.wait(IDLE_SECONDS):
            connection.close()  # idle: a connection kept open would time out on the server
            queue.wanted.wait()
        queue.wanted.clear()
        time.sleep(FLUSH_SECONDS)  # let a batch gather
        try:
            close_old_connections()
            flush_reads()
        except Exception as error:  # kept in the queue; the next round tries again
            log.warning("%d reads are not written yet: %s", len(queue.noted), error)
            connection.close()
            time.sleep(AFTER_ERROR_SECONDS)
            queue.wanted.set()


def _clean(text: str, length: int) -> str:
    return text[:length].encode("utf-8", "replace").decode("utf-8")


def _clean_ascii(text: str, length: int) -> str:
    return text[:length].encode("ascii", "replace").decode("ascii")


def _begin_anew() -> None:
    """In a forked child: the parent's thread is not here and its reads are the parent's to write."""
    global _queue
    _queue = _Queue()


def _flush_at_exit() -> None:
    if not _queue.noted:
        return
    try:
        flush_reads()
    except Exception as error:
        log.warning("%d reads were lost at exit: %s", len(_queue.noted), error)
    connection.close()


os.register_at_fork(after_in_child=_begin_anew)
atexit.register(_flush_at_exit)
