"""One line of search, taken apart: words, "exact phrases", ids, and filters such as `status:accepted decided:2026-03`.

The filters become the parameters of each kind's own FilterSet, so that a search, a list, the API and an export mean
the same by them. Nothing is ignored: what cannot be applied is said in `problems`.
"""

from __future__ import annotations

import re
from collections.abc import Callable, Iterable
from dataclasses import dataclass, field
from datetime import date
from typing import Any

from django.http import QueryDict
from django.utils import timezone
from django.utils.translation import gettext as _

from records.dates_in_words import LONGEST_PHRASE, days_of
from records.kinds import Kind, all_kinds, parse_node_id
from records.models import ReviewState

LONGEST_QUERY = 4_000

_PIECE = re.compile(
    r'(?P<negative>-)?(?:(?P<name>[A-Za-z_]+):(?!:)(?=[^\s]|(?P<spaced>\s|$)))?(?:"(?P<quoted>[^"]*)"?|(?P<word>[^\s"]+)|(?(name)|(?!)))'
)
_COMPARED = re.compile(r"(?P<sign>>=|<=|>|<|=)?\s*(?P<number>\d{1,9}(?:\.\d{1,9})?)")
_BETWEEN = re.compile(r"(?P<least>\d{1,9}(?:\.\d{1,9})?)\.\.(?P<most>\d{1,9}(?:\.\d{1,9})?)")
_NOT_A_FILTER = re.compile(r"https?|file|redis|mysql|bolt|amqp|tcp|urn", re.IGNORECASE)


@dataclass(frozen=True, slots=True)
class Condition:
    """One filter: what was typed, and the FilterSet parameters that it stands for (several alternatives: any of)."""

    name: str
    typed: str
    parameters: tuple[tuple[str, str], ...]


@dataclass
class Query:
    """A search, parsed. `without` are words that no hit may have."""

    text: str
    words: str = ""
    phrases: list[str] = field(default_factory=list)
    without: list[str] = field(default_factory=list)
    ids: list[str] = field(default_factory=list)
    kinds: list[str] = field(default_factory=list)
    conditions: list[Condition] = field(default_factory=list)
    problems: list[str] = field(default_factory=list)

    @property
    def asks_for_words(self) -> bool:
        return bool(self.words or self.phrases or self.ids)

    @property
    def words_alone(self) -> str:
        """The line without its filters."""
        quoted = [f'"{phrase}"' for phrase in self.phrases]
        return " ".join(filter(None, [self.words, *quoted, *self.ids, *(f"-{one}" for one in self.without)]))

    def searched_kinds(self) -> list[Kind]:
        """The kinds that have all of the filters; of those named by `kind:`, where it is."""
        return [kind for kind in all_kinds() if self.parameters_for(kind) is not None]

    def parameters_for(self, kind: Kind) -> QueryDict | None:
        """What the kind's FilterSet is asked; None where it lacks one of the filters or is not wanted."""
        if kind.filterset is None or (self.kinds and kind.name not in self.kinds):
            return None
        known = kind.filterset.base_filters
        asked = QueryDict(mutable=True)
        for condition in self.conditions:
            for name, value in condition.parameters:
                if name not in known:
                    return None
                asked.appendlist(name, value)
        return asked


