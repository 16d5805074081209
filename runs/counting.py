"""What the charts of runs count: from the sums where these can answer the filter, else from the newest runs of it.

Days are those of the reader's calendar. The sums are by hour of UTC: an hour in which a day of the reader's begins (zones
of half and quarter hours) is counted run by run, so that each bar holds what its link lists.
"""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Iterable, Sequence
from dataclasses import dataclass, field
from datetime import UTC, date, datetime, timedelta
from typing import Any

from django.db.models import Case, IntegerField, Q, Sum, Value, When
from django.utils import timezone

from records.filter_fields import start_of_day
from runs.figures import RunFigures, RunSummary, level_of, milliseconds_of
from runs.filters import NUMBERS, RunFilterSet
from runs.models import Run, RunStatus
from runs.summing import DAY, HOUR

DAYS = 30
MOST_DAYS = 92
SAMPLE = 1_000  # of more, MySQL sorts all runs rather than to read them along the time
VERSIONS = 8
# The filters that the sums know of, with the column that each is about.
COLUMNS = {
    "agent": "agent_name", "agent_version": "agent_version", "trigger": "trigger_type", "status": "status__in",
    "escalated": "escalated",
}  # fmt: skip
SUMMED = {*COLUMNS, "started_after", "started_before", "show"}
# Those that the narrow copies of the runs know of.
FIGURED = SUMMED | {f"{kind}_{end}" for kind in NUMBERS for end in ("min", "max")}


@dataclass
class Day:
    """What started on one day of the reader's: runs by status, those that called a person, tokens."""

    day: date
    by_status: dict[str, int] = field(default_factory=lambda: dict.fromkeys(RunStatus.values, 0))
    escalated: int = 0
    tokens: int = 0

    @property
    def runs(self) -> int:
        return sum(self.by_status.values())

    @property
    def rate(self) -> float | None:
        return self.escalated / self.runs if self.runs else None

    def add(self, status: str, runs: int, escalated: int, tokens: int) -> None:
        self.by_status[status] = self.by_status.get(status, 0) + runs
        self.escalated += escalated
        self.tokens += tokens


