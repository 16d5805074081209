"""The sweep beside the worker's own work, by one worker at a time: a long adoption holds no embedding up."""

from __future__ import annotations

import logging
import threading
from datetime import datetime, timedelta

from django.conf import settings
from django.db import connection
from django.utils import timezone

from records import leases
from records.leases import Lease
from records.retention import forget_old_keys
from records.sweep import sweep

log = logging.getLogger("memory_desk.sweep")
SWEEP = "sweep"
LEASE_SECONDS = 60.0
LOOK_SECONDS = 1.0


class Sweeper(threading.Thread):
    """Sweeps every SWEEP_SECONDS, while it holds the lease; its worker prolongs that with `keep`."""

    def __init__(self, holder: str) -> None:
        super().__init__(name="memory-desk-sweep", daemon=True)
        self._holder = holder
        self._stopping = threading.Event()
        self._sweeping = False

    def run(self) -> None:
        while not self._stopping.wait(LOOK_SECONDS):
            try:
                self.sweep_if_due()
            except (
                Exception
            ):  # the database is away, or one table's rows are refused: the next round tries again
                log.exception("The sweep failed; trying again in %d s", settings.SWEEP_SECONDS)
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
            forget_old_keys()
            state = {"swept_at": timezone.now().isoformat(), "taken_in": taken}
            leases.give_back(SWEEP, self._holder, state)
        finally:
            self._sweeping = False
        return True

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