def parse(text: str, today: date | None = None) -> Query:
    """Any string at all: what it asks, or an explanation of what it cannot."""
    query = Query(text=text)
    if len(text) > LONGEST_QUERY:
        query.problems.append(_("A search has at most %s characters.") % f"{LONGEST_QUERY:,}")
        return query
    today = today or timezone.localdate()
    words: list[str] = []
    pieces = list(_PIECE.finditer(text))
    at = 0
    while at < len(pieces):
        piece = pieces[at]
        at += 1
        name = (piece["name"] or "").lower()
        value = piece["quoted"] if piece["quoted"] is not None else piece["word"] or ""
        if name and (_NOT_A_FILTER.fullmatch(name) or (piece["spaced"] is not None and name not in KNOWN)):
            words.append(piece.group().strip())  # an address, or prose: "note: …"
        elif name:
            at = _take_filter(query, piece, name, value, pieces, at, today)
        elif piece["negative"] and piece["quoted"] is None and len(value) > 1 and value[0].isalnum():
            query.without.append(value)
        elif piece["quoted"] is not None:
            if value.strip():
                query.phrases.append(value)
        elif parse_node_id(value.lower()):
            query.ids.append(value.lower())
        else:
            words.append(piece.group())
    query.words = " ".join(words)
    if not query.problems and query.conditions and not query.searched_kinds():
        names = ", ".join(sorted({condition.typed for condition in query.conditions}))
        query.problems.append(_("No kind of memory has all of these filters: %s.") % names)
    return query


def _take_filter(
    query: Query,
    piece: re.Match[str],
    name: str,
    value: str,
    pieces: list[re.Match[str]],
    at: int,
    today: date,
) -> int:
    """Note one filter; a date may go on over the next words. Answers where to go on."""
    make = FILTERS.get(name)
    if name in KNOWN and make not in DATED and not value and at < len(pieces):
        # `status: accepted`
        following = pieces[at]
        if not following["name"] and not following["negative"]:
            value, at = following["quoted"] or following["word"] or "", at + 1
    if name == "kind":
        _take_kinds(query, value)
        return at
    if make is None:
        query.problems.append(
            _("There is no filter “%(name)s”; in quotes it is searched as words. There are: %(names)s.")
            % {"name": name, "names": ", ".join(sorted(KNOWN))}
        )
        return at
    if piece["negative"]:
        query.problems.append(_("“%s” cannot be turned round with a minus; only words can.") % piece.group())
        return at
    if make in DATED and piece["quoted"] is None:
        value, at = _longest_date(value, pieces, at, today)
    if not value.strip(", "):
        query.problems.append(_("“%s:” needs a value.") % name)
        return at
    try:
        parameters = make(value, today)
    except ValueError as error:
        query.problems.append(f"{name}: {error}")
        return at
    condition = Condition(name, f"{name}:{value}", tuple(parameters))
    if other := _contrary(query.conditions, condition):
        query.problems.append(
            _("“%(one)s” and “%(other)s” cannot both be asked for.")
            % {"one": other.typed, "other": condition.typed}
        )
    else:
        query.conditions.append(condition)
    return at


def _contrary(conditions: Iterable[Condition], new: Condition) -> Condition | None:
    """The filter that asks another value of the same single parameter: one of the two would be ignored."""
    once = [(name, value) for name, value in new.parameters if name not in SEVERAL]
    return next(
        (one for one in conditions for name, value in one.parameters for other, asked in once if name == other and value != asked),
        None,
    )  # fmt: skip


def _longest_date(value: str, pieces: list[re.Match[str]], at: int, today: date) -> tuple[str, int]:
    """`decided:last 30 days redis`: as many of the next words as together name days."""
    following = []
    for piece in pieces[at : at + LONGEST_PHRASE]:
        if piece["word"] is None or piece["name"] or piece["negative"]:
            break
        following.append(piece["word"])
    for count in range(len(following), 0, -1):
        longer = " ".join([value, *following[:count]]).strip()
        try:
            days_of(longer, today)
        except ValueError:
            continue
        return longer, at + count
    return value, at


def _take_kinds(query: Query, value: str) -> None:
    names = {word: kind.name for kind in all_kinds() for word in (kind.name, f"{kind.name}s", kind.prefix)}
    for word in value.lower().split(","):
        if word in names:
            query.kinds.append(names[word])
        else:
            query.problems.append(
                _("kind: “%(word)s” is none of: %(names)s.")
                % {"word": word, "names": ", ".join(kind.name for kind in all_kinds())}
            )


