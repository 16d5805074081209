"""The charts above the list of runs, as drawn: bars in the units of their view box, each with its link and its words."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass, field
from datetime import date
from functools import lru_cache
from typing import Any
from urllib.parse import urlencode

from django.http import QueryDict
from django.utils.formats import date_format
from django.utils.translation import get_language, ngettext
from django.utils.translation import gettext as _

from runs.counting import SAMPLE, Counted, Day, Durations
from runs.filters import RunFilterSet
from runs.models import RunStatus
from runs.took import took_words

HEIGHT, STEP, BAR = 100.0, 10, 8
LEAST = 1.5  # what is there at all is seen
# From the ground up: what went wrong is compared along one line.
STACKED = (RunStatus.FAILED, RunStatus.CANCELLED, RunStatus.SUCCEEDED, RunStatus.RUNNING)
LEAVES_OUT = ("cursor", "sort", "format", "started_after", "started_before")


@dataclass(frozen=True)
class Part:
    """One colour of a bar."""

    name: str
    y: float
    height: float


@dataclass(frozen=True)
class Bar:
    x: float
    parts: list[Part]
    url: str
    words: str


@dataclass(frozen=True)
class Cell:
    text: str
    url: str = ""


@dataclass(frozen=True)
class Chart:
    """`most` is what the full height stands for. `rows` are the table twin's: the first cell names the row."""

    name: str
    title: str
    most: str
    total: str
    bars: list[Bar]
    heads: list[str]
    rows: list[list[Cell]]
    width: int = 0
    ends: tuple[str, str] = ("", "")
    legend: list[tuple[str, str]] = field(default_factory=list)


@dataclass(frozen=True)
class VersionBar:
    """p50 and p95 of one version of an agent, as widths of a hundred."""

    agent: str
    version: str
    runs: str
    half: str
    most: str
    half_width: float
    most_width: float
    url: str


@dataclass(frozen=True)
class Charts:
    charts: list[Chart]
    versions: list[VersionBar]
    more_versions: int
    span: str
    notes: list[str]


def draw_charts(counted: Counted, filters: RunFilterSet, path: str) -> Charts:
    links = _Links(filters, path)
    return Charts(
        [_outcomes(counted, links), _tokens(counted, links), _escalations(counted, links)],
        _versions(counted, links),
        counted.more_versions,
        _("%(first)s to %(last)s")
        % {"first": _day(counted.first, year=True), "last": _day(counted.last, year=True)},
        _notes(counted),
    )


def _notes(counted: Counted) -> list[str]:
    notes = []
    if counted.sampled:
        notes.append(
            _("Of the newest %s runs of this filter: it asks for more than the daily sums hold.")
            % f"{SAMPLE:,}"
        )
    if counted.cut:
        notes.append(
            ngettext(
                "The last %d day of those asked for.",
                "The last %d days of those asked for.",
                len(counted.days),
            )
            % len(counted.days)
        )
    return notes


class _Links:
    """Addresses of the list with the filter in force, narrowed to what a bar stands for."""

    def __init__(self, filters: RunFilterSet, path: str) -> None:
        data = filters.data.copy() if isinstance(filters.data, QueryDict) else QueryDict(mutable=True)
        for name in LEAVES_OUT:
            data.pop(name, None)
        self._path = path
        self._rest = {name: _without(data, name) for name in ("", "status", "escalated", "agent")}

    def day(self, day: date, **more: str) -> str:
        return self._address([("started_after", day.isoformat()), ("started_before", day.isoformat())], more)

    def version(self, durations: Durations, counted: Counted) -> str:
        """None of runs that named no version: no filter asks for these alone."""
        if not durations.version:
            return ""
        more = {"agent": durations.agent, "agent_version": durations.version}
        days = [("started_after", counted.first.isoformat()), ("started_before", counted.last.isoformat())]
        return self._address(days, more)

    def _address(self, days: list[tuple[str, str]], more: dict[str, str]) -> str:
        rest, own = self._rest[next(iter(more), "")], urlencode([*days, *more.items()])
        return f"{self._path}?{rest}&{own}" if rest else f"{self._path}?{own}"


def _without(data: QueryDict, name: str) -> str:
    rest = data.copy()
    rest.pop(name, None)
    if name == "agent":
        rest.pop("agent_version", None)
    return rest.urlencode()


def _per_day(
    counted: Counted,
    links: _Links,
    value: Callable[[Day], float],
    parts: Callable[[Day], list[tuple[str, float]]],
    words: Callable[[Day], str],
    top: float,
) -> list[Bar]:
    bars = []
    for place, day in enumerate(counted.days):
        if not day.runs:
            continue
        drawn, y = [], HEIGHT
        for name, amount in parts(day):
            height = max(amount / top * HEIGHT, LEAST) if amount and top else 0.0
            if height:
                y -= height
                drawn.append(Part(name, round(y, 2), round(height, 2)))
        said = f"{_day(day.day)}: {words(day)}"
        bars.append(Bar(place * STEP + (STEP - BAR) / 2, drawn, links.day(day.day), said))
    return bars


