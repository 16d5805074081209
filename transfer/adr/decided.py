"""The date of a decision: metadata first, else the dated status or change log entry that first accepts it."""

from __future__ import annotations

from dataclasses import dataclass, field
from datetime import date

from transfer.adr.changelog import ChangelogEntry
from transfer.adr.dates import DateOrder, FoundDate, find_dates, names_a_period
from transfer.adr.document import Document
from transfer.adr.forms.field import WrittenField
from transfer.adr.inline import plain, unbraced
from transfer.adr.statuses import StatusReading
from transfer.adr.statuswords import ACCEPTED

# Metadata labels that give the date, the most telling first.
_LABELS = ("date", "decided", "accepted_on", "created", "updated")


@dataclass
class DecidedOn:
    """The date or None, where it came from, its words, and what could be read two ways."""

    value: date | None = None
    source: str = ""
    written: str = ""
    ambiguities: list[str] = field(default_factory=list)


def decided_on(
    document: Document, fields: list[WrittenField], status: StatusReading, entries: list[ChangelogEntry]
) -> DecidedOn:
    """Follows the order of trust; a date that can be read two ways stays None and is said to be so."""
    order = DateOrder.of_dates(_dates_of_file(document, fields, entries))
    for name in _LABELS:
        for written in fields:
            if written.name == name and (answer := _from_metadata(written, order)):
                if name == "updated":
                    answer.ambiguities.append(f'the only date is of the last change: "{answer.written}"')
                return answer
    dated = [(found, kind == ACCEPTED, "dated status") for found, kind in status.dated]
    if not dated:
        dated = [(entry.found, entry.accepts, "change log") for entry in entries]
    return _first_accepting(dated, order)


def _dates_of_file(
    document: Document, fields: list[WrittenField], entries: list[ChangelogEntry]
) -> list[FoundDate]:
    dates = [entry.found for entry in entries]
    for written in fields:
        if written.name in _LABELS or written.name == "status":
            dates += find_dates(plain(written.value[:2000]))
    if any(len(found.readings) > 1 for found in dates):
        # Only then the whole text is looked through: any date of the file may tell its order.
        lines = (line[:400] for line in document.visible[:20000] if any(c.isdigit() for c in line[:400]))
        for line in lines:
            dates += [found for found in find_dates(line) if found.decided_by]
    return dates


def _from_metadata(written: WrittenField, order: DateOrder) -> DecidedOn | None:
    value = unbraced(plain(unbraced(written.value.strip())))[:400]
    if not value:
        return None
    found = find_dates(value)
    source = f"{written.form}: {written.label}".strip()
    if not found:
        if not names_a_period(value):
            return None
        return DecidedOn(None, source, value, [f'date "{value}" names no day'])
    first = found[0]
    answer = DecidedOn(first.value(order), source, value)
    if answer.value is None:
        answer.ambiguities.append(_two_ways(first))
    if len(found) > 1 and len({f.readings for f in found}) > 1:
        answer.ambiguities.append(f'several dates in "{value[:80]}": the first is taken')
    return answer


def _first_accepting(dated: list[tuple[FoundDate, bool, str]], order: DateOrder) -> DecidedOn:
    if not dated:
        return DecidedOn()
    chosen = [item for item in dated if item[1]] or dated
    settled = [(found.value(order), found) for found, _, _ in chosen]
    source = chosen[0][2] + (" that accepts it" if chosen[0][1] else ", earliest entry")
    # An entry that can be read two ways spoils the answer only if one of its readings could be the earliest.
    days = [day for day, _ in settled if day is not None]
    for day, found in settled:
        if day is None and (not days or min(found.readings) < min(days)):
            return DecidedOn(None, source, found.written, [_two_ways(found)])
    earliest = min(days)
    written = next(found.written for day, found in settled if day == earliest)
    answer = DecidedOn(earliest, source, written)
    _note_disorder(answer, settled)
    return answer


def _note_disorder(answer: DecidedOn, settled: list[tuple[date | None, FoundDate]]) -> None:
    """A log that neither rises nor falls may have a year mistyped; the date is kept and the doubt said."""
    days = [day for day, _ in settled if day is not None]
    if len(days) > 2 and days != sorted(days) and days != sorted(days, reverse=True):
        answer.ambiguities.append("the entries' dates are out of order: the earliest may be mistyped")


def _two_ways(found: FoundDate) -> str:
    return f'date "{found.written}" may be {found.readings[0].isoformat()} (day first) or {found.readings[1].isoformat()} (month first)'
