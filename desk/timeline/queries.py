"""One page of a project's time line: a bounded statement a source, then one a kind for what is shown."""

from __future__ import annotations

import base64
import binascii
import json
from collections.abc import Collection
from dataclasses import dataclass
from datetime import UTC, datetime
from typing import Any

from django.utils.dateparse import parse_datetime
from django.utils.translation import gettext as _

from desk.timeline.sources import SOURCES, Place, Wanted
from records.errors import InvalidInput
from records.kinds import kind_named
from records.models import Revision
from records.queries import records_by_node_id

PAGE = 50
FIRST_YEAR = 2  # any zone has each of its days


@dataclass(frozen=True)
class Event:
    """`when` is its place in time; `is_day` where only the day is known. `act` is its row of the history, if it is one;
    `record` is None where that is gone."""

    what: str
    when: datetime
    is_day: bool
    node_id: str
    record: Any
    act: Revision | None = None


@dataclass(frozen=True)
class Page:
    events: list[Event]
    next_cursor: str | None


def events_page(wanted: Wanted, what: Collection[str] = (), cursor: str = "", size: int = PAGE) -> Page:
    """The newest events beyond the cursor, of these sorts or of all. Raises InvalidInput for a cursor of another list."""
    after = decode(cursor) if cursor else None
    found: list[tuple[datetime, int, datetime, Any]] = []
    for number, source in enumerate(SOURCES):
        if not what or source.what in what:
            rows = source.read(wanted, number, after, size + 1)
            found += [(when, number, value, key) for when, value, key in rows]
    found.sort(key=lambda one: (one[0], -one[1]), reverse=True)  # stable: within a source as it was read
    shown = found[:size]
    more = len(found) > size
    return Page(_read(wanted, shown), encode(Place(*shown[-1])) if more else None)


def _read(wanted: Wanted, shown: list[tuple[datetime, int, datetime, Any]]) -> list[Event]:
    act_ids = [key for _when, number, _value, key in shown if not SOURCES[number].kind]
    acts = {act.pk: act for act in Revision.objects.filter(pk__in=act_ids).defer("after")} if act_ids else {}
    names = {}
    for place in shown:
        source, key = SOURCES[place[1]], place[3]
        names[place] = kind_named(source.kind).node_id(key) if source.kind else acts[key].node_id
    records = records_by_node_id(dict.fromkeys(names.values()), [wanted.project.pk], brief=True)
    return [
        Event(
            SOURCES[number].what,
            when,
            SOURCES[number].days,
            names[when, number, value, key],
            records.get(names[when, number, value, key]),
            None if SOURCES[number].kind else acts[key],
        )
        for when, number, value, key in shown
    ]


def encode(place: Place) -> str:
    parts = [
        place.when.astimezone(UTC).isoformat(),
        place.source,
        place.value.astimezone(UTC).isoformat(),
        place.key,
    ]
    return base64.urlsafe_b64encode(json.dumps(parts).encode()).decode().rstrip("=")


def decode(cursor: str) -> Place:
    """The place that a page link names. Raises InvalidInput for anything that no page link says."""
    try:
        text = base64.b64decode(
            cursor.encode("ascii") + b"=" * (-len(cursor) % 4), altchars=b"-_", validate=True
        )
        when, number, value, key = json.loads(text)
        if not isinstance(number, int) or isinstance(number, bool) or not 0 <= number < len(SOURCES):
            raise ValueError
        return Place(_moment(when), number, _moment(value), _key(number, key))
    except (ValueError, TypeError, binascii.Error, UnicodeError, RecursionError, OverflowError) as error:
        raise InvalidInput(
            {"cursor": [_("This page link is not of this list; start from its first page.")]}
        ) from error


def _moment(text: Any) -> datetime:
    moment = parse_datetime(text)
    if moment is None or moment.tzinfo is None or moment.year < FIRST_YEAR:
        raise ValueError
    return moment.astimezone(UTC)


def _key(number: int, key: Any) -> Any:
    kind = SOURCES[number].kind
    if kind and not kind_named(kind).integer_key:
        if not isinstance(key, str) or len(key) != 32 or not key.isalnum() or not key.isascii():
            raise ValueError
        return key
    if not isinstance(key, int) or isinstance(key, bool) or not 0 <= key < 2**63:
        raise ValueError
    return key
