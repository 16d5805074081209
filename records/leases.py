"""Leases: one row says which process does what only one may do at a time, until when, and how it is getting on.

Taken by one conditional UPDATE, so no lock is held while the work goes on. A holder that dies loses it in time.
The processes' clocks decide: seconds of difference between hosts are harmless, minutes are not.
"""

from __future__ import annotations

import os
import socket
import time
import uuid
from collections.abc import Iterator
from contextlib import contextmanager
from datetime import datetime, timedelta
from typing import Any

from django.db import models
from django.db.models import Q
from django.utils import timezone

from database.columns import ExactTextField

WAIT_STEP = 0.05
# Each worker holds the lease of its own name as its heartbeat.
WORKER = "worker "


class LeaseBusy(RuntimeError):
    """Somebody else holds the lease, or took it over since."""


class Lease(models.Model):
    """`holder` may do what `name` says until `until`; `state` is what the health page shows of it."""

    name = ExactTextField(max_length=100, unique=True)
    holder = ExactTextField(max_length=100, blank=True, default="")
    until = models.DateTimeField(null=True)
    beat_at = models.DateTimeField(null=True)
    state = models.JSONField(default=dict)

    class Meta:
        app_label = "records"
        db_table = "worker_leases"
        ordering = ["name"]

    def __str__(self) -> str:
        return f"{self.name} of {self.holder or 'nobody'}"


def new_holder() -> str:
    """A name no other thread of any process has, that still tells an operator where it runs."""
    return f"{host()}:{os.getpid()}:{uuid.uuid4().hex[:8]}"


def host() -> str:
    """The name of this machine as its holders carry it."""
    return socket.gethostname()[:50]


def take(name: str, holder: str, seconds: float) -> bool:
    """Take or prolong the lease. False where another holds it; asking while it is busy writes nothing."""
    now = timezone.now()
    kept = Lease.objects.filter(name=name).first()
    if kept is None:
        Lease.objects.bulk_create([Lease(name=name)], ignore_conflicts=True)
    elif kept.holder != holder and kept.until is not None and kept.until > now:
        return False
    free = Q(until=None) | Q(until__lte=now) | Q(holder=holder)
    taken = Lease.objects.filter(free, name=name).update(
        holder=holder, until=now + timedelta(seconds=seconds), beat_at=now
    )
    return bool(taken)


def take_for_a_while(name: str, holder: str, seconds: float) -> bool:
    """Like `take` for a loop that asks at each turn: writes only once a third of the time is over."""
    kept = Lease.objects.filter(name=name, holder=holder).first()
    if kept and kept.until and kept.until > timezone.now() + timedelta(seconds=seconds * 2 / 3):
        return True
    return take(name, holder, seconds)


def is_held(name: str, holder: str) -> bool:
    """Whether the lease is still the holder's. Inside a transaction the answer stays true until it ends."""
    rows = Lease.objects.select_for_update().filter(name=name, holder=holder, until__gt=timezone.now())
    return rows.exists()


def give_back(name: str, holder: str, state: dict[str, Any] | None = None) -> None:
    """Let the next one have it now; `state` is kept for the health page."""
    changes: dict[str, Any] = {"until": None, "beat_at": timezone.now()}
    if state is not None:
        changes["state"] = state
    Lease.objects.filter(name=name, holder=holder).update(**changes)


def forget_dead_workers(before: datetime) -> int:
    """Heartbeats of workers that ended without a word (killed, their machine gone) that long ago."""
    return Lease.objects.filter(name__startswith=WORKER, until__lt=before).delete()[0]


@contextmanager
def held(name: str, *, seconds: float, wait: float) -> Iterator[str]:
    """Hold the lease for the block, waiting for it up to `wait` seconds; LeaseBusy after that."""
    holder = new_holder()
    give_up_at = time.monotonic() + wait
    while not take(name, holder, seconds):
        if time.monotonic() > give_up_at:
            raise LeaseBusy(name)
        time.sleep(WAIT_STEP)
    try:
        yield holder
    finally:
        give_back(name, holder)
