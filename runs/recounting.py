"""Figures and sums against the runs themselves: what is not so is counted, mended, and merged beside the worker."""

from __future__ import annotations

import time
from collections.abc import Iterable, Iterator
from datetime import timedelta
from typing import Any

from django.db import connection
from django.db.models import Count, Exists, OuterRef
from django.utils import timezone

from database.transactions import transactional
from runs import summing
from runs.figures import RunFigures, RunSummary, level_of
from runs.models import Run
from runs.summing import COPIED, DAY, DIMENSIONS, HOUR, IDS_A_QUERY, Sums, figures_of

# Two whole tables are counted to find out whether any run is without: seldom, since every act brings its own.
CATCH_UP_SECONDS = 3600.0
SECONDS = 5.0
# A day or hour that goes on is merged once it has so many rows that are not.
MERGED_FROM = 400
SETTLED = {HOUR: timedelta(hours=1, minutes=5), DAY: timedelta(days=1, minutes=5)}


def recount() -> dict[str, int]:
    """Bring figures and sums in line with the runs. Returns how many of each were wrong. Writers may go on meanwhile."""
    found = {"figures": 0, "gone": 0, "sums": 0}
    for keys in _pages(Run.objects.order_by("pk").values_list("pk", flat=True), "pk"):
        found["figures"] += _keep_again(keys)
    for keys in _pages(_without_run(), "run_id"):
        found["gone"] += _forget_again(keys)
    wrong = wrong_sums()
    summing.add_rows(wrong)
    found["sums"] = len(wrong)
    return found


def faults() -> dict[str, int]:
    """How many runs have no figures (`missing`) or other ones (`stale`), how many figures no run (`gone`), and how many
    sums are not those of the figures (`sums`)."""
    found = {"missing": 0, "stale": 0, "gone": _without_run().count(), "sums": len(wrong_sums())}
    runs = Run.objects.order_by("pk").defer("trigger_payload", "outcome", "tool_calls", "tags")
    for keys in _pages(Run.objects.order_by("pk").values_list("pk", flat=True), "pk"):
        held = {figures.run_id: figures for figures in RunFigures.objects.filter(run_id__in=keys)}
        for run in runs.filter(pk__in=keys):
            figures = held.get(run.pk)
            found["missing"] += figures is None
            found["stale"] += figures is not None and _differ(figures, run)
    return found


def _differ(figures: RunFigures, run: Run) -> bool:
    run.trigger_payload = None  # not read: its digest is not compared
    now = figures_of(run)
    return any(getattr(figures, name) != getattr(now, name) for name in COPIED)


def catch_up(seconds: float = SECONDS) -> bool:
    """Beside the worker: figures of runs that were written before there were any. True where there are more."""
    until = time.monotonic() + seconds
    if Run.objects.count() > RunFigures.objects.count():
        for keys in _pages(_without_figures(), "pk"):
            _keep_again(keys)
            if time.monotonic() > until:
                return True
    return False


def merge_some(seconds: float = SECONDS) -> bool:
    """Beside the worker: merge the sums of what is settled. True where there are more."""
    until, now = time.monotonic() + seconds, timezone.now()
    groups = (
        RunSummary.objects.filter(merged=False)
        .order_by("project_id", "grain", "start")
        .values_list("project_id", "grain", "start")
        .annotate(count=Count("pk"))
    )
    for project_id, grain, start, count in list(groups):
        if start + SETTLED[grain] < now or count >= MERGED_FROM:
            summing.merge(project_id, grain, start)
            if time.monotonic() > until:
                return True
    return False


def _without_figures() -> Any:
    held = RunFigures.objects.filter(run_id=OuterRef("pk"))
    return Run.objects.filter(~Exists(held)).order_by("pk").values_list("pk", flat=True)


def _without_run() -> Any:
    runs = Run.objects.filter(pk=OuterRef("run_id"))
    return RunFigures.objects.filter(~Exists(runs)).order_by("run_id").values_list("run_id", flat=True)


def _pages(keys: Any, column: str) -> Iterator[list[str]]:
    after = ""
    while page := list(keys.filter(**{f"{column}__gt": after})[:IDS_A_QUERY]):
        yield page
        after = page[-1]


@transactional
def _keep_again(keys: Iterable[str]) -> int:
    # Locked before the figures are: whoever writes such a run now does so in the same order.
    runs = list(Run.objects.select_for_update().filter(pk__in=list(keys)).order_by("pk"))
    held = {
        figures.run_id: figures for figures in RunFigures.objects.filter(run_id__in=[run.pk for run in runs])
    }
    wrong = [run for run in runs if run.pk not in held or _is_other(held[run.pk], figures_of(run))]
    summing.keep(wrong)
    return len(wrong)


def _is_other(held: RunFigures, now: RunFigures) -> bool:
    return any(getattr(held, name) != getattr(now, name) for name in (*COPIED, "payload_digest"))


@transactional
def _forget_again(keys: list[str]) -> int:
    there = set(Run.objects.filter(pk__in=keys).values_list("pk", flat=True))
    gone = [key for key in keys if key not in there]
    summing.forget(gone)
    return len(gone)


def wrong_sums() -> Sums:
    """Key -> what is to be added to its (runs, tokens). Each grain by one statement, which sees one moment: writers may
    add and take away meanwhile, the difference stays the same."""
    return {**_wrong(HOUR), **_wrong(DAY)}


def _wrong(grain: str) -> Sums:
    columns = ", ".join(DIMENSIONS)
    # By hour and duration, as three databases share no logarithm: levels and days are told from these.
    took, by_took = ("duration_ms", ", duration_ms") if grain == DAY else ("-1", "")
    ended = "AND duration_ms IS NOT NULL" if grain == DAY else ""
    statement = (
        f"SELECT 0, hour, {took}, {columns}, COUNT(*), SUM(COALESCE(token_cost, 0)) FROM run_figures "
        f"WHERE active {ended} GROUP BY hour{by_took}, {columns} UNION ALL "
        f"SELECT 1, start, level, {columns}, -SUM(runs), -SUM(tokens) FROM run_summaries "
        f"WHERE grain = %s GROUP BY start, level, {columns}"
    )
    places = len(DIMENSIONS)
    sums: Sums = {}
    with connection.cursor() as cursor:
        cursor.execute(statement, [grain])
        for is_sum, start, level, *rest in cursor:
            dimensions, (runs, tokens) = rest[:places], rest[places:]
            when = _time_of(start)
            if grain == DAY and not is_sum:
                when, level, tokens = when.replace(hour=0), level_of(level), 0
            dimensions[-1] = bool(dimensions[-1])
            held = sums.setdefault((grain, when, int(level), *dimensions), [0, 0])
            held[0] += int(runs)
            held[1] += int(tokens)
    return {key: held for key, held in sums.items() if held != [0, 0]}


def _time_of(value: Any) -> Any:
    """As the driver gave it: a naive time of UTC, or its text."""
    column = RunFigures._meta.get_field("hour")
    for convert in connection.ops.get_db_converters(column.get_col("run_figures")):
        value = convert(value, column, connection)
    return value
