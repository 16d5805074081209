"""When it began and when it was over, from labelled times; UTC where the text names no zone."""

from __future__ import annotations

import re
import unicodedata
from collections.abc import Iterator
from datetime import UTC, date, datetime, time, timedelta

from transfer.adr.dates import find_dates
from transfer.postmortems.records import Written

_CLOCK = r"(\d{1,2})(?:[:.h](\d{2})(?::\d{2}(?:\.\d+)?)?|(\d{2})(?!\d))?\s*([ap]m\b)?\s*(z\b|[a-z]{3,4}\b|[+-]\d{2}:?\d{2})?"
_AFTER = re.compile(rf"(?:t|[\s,]+|\s+at\s+){_CLOCK}(?!\d)")
_UNTIL = re.compile(rf"\s*(?:-|–|—|to|until)\s*{_CLOCK}(?!\d)")
_CLOCKS = re.compile(r"(?<![\d:-])" + _CLOCK + r"(?![\d:])")
_ZONES = {
    "est": -5, "edt": -4, "cdt": -5, "mst": -7, "mdt": -6, "pst": -8, "pdt": -7, "cet": 1, "cest": 2, "jst": 9,
}  # fmt: skip
_BEGAN = re.compile(r"fault|occur|start|began|begin|first|trigger", re.IGNORECASE)
_OVER = re.compile(r"resolved|restored|closed|ended?\b|end time|over\b", re.IGNORECASE)
_REPAIRED = re.compile(r"repair|mitigat|recover|fixed", re.IGNORECASE)
_DATED = re.compile(r"date|when|occurred|日期", re.IGNORECASE)
_ANY = re.compile("")


def span_of(written: Written, said: list[str]) -> tuple[datetime | None, datetime | None]:
    """(began, over); a day alone is its midnight. What cannot be is left out and said."""
    events = _events(written)
    began = _least(events, _BEGAN) or _least(events, _ANY)
    over = _most(events, _OVER) or _most(events, _REPAIRED)
    if began is None:
        day = _day(written)
        began = datetime.combine(day, time(), UTC) if day else None
    if began is None:
        said.append("no date is written that can be read")
    if began and began > datetime.now(UTC) + timedelta(days=1):
        said.append(f"dated {began:%F}, which is still to come: left without a date")
        return None, None
    if began and over and over < began:
        said.append(f"over at {over:%F %H:%M}, before it began: the end is left out")
        over = None
    return began, over if began else None


def _events(written: Written) -> list[tuple[str, datetime]]:
    found: list[tuple[str, datetime]] = []
    texts = [
        (part.label, line) for part in written.parts if part.role == "meta" for line in part.text.split("\n")
    ]
    for label, line in [*texts, *written.fields.items()]:
        found += [(f"{label} {before}", moment) for before, moment in _stamps(line)]
    day = None if found else _day(written)
    for label, line in texts if day else ():
        if find_dates(line) or not re.search(r"time|start|end|duration", f"{label} {line}", re.IGNORECASE):
            continue
        clocks = [
            moment for match in _CLOCKS.finditer(line[:200].casefold()) if (moment := _moment(day, match))
        ]
        name = f"{label} {line[:40]}"
        found += [(f"{name} began", moment) for moment in clocks[:1] if not _OVER.search(name)]
        found += [("ended", moment) for moment in clocks[-1:] if len(clocks) > 1 or _OVER.search(name)]
    return found


def _stamps(line: str) -> Iterator[tuple[str, datetime]]:
    """(what stands before it, moment) of each date with a time; "14:30 - 15:45" ends on the same day."""
    text = unicodedata.normalize("NFKC", line[:2000]).casefold()
    for found in find_dates(text):
        clock = _AFTER.match(text, found.end)
        moment = _moment(found.readings[0], clock) if clock and len(found.readings) == 1 else None
        if clock is None or moment is None:
            continue
        yield text[: found.start], moment
        until = _UNTIL.match(text, clock.end())
        ended = _moment(found.readings[0], until) if until else None
        if ended is not None:
            yield "ended", ended


def _moment(day: date | None, clock: re.Match[str]) -> datetime | None:
    """A clock needs minutes or am/pm: a bare number is none."""
    hour, minute, joined, half, zone = clock.groups()
    if day is None or not (minute or joined or half):
        return None
    hours = int(hour) % 12 + (12 if half == "pm" else 0) if half else int(hour)
    try:
        moment = datetime.combine(day, time(hours, int(minute or joined or 0)), UTC)
    except ValueError:
        return None
    if zone and zone[0] in "+-":
        ahead = timedelta(hours=int(zone[1:3]), minutes=int(zone[-2:]))
        return moment - ahead if zone[0] == "+" else moment + ahead
    return moment - timedelta(hours=_ZONES.get(zone or "", 0))


def _least(events: list[tuple[str, datetime]], label: re.Pattern[str]) -> datetime | None:
    return min((moment for name, moment in events if label.search(name)), default=None)


def _most(events: list[tuple[str, datetime]], label: re.Pattern[str]) -> datetime | None:
    return max((moment for name, moment in events if label.search(name)), default=None)


def _day(written: Written) -> date | None:
    texts = [part.text for part in written.parts if part.role == "meta" and _DATED.search(part.label)]
    texts += [value for name, value in written.fields.items() if _DATED.search(name)]
    for text in [*texts, written.title]:
        day = next((found.readings[0] for found in find_dates(text[:2000]) if len(found.readings) == 1), None)
        if day is not None:
            return day
    return None