def _chart(counted: Counted, **fields: Any) -> Chart:
    return Chart(
        width=len(counted.days) * STEP,
        ends=(_day(counted.first), _day(counted.last)),
        **fields,
    )


def _outcomes(counted: Counted, links: _Links) -> Chart:
    labels = {status: str(RunStatus(status).label) for status in STACKED}
    top = max((day.runs for day in counted.days), default=0)

    def words(day: Day) -> str:
        return ", ".join(f"{count:,} {labels[s]}" for s in STACKED if (count := day.by_status.get(s, 0)))

    bars = _per_day(
        counted,
        links,
        lambda day: day.runs,
        lambda day: [(s, day.by_status.get(s, 0)) for s in STACKED],
        words,
        top,
    )
    return _chart(
        counted,
        name="outcomes",
        title=_("Runs by outcome"),
        most=f"{top:,}",
        total=_("%s runs") % f"{counted.runs:,}" if counted.runs != 1 else _("1 run"),
        bars=bars,
        heads=[_("Day"), *labels.values(), _("all")],
        rows=[
            [
                Cell(_day(day.day, year=True)),
                *(_linked(day.by_status.get(s, 0), links.day(day.day, status=s)) for s in STACKED),
                _linked(day.runs, links.day(day.day)),
            ]
            for day in counted.days
            if day.runs
        ],
        legend=[(s, labels[s]) for s in STACKED if any(day.by_status.get(s) for day in counted.days)],
    )


def _linked(count: int, url: str) -> Cell:
    return Cell(f"{count:,}", url) if count else Cell("0")


def _tokens(counted: Counted, links: _Links) -> Chart:
    top = max((day.tokens for day in counted.days), default=0)
    return _chart(
        counted,
        name="tokens",
        title=_("Token cost"),
        most=f"{top:,}",
        total=_("%s tokens") % f"{sum(day.tokens for day in counted.days):,}",
        bars=_per_day(
            counted, links, lambda day: day.tokens, lambda day: [("plain", day.tokens)],
            lambda day: _("%s tokens") % f"{day.tokens:,}", top,
        ),
        heads=[_("Day"), _("tokens"), _("runs")],
        rows=[
            [Cell(_day(day.day, year=True)), Cell(f"{day.tokens:,}"), _linked(day.runs, links.day(day.day))]
            for day in counted.days
            if day.runs
        ],
    )  # fmt: skip


def _escalations(counted: Counted, links: _Links) -> Chart:
    called = sum(day.escalated for day in counted.days)
    top = max((day.rate or 0 for day in counted.days), default=0)

    def words(day: Day) -> str:
        said = _("%(percent)s: %(called)s of %(runs)s called a person")
        return said % {
            "percent": _percent(day.rate or 0),
            "called": f"{day.escalated:,}",
            "runs": f"{day.runs:,}",
        }

    return _chart(
        counted,
        name="escalations",
        title=_("Escalation rate"),
        most=_percent(top),
        total=_percent(called / counted.runs) if counted.runs else _percent(0),
        bars=_per_day(
            counted, links, lambda day: day.rate or 0, lambda day: [("plain", day.rate or 0)], words, top
        ),
        heads=[_("Day"), _("escalated"), _("all"), _("rate")],
        rows=[
            [
                Cell(_day(day.day, year=True)),
                _linked(day.escalated, links.day(day.day, escalated="true")),
                _linked(day.runs, links.day(day.day)),
                Cell(_percent(day.rate or 0)),
            ]
            for day in counted.days
            if day.runs
        ],
    )


def _versions(counted: Counted, links: _Links) -> list[VersionBar]:
    told = [(one, one.quantile(50), one.quantile(95)) for one in counted.versions]
    top = max((most for _one, _half, most in told), default=1.0)
    return [
        VersionBar(
            one.agent, one.version, f"{one.runs:,}", took_words(half), took_words(most),
            round(half / top * 100, 2), round(most / top * 100, 2), links.version(one, counted),
        )
        for one, half, most in told
    ]  # fmt: skip


def _percent(share: float) -> str:
    return f"{share * 100:.0f} %" if share in (0, 1) or share >= 0.1 else f"{share * 100:.1f} %"


def _day(day: date, year: bool = False) -> str:
    return _day_in(day, "j M Y" if year else "j M", get_language())


@lru_cache(maxsize=2048)
def _day_in(day: date, form: str, language: str | None) -> str:
    """A page tells the same day a dozen times."""
    return date_format(day, form)
