"""On SQLite the worker lives in a thread of the server, so that one command is the whole desk.

The server starts it (`start_worker_thread`); other commands and tests never do. Woken after each commit of this
process, it looks twice a second for those of others; where several server processes run, one lease elects one.
"""

from __future__ import annotations

import atexit
import logging
import os
import sys
import threading
import time

from django.db import connection
from django.db.models import F
from django.utils import timezone

from graph.worker import NICENESS, DatabaseAway, Worker, configured_projector
from recall.encoders import EncoderUnavailable
from records.leases import LeaseBusy
from records.marks import wake_after_commit
from records.models import ProjectionMark

log = logging.getLogger("memory_desk.worker")
POLL_SECONDS = 0.5
LEASE = "worker of the server"
STOP_SECONDS = 4.0
LEAST_PRIORITY = 19

_lock = threading.Lock()
_thread: WorkerThread | None = None


class WorkerThread(threading.Thread):
    """A worker in a daemon thread."""

    def __init__(self) -> None:
        super().__init__(name="memory-desk-worker", daemon=True)
        self.worker = Worker()
        self._wanted = threading.Event()

    def run(self) -> None:
        # There each thread has a priority of its own, and what it starts inherits it.
        if sys.platform == "linux":
            _give_way(threading.get_native_id())
        try:
            self.worker.run(self._wait, POLL_SECONDS, only_as=LEASE)
        except (
            Exception
        ):  # a mistake in the settings, say: the pages go on and the health page shows no heartbeat
            log.exception("The worker thread ended")

    def wake(self) -> None:
        """Something was committed; touches no database."""
        self._wanted.set()

    def stop(self, timeout: float = STOP_SECONDS) -> None:
        self.worker.stop()
        self._wanted.set()
        if self.is_alive():
            self.join(timeout)

    def _wait(self, seconds: float) -> None:
        self._wanted.wait(seconds)
        self._wanted.clear()


def _give_way(thread_id: int) -> None:
    """As `nice` does to a process: more than it has, so that nobody needs a right to it."""
    niceness = os.getpriority(os.PRIO_PROCESS, thread_id) + NICENESS
    os.setpriority(os.PRIO_PROCESS, thread_id, min(niceness, LEAST_PRIORITY))


def start_worker_thread() -> WorkerThread | None:
    """Start this process's worker, once; None where the database is a server, whose workers are `run_worker`."""
    global _thread
    if connection.vendor != "sqlite":
        return None
    with _lock:
        if _thread is None or not _thread.is_alive():
            _thread = WorkerThread()
            _thread.start()
            wake_after_commit(_wake)
            atexit.register(stop_worker_thread)
        return _thread


def stop_worker_thread() -> None:
    if _thread is not None:
        _thread.stop()


def drain(timeout: float = 600.0) -> int:
    """Work in this thread until nothing is due: what a command that writes calls before it exits.

    Shares the marks with any worker that runs. Returns how many are still due, 0 when all is searchable.
    """
    worker = Worker()
    give_up_at = time.monotonic() + timeout
    while left := due_count():
        if time.monotonic() > give_up_at:
            break
        try:
            if not worker.work_once():
                time.sleep(0.1)
        except EncoderUnavailable as error:
            log.warning("Not searchable yet: %s", error)
            break
        except (LeaseBusy, DatabaseAway):
            time.sleep(0.5)
    return left


def due_count() -> int:
    """Marks to be worked on now, by whomever; not those that back off, are dead, or wait for a graph that is away."""
    due = ProjectionMark.objects.filter(dead=False, next_try_at__lte=timezone.now())
    projector = configured_projector()
    if projector is not None and projector.is_away:
        due = due.filter(embedded_version__lt=F("wanted_version"))
    return due.count()


def _wake() -> None:
    if _thread is not None:
        _thread.wake()


def _forget_thread() -> None:
    """In a forked child: threads do not come along."""
    global _thread, _lock
    _thread, _lock = None, threading.Lock()


os.register_at_fork(after_in_child=_forget_thread)
