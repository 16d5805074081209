"""Days as people write them: `2026-03-15`, `2026-03`, `March 15th`, `last 30 days`, `>2026-03-01`, `2026-01..2026-03`."""

from __future__ import annotations

import re
from calendar import monthrange
from datetime import date, timedelta

from django.utils.translation import gettext as _

from records.validation import FIRST_YEAR, LAST_YEAR

Span = tuple[date | None, date | None]

MONTHS = {
    name: number
    for number, names in enumerate(
        (
            "jan january", "feb february", "mar march", "apr april", "may", "jun june",
            "jul july", "aug august", "sep sept september", "oct october", "nov november", "dec december",
        ),
        start=1,
    )
    for name in names.split()
}  # fmt: skip
DAYS_OF = {"day": 1, "days": 1, "week": 7, "weeks": 7, "month": 30, "months": 30, "year": 365, "years": 365}
LONGEST_PHRASE = 4  # words: "March 15th, 2026", "the last 30 days"

_YEAR = re.compile(r"(\d{4})")
_MONTH = re.compile(r"(\d{4})-(\d{1,2})")
_DAY = re.compile(r"(\d{4})-(\d{1,2})-(\d{1,2})")
_QUARTER = re.compile(r"q([1-4])\s+(\d{4})|(\d{4})[ -]?q([1-4])")
_AGO = re.compile(r"(?:the\s+)?(?:last|past)\s+(\d{1,4})\s+(days?|weeks?|months?|years?)|(\d{1,4})d")
_NAMED = re.compile(
    r"(?P<month>[a-z]+)\.?\s+(?P<day>\d{1,2})(?:st|nd|rd|th)?(?:\s+(?P<year>\d{4}))?"
    r"|(?P<day2>\d{1,2})(?:st|nd|rd|th)?\s+(?:of\s+)?(?P<month2>[a-z]+)\.?(?:\s+(?P<year2>\d{4}))?"
    r"|(?P<month3>[a-z]+)\.?\s+(?P<year3>\d{4})"
    r"|(?P<month4>[a-z]+)\.?"
)


def days_of(text: str, today: date) -> Span:
    """The first and the last day that a phrase names, None where it is open. Raises ValueError with an explanation.

    A month or a day without its year is the latest one that has begun.
    """
    text = " ".join(text.lower().replace(",", " ").split())
    if ".." in text:
        since, _dots, until = text.partition("..")
        span: Span = (_one(since, today)[0] if since else None, _one(until, today)[1] if until else None)
        if span == (None, None):
            raise _unclear(text)
    elif text.startswith((">=", ">")):
        first, last = _one(text.lstrip(">="), today)
        span = (first if text.startswith(">=") else _day_after(last), None)
    elif text.startswith(("<=", "<")):
        first, last = _one(text.lstrip("<="), today)
        span = (None, last if text.startswith("<=") else _day_before(first))
    else:
        span = _one(text, today)
    if span[0] and span[1] and span[0] > span[1]:
        raise ValueError(_("“%s” ends before it begins.") % text)
    return span


def _one(text: str, today: date) -> tuple[date, date]:
    text = re.sub(r"[-_](?=\D)|(?<=\D)[-_]", " ", text.strip()).strip()
    if found := _relative(text, today) or _by_calendar(text) or _by_name(text, today):
        return found
    raise _unclear(text)


def _unclear(text: str) -> ValueError:
    return ValueError(
        _("“%s” is no day: write 2026-03-15, 2026-03, March 15th, yesterday, last 30 days or >2026-03-01.")
        % text
    )


def _relative(text: str, today: date) -> tuple[date, date] | None:
    monday = today - timedelta(days=today.weekday())
    month = today.replace(day=1)
    before = (month - timedelta(days=1)).replace(day=1)
    named = {
        "today": (today, today),
        "yesterday": (today - timedelta(days=1), today - timedelta(days=1)),
        "this week": (monday, today),
        "last week": (monday - timedelta(days=7), monday - timedelta(days=1)),
        "this month": (month, today),
        "last month": (before, month - timedelta(days=1)),
        "this year": (today.replace(month=1, day=1), today),
        "last year": (date(today.year - 1, 1, 1), date(today.year - 1, 12, 31)),
    }
    if text in named:
        return named[text]
    if match := _AGO.fullmatch(text):
        count = int(match[1] or match[3]) * DAYS_OF[match[2] or "day"]
        return max(today - timedelta(days=min(count, 36_000)), date(FIRST_YEAR, 1, 1)), today
    return None


def _by_calendar(text: str) -> tuple[date, date] | None:
    if match := _DAY.fullmatch(text):
        day = _date(int(match[1]), int(match[2]), int(match[3]), text)
        return day, day
    if match := _MONTH.fullmatch(text):
        return _month(int(match[1]), int(match[2]), text)
    if match := _YEAR.fullmatch(text):
        return _date(int(match[1]), 1, 1, text), _date(int(match[1]), 12, 31, text)
    if match := _QUARTER.fullmatch(text):
        quarter, year = int(match[1] or match[4]), int(match[2] or match[3])
        return _month(year, 3 * quarter - 2, text)[0], _month(year, 3 * quarter, text)[1]
    return None


def _by_name(text: str, today: date) -> tuple[date, date] | None:
    match = _NAMED.fullmatch(text)
    if match is None:
        return None
    part = match.groupdict()
    month = MONTHS.get(part["month"] or part["month2"] or part["month3"] or part["month4"] or "")
    if month is None:
        return None
    day, year = part["day"] or part["day2"], part["year"] or part["year2"] or part["year3"]
    if year is None:
        year = today.year if (month, int(day or 1)) <= (today.month, today.day) else today.year - 1
    if day is None:
        return _month(int(year), month, text)
    found = _date(int(year), month, int(day), text)
    return found, found


def _month(year: int, month: int, text: str) -> tuple[date, date]:
    first = _date(year, month, 1, text)
    return first, first.replace(day=monthrange(year, month)[1])


def _date(year: int, month: int, day: int, text: str) -> date:
    try:
        found = date(year, month, day)
    except ValueError as error:
        raise ValueError(_("“%s” is not in the calendar.") % text) from error
    if not FIRST_YEAR <= found.year <= LAST_YEAR:
        raise ValueError(_("“%(text)s” is outside the years %(first)s to %(last)s.") % {"text": text, "first": FIRST_YEAR, "last": LAST_YEAR})  # fmt: skip
    return found


def _day_after(day: date) -> date:
    return day + timedelta(days=1) if day < date(LAST_YEAR, 12, 31) else day


def _day_before(day: date) -> date:
    return day - timedelta(days=1) if day > date(FIRST_YEAR, 1, 1) else day