@dataclass
class Durations:
    """How long the ended runs of one version of an agent took: milliseconds, each off by at most 9.1 %."""

    agent: str
    version: str
    levels: dict[int, int] = field(default_factory=lambda: defaultdict(int))

    @property
    def runs(self) -> int:
        return sum(self.levels.values())

    def quantile(self, percent: int) -> float:
        """The duration that so many percent of the runs did not exceed (nearest rank)."""
        rank, seen = -(-self.runs * percent // 100), 0
        for level in sorted(self.levels):
            seen += self.levels[level]
            if seen >= rank:
                return milliseconds_of(level)
        return 0.0


@dataclass
class Counted:
    """The days from `first` to `last`, each there; versions by number of runs. `sampled`: of the newest runs only."""

    first: date
    last: date
    days: list[Day]
    versions: list[Durations]
    more_versions: int = 0
    sampled: bool = False
    cut: bool = False  # the filter asks for more days

    @property
    def runs(self) -> int:
        return sum(day.runs for day in self.days)


def count_runs(filters: RunFilterSet, project_id: int) -> Counted:
    """Count the runs of the filter, which has no problem, by day and version."""
    first, last, cut = _days_of(filters, project_id)
    days = {first + timedelta(days=n): Day(first + timedelta(days=n)) for n in range((last - first).days + 1)}
    versions: dict[tuple[str, str], Durations] = {}
    asked = {name for name, values in filters.asked.items() if any(values)}
    if asked <= SUMMED and _only_active(filters):
        conditions = _conditions(filters)
        _add_days(days, project_id, conditions)
        _add_durations(
            versions, project_id, conditions, start_of_day(first), start_of_day(last + timedelta(days=1))
        )
        sampled = False
    else:
        begin, end = start_of_day(first), start_of_day(last + timedelta(days=1))
        if asked <= FIGURED and _only_active(filters):
            told = _figures(project_id, {**_conditions(filters), **filters.figure_bounds()}, begin, end)
        else:
            told = _runs(filters, begin, end)
        sampled = _add_newest(days, versions, told)
    most = sorted(versions.values(), key=lambda one: (-one.runs, one.agent, one.version))
    return Counted(first, last, list(days.values()), most[:VERSIONS], len(most[VERSIONS:]), sampled, cut)


def _days_of(filters: RunFilterSet, project_id: int) -> tuple[date, date, bool]:
    """From where to where: as asked; without, the last thirty days in which anything ran."""
    asked = filters.form.cleaned_data
    after, before = asked.get("started_after"), asked.get("started_before")
    last = before or _last_day(project_id)
    if after is not None and before is None:
        last = max(last, after)
    first = after or last - timedelta(days=DAYS - 1)
    if first > last:
        first = last
    earliest = last - timedelta(days=MOST_DAYS - 1)
    return max(first, earliest), last, first < earliest


def _last_day(project_id: int) -> date:
    newest = RunFigures.objects.filter(project_id=project_id, hour__lte=timezone.now()).order_by(
        "-hour", "-started_at"
    )
    started = newest.values_list("started_at", flat=True).first()
    return timezone.localdate() if started is None else timezone.localdate(started)


def _only_active(filters: RunFilterSet) -> bool:
    return filters.form.cleaned_data.get("show") in ("", None, "active")


def _conditions(filters: RunFilterSet) -> dict[str, Any]:
    asked = filters.form.cleaned_data
    return {column: asked[name] for name, column in COLUMNS.items() if asked.get(name) not in (None, "", [])}


def _add_days(days: dict[date, Day], project_id: int, conditions: dict[str, Any]) -> None:
    starts = [start_of_day(day).astimezone(UTC) for day in (*days, max(days) + timedelta(days=1))]
    begin, end = starts[0], starts[-1]
    split = [_hour(start) for start in starts if start != _hour(start)]
    rows = RunSummary.objects.filter(
        project_id=project_id, grain=HOUR, start__gte=_hour(begin), start__lt=end, **conditions
    ).exclude(start__in=split)
    escalated = Case(When(escalated=True, then="runs"), default=Value(0), output_field=IntegerField())
    sums = (
        rows.order_by()
        .values_list("start", "status")
        .annotate(Sum("runs"), called=Sum(escalated), spent=Sum("tokens"))
    )
    for start, status, runs, called, tokens in sums:
        _at(days, start).add(status, runs, called, tokens)
    if not split:
        return
    singles = RunFigures.objects.filter(
        project_id=project_id,
        active=True,
        hour__in=split,
        started_at__gte=begin,
        started_at__lt=end,
        **conditions,
    ).order_by()
    for started, status, called, tokens in singles.values_list(
        "started_at", "status", "escalated", "token_cost"
    ):
        _at(days, started).add(status, 1, int(called), tokens or 0)


def _add_durations(
    versions: dict[tuple[str, str], Durations],
    project_id: int,
    conditions: dict[str, Any],
    begin: datetime,
    end: datetime,
) -> None:
    begin, end = begin.astimezone(UTC), end.astimezone(UTC)
    whole_from, whole_to = _day(begin + timedelta(days=1, microseconds=-1)), _day(end)
    rows = RunSummary.objects.filter(
        project_id=project_id, grain=DAY, start__gte=whole_from, start__lt=whole_to, **conditions
    )
    sums = rows.order_by().values_list("agent_name", "agent_version", "level").annotate(Sum("runs"))
    for agent, version, level, runs in sums:
        if runs:
            _of(versions, agent, version).levels[level] += runs
    edges = _outside(begin, end, whole_from, whole_to)
    if not edges:
        return
    singles = RunFigures.objects.filter(
        edges, project_id=project_id, active=True, duration_ms__isnull=False, **conditions
    ).order_by()
    for agent, version, took in singles.values_list("agent_name", "agent_version", "duration_ms"):
        _of(versions, agent, version).levels[level_of(took or 0)] += 1


def _outside(begin: datetime, end: datetime, whole_from: datetime, whole_to: datetime) -> Q:
    """What of the time lies before and after its whole days of UTC."""
    if whole_from >= whole_to:
        return _started(begin, end)
    edges = Q()
    if begin < whole_from:
        edges |= _started(begin, whole_from)
    if whole_to < end:
        edges |= _started(whole_to, end)
    return edges


def _started(begin: datetime, end: datetime) -> Q:
    # The hour as well: the index begins with it.
    return Q(hour__gte=_hour(begin), hour__lt=end, started_at__gte=begin, started_at__lt=end)


Told = tuple[datetime, str, bool, int | None, int | None, str, str | None]


def _figures(project_id: int, conditions: dict[str, Any], begin: datetime, end: datetime) -> Iterable[Told]:
    """Newest first, a sample: started, status, escalated, tokens, milliseconds, agent, version."""
    rows = RunFigures.objects.filter(
        _started(begin.astimezone(UTC), end.astimezone(UTC)), project_id=project_id, active=True, **conditions
    )
    return rows.order_by("-hour", "-started_at").values_list(
        "started_at", "status", "escalated", "token_cost", "duration_ms", "agent_name", "agent_version"
    )[: SAMPLE + 1]


def _runs(filters: RunFilterSet, begin: datetime, end: datetime) -> Iterable[Told]:
    """The same of any filter, off the runs themselves."""
    rows = filters.rows().filter(started_at__gte=begin, started_at__lt=end)
    told = rows.order_by("-started_at", "-pk").values_list(
        "started_at", "status", "escalated_to_human", "token_cost", "ended_at", "agent_name", "agent_version"
    )
    for started, status, called, tokens, ended, agent, version in told[: SAMPLE + 1]:
        took = None
        if ended is not None and ended >= started:
            took = int((ended - started).total_seconds() * 1000)
        yield started, status, called, tokens, took, agent, version


def _add_newest(
    days: dict[date, Day], versions: dict[tuple[str, str], Durations], told: Iterable[Told]
) -> bool:
    """Count run by run, the newest SAMPLE of them. Whether there were more."""
    count = 0
    for started, status, called, tokens, took, agent, version in told:
        count += 1
        if count > SAMPLE:
            break
        _at(days, started).add(status, 1, int(called), tokens or 0)
        if took is not None:
            _of(versions, agent, version or "").levels[level_of(took)] += 1
    return count > SAMPLE


def _at(days: dict[date, Day], when: datetime) -> Day:
    """The day of an instant; the last one for a day that a zone's calendar left out."""
    return days.get(timezone.localdate(when)) or days[max(days)]


def _of(versions: dict[tuple[str, str], Durations], agent: str, version: str) -> Durations:
    return versions.setdefault((agent, version), Durations(agent, version))


def _hour(when: datetime) -> datetime:
    return when.replace(minute=0, second=0, microsecond=0)


def _day(when: datetime) -> datetime:
    return _hour(when).replace(hour=0)


def running_now(project_id: int, limit: int) -> Sequence[Run]:
    """The active runs that have not ended, newest first."""
    rows = Run.objects.active().filter(project_id=project_id, status=RunStatus.RUNNING)
    return list(rows.defer("outcome", "tool_calls").order_by("-started_at", "-pk")[:limit])
