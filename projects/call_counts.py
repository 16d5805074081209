"""How many calls somebody made in this minute, over all processes of the desk.

Each process counts for itself and shares its count through one row a caller, once a second: a call costs no statement
but then. Between two of those moments processes may together let a second's calls more pass. SQLite is served by one
process, so nothing is shared there.
"""

from __future__ import annotations

import threading
import time
from dataclasses import dataclass

from django.db import connection

from projects.models import CallCount

MINUTE = 60.0
SHARED_EVERY = 1.0  # seconds
CALLERS_MOST = 10_000
KEPT_MINUTES = 10


@dataclass
class _Count:
    minute: int
    everybody: int = 0  # as the row said last, of all processes
    unshared: int = 0
    shared_at: float = 0.0


_counts: dict[str, _Count] = {}
_lock = threading.Lock()


def seconds_to_wait(who: str, most: int, now: float | None = None) -> int:
    """Count one call of `who`; 0 where it is among the first `most` of this minute, else the seconds until the next one.

    `most` 0: no limit, nothing is counted.
    """
    if not most:
        return 0
    now = time.time() if now is None else now
    minute = int(now // MINUTE)
    with _lock:
        count = _counts.get(who)
        if count is None or count.minute != minute:
            if len(_counts) >= CALLERS_MOST:
                _counts.clear()
            count = _counts[who] = _Count(minute)
        if count.everybody + count.unshared >= most:
            return max(1, int((minute + 1) * MINUTE - now) + 1)
        count.unshared += 1
        due = connection.vendor == "mysql" and now - count.shared_at >= SHARED_EVERY
        to_share, count.shared_at = (count.unshared, now) if due else (0, count.shared_at)
        if due:
            count.everybody += count.unshared
            count.unshared = 0
    if due:
        everybody = _share(who, minute, to_share)
        with _lock:
            count.everybody = max(count.everybody, everybody)
    return 0


def forget() -> None:
    """In tests: what this process counted."""
    with _lock:
        _counts.clear()


def _share(who: str, minute: int, calls: int) -> int:
    """Add to the caller's row; the count of all processes in this minute."""
    with connection.cursor() as cursor:
        cursor.execute(
            "INSERT INTO call_counts (who, minute_number, calls) VALUES (%s, %s, %s) ON DUPLICATE KEY UPDATE"
            " calls = IF(minute_number = VALUES(minute_number), calls + VALUES(calls), VALUES(calls)),"
            " minute_number = VALUES(minute_number)",
            [who, minute, calls],
        )
        cursor.execute("SELECT calls FROM call_counts WHERE who = %s AND minute_number = %s", [who, minute])
        row = cursor.fetchone()
    if minute % KEPT_MINUTES == 0:
        CallCount.objects.filter(minute_number__lt=minute - KEPT_MINUTES).delete()
    return int(row[0]) if row else calls
