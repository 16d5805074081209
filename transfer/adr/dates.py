"""Dates as people write them; day-first or month-first is decided by the other dates of the file, never guessed."""

from __future__ import annotations

import re
import unicodedata
from collections import Counter
from collections.abc import Iterable
from dataclasses import dataclass
from datetime import date

_MONTHS = {
    1: "january jan januar jänner janvier janv enero ene janeiro gennaio gen января январь januari styczeń stycznia leden ocak tammikuu",
    2: "february feb febr februar février févr fév fevrier febrero fevereiro fev febbraio февраля февраль februari luty lutego únor şubat",
    3: "march mar märz maerz mrz mars marzo março marco марта март maart marzec marca březen mart maaliskuu",
    4: "april apr avril avr abril abr aprile апреля апрель kwiecień kwietnia duben nisan huhtikuu",
    5: "may mai mayo maio maggio mag мая май mei maj maja květen mayıs toukokuu",
    6: "june jun juni juin junio junho giugno giu июня июнь czerwiec czerwca červen haziran kesäkuu",
    7: "july jul juli juillet juil julio julho luglio lug июля июль lipiec lipca červenec temmuz heinäkuu",
    8: "august aug août aout agosto ago августа август augustus augusti sierpień sierpnia srpen ağustos elokuu",
    9: "september sep sept septembre septiembre setiembre setembro set settembre сентября сентябрь wrzesień września září eylül syyskuu",
    10: "october oct oktober okt octobre octubre outubro out ottobre ott октября октябрь październik października říjen ekim lokakuu",
    11: "november nov novembre noviembre novembro ноября ноябрь listopad listopada kasım marraskuu",
    12: "december dec dezember dez décembre déc decembre diciembre dic dezembro dicembre декабря декабрь grudzień grudnia prosinec aralık joulukuu",
}
_MONTH_OF = {name: number for number, names in _MONTHS.items() for name in names.split()}
_NAME = "|".join(sorted(map(re.escape, _MONTH_OF), key=len, reverse=True))
_ORDINAL = r"(?:st|nd|rd|th|er|ère|º|ª|°|\.)?"
_PATTERNS = (
    ("ymd", re.compile(r"(?<![0-9])(?P<y>(?:19|20)[0-9]{2})\s?(?P<s>[-/._‐‑–])\s?(?P<a>[0-9]{1,2})\s?(?P=s)\s?(?P<b>[0-9]{1,2})(?![0-9])")),
    ("ymd", re.compile(r"(?<![0-9])(?P<y>(?:19|20)[0-9]{2})\s?[年년]\s?(?P<a>[0-9]{1,2})\s?[月월]\s?(?P<b>[0-9]{1,2})\s?[日号일號]?")),
    ("dmy", re.compile(r"(?<![0-9.])(?P<a>[0-9]{1,2})\s?(?P<s>[-/.‐‑–])\s?(?P<b>[0-9]{1,2})\s?(?P=s)\s?(?P<y>(?:19|20)[0-9]{2})(?![0-9])")),
    ("words", re.compile(rf"(?<![0-9\w])(?P<d>[0-9]{{1,2}}){_ORDINAL}[\s\-/,]{{1,3}}(?:of\s|de\s|d['’])?(?P<m>{_NAME})\.?,?[\s\-/]{{1,3}}(?:de\s|del\s|of\s)?(?P<y>(?:19|20)[0-9]{{2}})(?![0-9])")),
    ("words", re.compile(rf"(?<!\w)(?P<m>{_NAME})\.?[\s\-]{{1,3}}(?P<d>[0-9]{{1,2}})(?:st|nd|rd|th)?\s?[,\s\-/]{{1,3}}(?P<y>(?:19|20)[0-9]{{2}})(?![0-9])")),
    ("words", re.compile(rf"(?<![0-9])(?P<y>(?:19|20)[0-9]{{2}})[\s\-./,]{{1,3}}(?P<m>{_NAME})\.?[\s\-./,]{{1,3}}(?P<d>[0-9]{{1,2}})(?:st|nd|rd|th)?(?![0-9])")),
    ("short", re.compile(r"(?<![0-9.\-/])(?P<a>[0-9]{1,2})(?P<s>[-/.])(?P<b>[0-9]{1,2})(?P=s)(?P<y>[0-9]{2})(?![0-9.\-/])")),
    ("compact", re.compile(r"^\s*(?P<y>(?:19|20)[0-9]{2})(?P<a>[01][0-9])(?P<b>[0-3][0-9])(?:T[0-9:.]{2,12}Z?)?\s*$")),
)  # fmt: skip
_PARTIAL = re.compile(
    rf"(?<!\w)(?:(?:{_NAME})\.?\s?,?\s{{0,2}}(?:of\s|de\s)?(?:19|20)[0-9]{{2}}|(?:19|20)[0-9]{{2}}(?:[-/.][0-9]{{1,2}}|\s?年\s?[0-9]{{1,2}}\s?月)?)(?![0-9\-/])"
)
_DIGITS = re.compile(r"[0-9]+")


