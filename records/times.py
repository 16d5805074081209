"""Times in the reader's zone, also those that plain SQL put at the edge of the calendar."""

from __future__ import annotations

from datetime import datetime

from django.utils import timezone


def shown_time(when: datetime) -> datetime:
    """The time in the reader's zone; without a zone, as UTC names it, where theirs has no such day (9999-12-31)."""
    if timezone.is_naive(when):
        return when
    try:
        return timezone.localtime(when)
    except OverflowError:
        return timezone.make_naive(when, when.tzinfo)
