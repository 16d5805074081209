"""Claiming projection marks: a lease of a minute in one short transaction, and what becomes of it.

Nobody waits for anybody: a mark that a person's transaction holds right now is passed over, and no lock is held
while the claimed records are worked on. Every later write asks first whether the lease is still ours.
"""

from __future__ import annotations

import random
import time
import uuid
from collections.abc import Collection, Iterable
from dataclasses import dataclass
from datetime import datetime, timedelta
from typing import Any

from django.db.models import Case, F, Q, QuerySet, Value, When
from django.utils import timezone

from database.transactions import transactional
from graph import failpoints
from records.models import ProjectionMark

LEASE_SECONDS = 60
ATTEMPTS = 8
LONGEST_BACK_OFF = 600.0
ACK_WAIT_SECONDS = 20.0
ERROR_LENGTH = 2000


@dataclass(frozen=True, slots=True)
class Claim:
    """One mark under our lease. `version` is what was wanted when it was claimed, and all that may be stored.

    `embedded`: only the graph does not show it yet.
    """

    pk: int
    node_id: str
    version: int
    gone: bool
    attempts: int
    embedded: bool = False


def new_token() -> str:
    return uuid.uuid4().hex


def claim(token: str, limit: int, *, again: bool = False, unembedded: bool = False) -> list[Claim]:
    """The marks due longest, leased to `token`. `again`: those tried before, which failed or whose worker died.

    `unembedded`: only those without their embedding, while the graph is away.
    """
    now = timezone.now()
    tried = Q(attempts__gt=0) if again else Q(attempts=0)
    due = ProjectionMark.objects.filter(_free(now), tried)
    if unembedded:
        due = due.filter(embedded_version__lt=F("wanted_version"))
    # Each in the order of the index that finds it: MySQL would walk all that are due to find one tried before.
    order = ("attempts", "next_try_at") if again else ("next_try_at",)
    found = list(due.order_by(*order).values_list("pk", flat=True)[:limit])
    return _lease(found, token, now) if found else []


@transactional
def _lease(found: list[int], token: str, now: datetime) -> list[Claim]:
    rows = ProjectionMark.objects.select_for_update(skip_locked=True).filter(_free(now), pk__in=found)
    claims = [
        Claim(
            mark.pk,
            mark.node_id,
            mark.wanted_version,
            mark.gone or mark.erased,
            mark.attempts + 1,
            mark.embedded_version >= mark.wanted_version,
        )
        for mark in rows.order_by("pk")
    ]
    spent = [one.pk for one in claims if one.attempts > ATTEMPTS]
    claims = [one for one in claims if one.attempts <= ATTEMPTS]
    _marks(one.pk for one in claims).update(
        lease_token=token, lease_until=now + timedelta(seconds=LEASE_SECONDS), attempts=F("attempts") + 1
    )
    if spent:  # no failure was ever written down: each time the process itself ended
        _marks(spent).update(
            dead=True, error=f"The worker stopped {ATTEMPTS} times while it worked on this record."
        )
    return claims


def _free(now: datetime) -> Q:
    return Q(dead=False, next_try_at__lte=now) & (Q(lease_until=None) | Q(lease_until__lte=now))


def _marks(pks: Iterable[int]) -> QuerySet[ProjectionMark]:
    return ProjectionMark.objects.filter(pk__in=list(pks))


def lock_ours(token: str, claims: Iterable[Claim]) -> list[ProjectionMark]:
    """The marks that are still ours, locked until the transaction ends; one that a person saves now is not among them."""
    rows = ProjectionMark.objects.select_for_update(skip_locked=True)
    pks = [one.pk for one in claims]
    return list(rows.filter(pk__in=pks, lease_token=token, lease_until__gt=timezone.now()).order_by("pk"))


@transactional
def prolong(token: str, claims: Collection[Claim]) -> None:
    """Another minute for what is still ours."""
    ours = [mark.pk for mark in lock_ours(token, claims)]
    _marks(ours).update(lease_until=timezone.now() + timedelta(seconds=LEASE_SECONDS))


def acknowledge(token: str, claims: Collection[Claim], *, projected: bool = True) -> None:
    """Store what is now shown. A mark of which more was wanted meanwhile stays due; a lost lease stores nothing.

    Without `projected`: embedded, but the graph was away. It stays due, and no attempt is counted.
    """
    left = list(claims)
    give_up_at = time.monotonic() + ACK_WAIT_SECONDS
    while left:
        stored = _acknowledge(token, left, projected)
        left = [one for one in left if one.pk not in stored]
        if left:  # being saved by a person now, or no longer ours
            ours = set(_marks(one.pk for one in left).filter(lease_token=token).values_list("pk", flat=True))
            left = [one for one in left if one.pk in ours]
            if not left or time.monotonic() > give_up_at:
                return
            time.sleep(0.05)


@transactional
def _acknowledge(token: str, claims: Collection[Claim], projected: bool) -> set[int]:
    versions = {one.pk: one.version for one in claims}
    marks = lock_ours(token, claims)
    failpoints.reach(failpoints.BEFORE_ACK)
    free: dict[str, Any] = {"lease_token": None, "lease_until": None, "attempts": 0, "error": None}
    newly = [one.pk for one in claims if not one.embedded]
    _marks(mark.pk for mark in marks if mark.pk in newly).update(searchable_at=timezone.now())
    if not projected:
        for mark in marks:
            embedded = max(mark.embedded_version, versions[mark.pk])
            _marks([mark.pk]).update(embedded_version=embedded, **free)
        return {mark.pk for mark in marks}
    done = [mark.pk for mark in marks if mark.wanted_version == versions[mark.pk]]
    wanted = F("wanted_version")
    _marks(done).update(embedded_version=wanted, projected_version=wanted, next_try_at=None, **free)
    for mark in marks:
        if mark.wanted_version != versions[mark.pk]:
            shown = versions[mark.pk]
            _marks([mark.pk]).update(
                embedded_version=max(mark.embedded_version, shown),
                projected_version=shown,
                wanted_at=F("next_try_at"),
                **free,
            )
    return {mark.pk for mark in marks}


@transactional
def release(token: str, claims: Iterable[Claim]) -> None:
    """Give back what was not worked on, through no fault of the records: due again at once, no attempt counted."""
    before = Case(When(attempts__gt=0, then=F("attempts") - 1), default=Value(0))
    _marks(one.pk for one in claims).filter(lease_token=token).update(
        lease_token=None, lease_until=None, attempts=before
    )


@transactional
def fail(token: str, claim: Claim, error: Exception) -> None:
    """Back off, longer each time and not in step with others; after the last attempt the mark is dead, with its error."""
    pause = min(LONGEST_BACK_OFF, 2.0**claim.attempts) * random.uniform(0.5, 1.5)
    text = f"{type(error).__name__}: {error}"[:ERROR_LENGTH]
    ours = ProjectionMark.objects.filter(pk=claim.pk, lease_token=token)
    # What is wanted since then is another text: it is tried at once.
    moved_on = ours.exclude(wanted_version=claim.version).update(lease_token=None, lease_until=None)
    if not moved_on:
        ours.update(
            lease_token=None,
            lease_until=None,
            next_try_at=timezone.now() + timedelta(seconds=pause),
            dead=claim.attempts >= ATTEMPTS,
            error=text,
        )