# --- The filters: value -> parameters of the FilterSets -----------------------------------------------------------
Made = Iterable[tuple[str, str]]


def _same(parameter: str) -> Callable[[str, date], Made]:
    return lambda value, today: [(parameter, value)]


def _any_of(parameter: str) -> Callable[[str, date], Made]:
    """`status:accepted,pending`: any of them."""
    return lambda value, today: [(parameter, one) for one in value.lower().split(",") if one]


def _number(name: str, *, whole: bool) -> Callable[[str, date], Made]:
    """`>0.8`, `>=0.8`, `<0.3`, `0.5..0.8`, `12`. Above 10 is at least 11 where numbers are whole."""
    least, most = f"{name}_min", f"{name}_max"

    def make(value: str, today: date) -> Made:
        text = value.strip()
        if match := _BETWEEN.fullmatch(text):
            low, high, sign = match["least"], match["most"], ".."
        elif match := _COMPARED.fullmatch(text):
            low = high = match["number"]
            sign = match["sign"] or "="
        else:
            raise ValueError(_("“%s” is no number: write >0.8, <=3 or 2..5.") % value)
        if whole and ("." in low or "." in high):
            raise ValueError(_("“%s” must be a whole number.") % value)
        if whole and sign in ("<", ">"):
            return [(least, str(int(low) + 1))] if sign == ">" else [(most, str(int(high) - 1))]
        return {
            "=": [(least, low), (most, high)],
            "..": [(least, low), (most, high)],
            ">=": [(least, low)],
            "<=": [(most, high)],
            ">": [(f"{name}_above", low)],
            "<": [(f"{name}_below", high)],
        }[sign]

    return make


def _days(after: str, before: str) -> Callable[[str, date], Made]:
    def make(value: str, today: date) -> Made:
        first, last = days_of(value, today)
        return [(name, day.isoformat()) for name, day in ((after, first), (before, last)) if day is not None]

    return make


ANY_OF = frozenset({"status", "severity", "review", "source"})
SEVERAL = ANY_OF | {"payload"}
STATES: dict[str, tuple[str, str]] = {
    **{str(state): ("review", str(state)) for state in ReviewState.values},
    "reviewed": ("review", "approved"),
    "hidden": ("show", "hidden"),
    "flagged": ("findings", "any"),
    "open": ("open", "true"),
    "ended": ("open", "false"),
    "escalated": ("escalated", "true"),
}


def _is(value: str, today: date) -> Made:
    state = STATES.get(value.lower())
    if state is None:
        raise ValueError(_("“%(word)s” is none of: %(names)s.") % {"word": value, "names": ", ".join(STATES)})
    return [state]


_decided, _started = _days("decided_after", "decided_before"), _days("started_after", "started_before")
_occurred = _days("occurred_after", "occurred_before")
DATED: tuple[Any, ...] = (_decided, _started, _occurred)
FILTERS: dict[str, Callable[[str, date], Made]] = {
    "status": _any_of("status"),
    "severity": _any_of("severity"),
    "review": _any_of("review"),
    "source": _any_of("source"),
    "findings": lambda value, today: [("findings", value.strip().lower())],
    "is": _is,
    "tag": _same("tag"),
    "by": _same("by"),
    "session": _same("session"),
    "category": _same("category"),
    "language": _same("language"),
    "agent": _same("agent"),
    "trigger": _same("trigger"),
    "version": _same("agent_version"),
    "payload": _same("payload"),
    "tokens": _number("tokens", whole=True),
    "took": _number("took", whole=True),
    "type": _same("type"),
    "led": _same("outcome"),
    "decided": _decided,
    "started": _started,
    "occurred": _occurred,
    "confidence": _number("confidence", whole=False),
    "usage": _number("usage", whole=True),
    "met": _number("met", whole=True),
}  # fmt: skip
KNOWN = frozenset({*FILTERS, "kind"})
