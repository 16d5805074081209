"""The sweep and the purge beside the worker's own work, by one worker at a time: a long adoption holds no embedding up."""

from __future__ import annotations

import logging
import threading
import time
from datetime import datetime, timedelta

from django.conf import settings
from django.db import connection
from django.utils import timezone

from records import followers, leases
from records.leases import Lease
from records.retention import purge
from records.sweep import sweep

log = logging.getLogger("memory_desk.sweep")
SWEEP = "sweep"
PURGE = "purge"
PURGE_EVERY = timedelta(hours=1)
PURGE_SECONDS = 5.0  # at a time: then the sweep has its turn
PURGE_LOOK_SECONDS = 60.0
SILENT_WORKERS_KEPT = timedelta(days=1)  # on the health page
LEASE_SECONDS = 60.0
LOOK_SECONDS = 1.0
INDEXES = "project indexes"
INDEX_LOOK_SECONDS = 600.0
CHORE = "chore "
CHORE_LOOK_SECONDS = 15.0


class Sweeper(threading.Thread):
    """Sweeps every SWEEP_SECONDS, while it holds the lease; its worker prolongs that with `keep`."""

    def __init__(self, holder: str) -> None:
        super().__init__(name="memory-desk-sweep", daemon=True)
        self._holder = holder
        self._stopping = threading.Event()
        self._sweeping = False
        self._look_for_purge_at = 0.0
        self._look_for_indexes_at = time.monotonic() + INDEX_LOOK_SECONDS / 10
        self._look_for_chores_at = time.monotonic() + CHORE_LOOK_SECONDS / 10

    def run(self) -> None:
        while not self._stopping.wait(LOOK_SECONDS):
            try:
                self.sweep_if_due()
                self.purge_if_due()
                self.index_if_due()
                self.chores_if_due()
            except (
                Exception
            ):  # the database is away, or one table's rows are refused: the next round tries again
                log.exception("The sweep or the purge failed; trying again in %d s", settings.SWEEP_SECONDS)
                connection.close()
                self._stopping.wait(settings.SWEEP_SECONDS)
        connection.close()

    def sweep_if_due(self) -> bool:
        """Sweep unless somebody did within SWEEP_SECONDS or does now."""
        if not _is_due() or not leases.take(SWEEP, self._holder, LEASE_SECONDS):
            return False
        self._sweeping = True
        try:
            if not _is_due():  # somebody did between the two looks
                leases.give_back(SWEEP, self._holder)
                return False
            taken = sweep()
            state = {"swept_at": timezone.now().isoformat(), "taken_in": taken}
            leases.give_back(SWEEP, self._holder, state)
        finally:
            self._sweeping = False
        return True

    def purge_if_due(self) -> bool:
        """Delete what is past its time, hourly and for a few seconds; what is left at the next look."""
        if time.monotonic() < self._look_for_purge_at:
            return False
        self._look_for_purge_at = time.monotonic() + PURGE_LOOK_SECONDS
        kept = Lease.objects.filter(name=PURGE).first()
        state = kept.state if kept else {}
        if state.get("all") and datetime.fromisoformat(state["purged_at"]) > timezone.now() - PURGE_EVERY:
            return False
        if not leases.take(PURGE, self._holder, LEASE_SECONDS):
            return False
        gone, everything = purge(PURGE_SECONDS, lambda: not self._stopping.is_set())
        leases.forget_dead_workers(timezone.now() - SILENT_WORKERS_KEPT)
        if not everything:
            self._look_for_purge_at = 0.0
        if gone:
            log.info("purged %s", ", ".join(f"{count} {name}" for name, count in gone.items()))
        leases.give_back(
            PURGE, self._holder, {"purged_at": timezone.now().isoformat(), "gone": gone, "all": everything}
        )
        return True

    def index_if_due(self) -> bool:
        """A vector index for each project that has become large, in a graph that has some."""
        if not settings.GRAPH_URL or time.monotonic() < self._look_for_indexes_at:
            return False
        self._look_for_indexes_at = time.monotonic() + INDEX_LOOK_SECONDS
        if not leases.take(INDEXES, self._holder, LEASE_SECONDS):
            return False
        from graph.project_indexes import bring_project_indexes
        from graph.store import GraphAway

        try:
            made, dropped = bring_project_indexes()
        except GraphAway:
            return False
        finally:
            leases.give_back(INDEXES, self._holder)
        if made or dropped:
            log.info("vector indexes of projects: %d made, %d dropped", len(made), len(dropped))
        return True

    def chores_if_due(self) -> bool:
        """What higher floors do now and then (records.followers), each by one worker at a time."""
        if time.monotonic() < self._look_for_chores_at:
            return False
        self._look_for_chores_at = time.monotonic() + CHORE_LOOK_SECONDS
        worked = False
        for name, chore in followers.chores().items():
            if self._stopping.is_set() or not leases.take(CHORE + name, self._holder, LEASE_SECONDS):
                continue
            try:
                if chore():
                    worked, self._look_for_chores_at = True, 0.0
            except Exception:  # one that fails holds none of the others up; its next turn tries again
                log.exception("%s failed; trying again in %d s", name, CHORE_LOOK_SECONDS)
                connection.close_if_unusable_or_obsolete()
            finally:
                leases.give_back(CHORE + name, self._holder)
        return worked

    def keep(self) -> None:
        if self._sweeping:
            leases.take(SWEEP, self._holder, LEASE_SECONDS)

    def stop(self, timeout: float) -> None:
        self._stopping.set()
        if self.is_alive():
            self.join(timeout)


def _is_due() -> bool:
    kept = Lease.objects.filter(name=SWEEP).first()
    if kept is None or "swept_at" not in kept.state:
        return True
    swept_at = datetime.fromisoformat(kept.state["swept_at"])
    return swept_at <= timezone.now() - timedelta(seconds=settings.SWEEP_SECONDS)
