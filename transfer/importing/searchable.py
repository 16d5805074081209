"""What a command that wrote does before it ends: on SQLite it embeds the records itself, unless a desk is running."""

from __future__ import annotations

import time
from collections.abc import Iterator

from django.db import connection
from django.utils import timezone

from graph.worker_thread import LEASE, drain, due_count
from records.models import Lease

SAY_EVERY_SECONDS = 5.0


def make_searchable() -> Iterator[str]:
    """Sentences for a person, as the work goes on."""
    due = due_count()
    if not due:
        return
    if connection.vendor != "sqlite":
        yield f"{due} records become searchable when a worker has embedded them (manage.py run_worker)."
        return
    if Lease.objects.filter(name=LEASE, until__gt=timezone.now()).exists():
        yield f"{due} records become searchable in a moment: the running desk embeds them."
        return
    yield f"Embedding {due} records so that they can be found; stopped now, the desk goes on when it runs."
    while True:
        began = time.monotonic()
        left = drain(timeout=SAY_EVERY_SECONDS)
        if not left:
            yield "All are searchable."
            return
        if time.monotonic() - began < SAY_EVERY_SECONDS:
            yield f"{left} are left for the worker (manage.py run_worker, or the running desk)."
            return
        yield f"{left} left"