@dataclass(frozen=True)
class FoundDate:
    """A date in a text: where it stands, its words, and its one reading or its two."""

    start: int
    end: int
    written: str
    readings: tuple[date, ...]  # one, or day-first and month-first
    shape: str = ""  # digits as 0s: which other dates of the file it resembles
    decided_by: str = ""  # what its own numbers tell of the order: "day" or "month"

    def value(self, order: DateOrder) -> date | None:
        """The one reading, or the one the file's own order chooses, or None."""
        if len(self.readings) == 1:
            return self.readings[0]
        chosen = order.of(self.shape)
        return None if chosen is None else self.readings[0 if chosen == "day" else 1]


@dataclass(frozen=True)
class DateOrder:
    """Whether a file writes the day or the month first, from its dates that can be read one way only."""

    by_shape: dict[str, str | None]
    overall: str | None

    @classmethod
    def of_dates(cls, dates: Iterable[FoundDate]) -> DateOrder:
        """Counts the dates with a day above twelve, by their shape and over all."""
        shapes: dict[str, Counter[str]] = {}
        overall: Counter[str] = Counter()
        for found in dates:
            if found.decided_by:
                shapes.setdefault(found.shape, Counter())[found.decided_by] += 1
                overall[found.decided_by] += 1
        return cls({shape: _more(counts) for shape, counts in shapes.items()}, _more(overall))

    def of(self, shape: str) -> str | None:
        """ "day", "month" or None for a date of this shape."""
        return self.by_shape.get(shape) or self.overall


def _more(counts: Counter[str]) -> str | None:
    day, month = counts["day"], counts["month"]
    return None if day == month else ("day" if day > month else "month")


def find_dates(text: str) -> list[FoundDate]:
    """Every date in the text, in order; full-width digits are read too."""
    text = unicodedata.normalize("NFKC", text).casefold() if not text.isascii() else text.casefold()
    found: list[FoundDate] = []
    taken: list[tuple[int, int]] = []
    for kind, pattern in _PATTERNS:
        for match in pattern.finditer(text):
            if any(start < match.end() and match.start() < end for start, end in taken[-200:]):
                continue
            reading = _read(kind, match)
            if reading is not None:
                taken.append(match.span())
                found.append(reading)
    return sorted(found, key=lambda item: item.start)


def _read(kind: str, match: re.Match[str]) -> FoundDate | None:
    groups = match.groupdict()
    year = int(groups["y"]) + (2000 if kind == "short" else 0)
    written = match.group().strip()
    if kind == "words":
        readings = _existing((year, _MONTH_OF[groups["m"]], int(groups["d"])))
        return FoundDate(*match.span(), written, readings) if readings else None
    a, b = int(groups["a"]), int(groups["b"])
    if kind in {"ymd", "compact"}:
        readings = _existing((year, a, b)) or _existing((year, b, a))
        return FoundDate(*match.span(), written, readings) if readings else None
    shape = _DIGITS.sub(lambda m: "0" * len(m.group()), written)
    day_first, month_first = _existing((year, b, a)), _existing((year, a, b))
    if day_first and month_first and day_first != month_first:
        return FoundDate(*match.span(), written, day_first + month_first, shape)
    readings = day_first or month_first
    if not readings:
        return None
    decided = "" if day_first == month_first else ("day" if day_first else "month")
    return FoundDate(*match.span(), written, readings, shape, decided)


def _existing(parts: tuple[int, int, int]) -> tuple[date, ...]:
    try:
        return (date(*parts),)
    except ValueError:
        return ()


def names_a_period(text: str) -> bool:
    """Whether the text names a month or a year without a day."""
    return not find_dates(text) and bool(
        _PARTIAL.search(unicodedata.normalize("NFKC", text[:400]).casefold())
    )
