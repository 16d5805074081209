"""What is kept for a while only. Each floor says what it has of that; the worker purges it, a little at a time."""

from __future__ import annotations

import time
from collections.abc import Callable
from dataclasses import dataclass
from datetime import datetime, timedelta

from django.conf import settings
from django.db.models import QuerySet
from django.utils import timezone

from projects.models import ProjectPolicy
from records.models import IdempotencyKey, Read

# One DELETE: short enough that nobody waits for its locks.
BATCH = 1000


@dataclass(frozen=True)
class Policy:
    """`purge_some(before, limit)` deletes at most `limit` rows older than that in one transaction; 0: none is left."""

    name: str
    setting: str  # days that they are kept; 0: for ever; "": `purge_some` knows, and `before` is now
    purge_some: Callable[[datetime, int], int]


_policies: list[Policy] = []


def add_policy(policy: Policy) -> None:
    """Called by the apps when Django is ready."""
    if policy.name not in {known.name for known in _policies}:
        _policies.append(policy)


def policies() -> dict[str, int]:
    """Days by name; 0: kept for ever."""
    return {policy.name: getattr(settings, policy.setting) for policy in _policies if policy.setting}


def purge(seconds: float, may_go_on: Callable[[], bool] = lambda: True) -> tuple[dict[str, int], bool]:
    """Delete what is past its time, for at most so long; how many of each, and whether that was all."""
    gone: dict[str, int] = {}
    give_up_at = time.monotonic() + seconds
    left = [policy for policy in _policies if not policy.setting or getattr(settings, policy.setting)]
    while left:  # in turns: many of the one kind do not keep the other waiting
        for policy in list(left):
            if time.monotonic() > give_up_at or not may_go_on():
                return gone, False
            days = getattr(settings, policy.setting) if policy.setting else 0
            found = policy.purge_some(timezone.now() - timedelta(days=days), BATCH)
            if found:
                gone[policy.name] = gone.get(policy.name, 0) + found
            else:
                left.remove(policy)
    return gone, True


def delete_oldest(rows: QuerySet, column: str, before: datetime, limit: int) -> int:  # type: ignore[type-arg]
    """Rows whose `column` lies before that: found by its index, deleted by their keys, so that only they are locked."""
    keys = list(
        rows.filter(**{f"{column}__lt": before}).order_by(column, "pk").values_list("pk", flat=True)[:limit]
    )
    if keys:
        rows.filter(pk__in=keys).delete()
    return len(keys)


def _purge_reads_of_projects(now: datetime, limit: int) -> int:
    """Where a project's own policy keeps them for less long than the desk does."""
    kept = ProjectPolicy.objects.exclude(keep_reads_days=None).order_by("project_id")
    for project_id, days in kept.values_list("project_id", "keep_reads_days"):
        assert days is not None
        rows = Read.objects.filter(project_id=project_id)
        if found := delete_oldest(rows, "read_at", now - timedelta(days=days), limit):
            return found
    return 0


add_policy(
    Policy(
        "idempotency keys",
        "KEEP_IDEMPOTENCY_KEYS_DAYS",
        lambda before, limit: delete_oldest(IdempotencyKey.objects.all(), "created_at", before, limit),
    )
)
add_policy(
    Policy(
        "reads",
        "KEEP_READS_DAYS",
        lambda before, limit: delete_oldest(Read.objects.all(), "read_at", before, limit),
    )
)
add_policy(Policy("reads of projects", "", _purge_reads_of_projects))
