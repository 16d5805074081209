"""When it began and when it was over, from labelled times; UTC where the text names no zone."""

from __future__ import annotations

import re
from collections.abc import Iterable
from datetime import UTC, date, datetime, time, timedelta

from transfer.adr.dates import find_dates
from transfer.postmortems.records import Written

_STAMP = re.compile(
    r"(?<!\d)((?:19|20)\d{2})-(\d{1,2})-(\d{1,2})(?:[ T,]+|\s+at\s+)(\d{1,2})[:.h]?(\d{2})(?::\d{2}(?:\.\d+)?)?"
    r"\s*(Z|UTC|GMT|[+-]\d{2}:?\d{2})?(?!\d)"
)
_BEGAN = re.compile(r"fault|occur|start|began|begin|first|trigger", re.IGNORECASE)
_OVER = re.compile(r"resolved|restored|closed|ended?\b|end time|over\b", re.IGNORECASE)
_REPAIRED = re.compile(r"repair|mitigat|recover|fixed", re.IGNORECASE)
_DATED = re.compile(r"date|when|occurred|日期", re.IGNORECASE)
_ANY = re.compile("")


def span_of(written: Written, said: list[str]) -> tuple[datetime | None, datetime | None]:
    """(began, over); a day alone is its midnight. What cannot be is left out and said."""
    events = list(_events(written))
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


def _events(written: Written) -> Iterable[tuple[str, datetime]]:
    for part in written.parts:
        if part.role == "meta":
            for line in part.text.split("\n"):
                yield from (
                    (f"{part.label} {line[: match.start()]}", moment) for match, moment in _stamps(line)
                )
    for name, value in written.fields.items():
        yield from ((name, moment) for _, moment in _stamps(value))


def _stamps(line: str) -> Iterable[tuple[re.Match[str], datetime]]:
    for match in _STAMP.finditer(line[:2000]):
        year, month, day, hour, minute, zone = match.groups()
        offset = zone[:3] + ":" + zone[-2:] if zone and zone[0] in "+-" else "+00:00"
        try:
            moment = datetime.fromisoformat(f"{year}-{month:0>2}-{day:0>2}T{hour:0>2}:{minute}:00{offset}")
        except ValueError:
            continue
        yield match, moment.astimezone(UTC)


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
