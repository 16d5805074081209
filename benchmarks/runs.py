"""Runs at 300,000: each filter's first page, its counts, its charts and the whole page, as server time in this process.

    DATABASE_URL=mysql://desk:desk@127.0.0.1:3399/memory_desk_runs_300k python benchmarks/runs.py
    DATABASE_URL=... python benchmarks/runs.py --runs 20000 --times 20

The database (an own one; it must exist) is migrated and filled on the first run by bulk inserts, in which figures, sums and
payload values are made by the product's own code, and reused: each run
of this with the same number. Nothing kept from an answer before helps the next one. The
last lines compare sums and runs. The results are in benchmarks/README.md.
"""

from __future__ import annotations

import argparse
import logging
import os
import random
import sys
import time
from collections.abc import Callable
from datetime import timedelta
from pathlib import Path
from typing import Any

sys.path.insert(0, str(Path(__file__).resolve().parent.parent))
os.environ.setdefault("DJANGO_SETTINGS_MODULE", "memory_site.settings")

import django

django.setup()

from django.conf import settings
from django.core.cache import cache
from django.core.management import call_command
from django.db import connection, transaction
from django.http import QueryDict
from django.utils import timezone

from benchmarks.browsing import signed_in
from benchmarks.timing import measure
from projects.models import Project
from records.guard import writing
from records.kinds import kind_named
from records.paging import paginate
from records.queries import long_columns
from runs import recounting, summing
from runs.charts import draw_charts
from runs.counting import count_runs
from runs.filters import RunFilterSet
from runs.models import Run

SLUG = "runs-benchmark"
AGENTS = [
    f"{job}-bot" for job in ("order", "dba", "oncall", "build", "release", "cost", "security", "triage")
]
TRIGGERS = ["alert", "webhook", "schedule", "manual", "ticket"]
DAYS, BATCH = 365, 1000


def one_run(rng: random.Random, project: Project, started: Any, number: int) -> Run:
    took = min(rng.lognormvariate(3.5, 1.4), 40_000)
    host = f"db-{int(rng.paretovariate(0.7)) % 5000}"
    status = rng.choices(["succeeded", "failed", "cancelled", "running"], weights=[80, 14, 5, 1])[0]
    return Run(
        project=project,
        agent_name=rng.choice(AGENTS),
        agent_version=f"1.{number * 12 // 300_000}.{rng.randint(0, 1)}",
        trigger_type=rng.choice(TRIGGERS),
        trigger_payload={
            "alert": rng.choice(["replica lag", "disk full", "5xx", "slow query", "oom"]), "host": host,
            "severity": rng.choice(["low", "high", "critical"]), "labels": {"zone": rng.choice(["eu", "us"]), "team": f"team-{rng.randint(1, 40)}"},
            "request": f"{rng.getrandbits(64):x}", "text": "Lag above the threshold for ten minutes. " * 6,
        },
        started_at=started,
        ended_at=None if status == "running" else started + timedelta(seconds=took),
        status=status,
        outcome={"cause": "bulk delete", "did": "throttled the purge job", "notes": "It came back. " * 10},
        tool_calls=[{"name": f"step_{n}", "duration_ms": rng.randint(1, 900), "result": "x" * 120} for n in range(6)],
        token_cost=int(rng.lognormvariate(8, 1)),
        escalated_to_human=rng.random() < 0.08,
    )  # fmt: skip


def fill(count: int) -> Project:
    """Go on where an earlier call ended."""
    project, _ = Project.objects.get_or_create(slug=SLUG, defaults={"name": "Runs benchmark"})
    have = Run.objects.filter(project=project).count()
    if have >= count:
        return project
    rng, now = random.Random(7 + have), timezone.now()
    gap, began = timedelta(days=DAYS) / count, time.monotonic()
    for first in range(have, count, BATCH):
        rows = [
            one_run(rng, project, now - gap * (count - n), n) for n in range(first, min(first + BATCH, count))
        ]
        with transaction.atomic(), writing():
            Run.objects.bulk_create(rows)
            summing.keep(rows)
    print(f"{count - have:,} runs in {time.monotonic() - began:.0f} s", flush=True)
    began = time.monotonic()
    summing.merge_all(project.pk)
    print(f"sums merged in {time.monotonic() - began:.0f} s", flush=True)
    tables = "agent_runs, run_figures, run_summaries, run_payload_values"
    with connection.cursor() as cursor:
        cursor.execute("ANALYZE" if connection.vendor == "sqlite" else f"ANALYZE TABLE {tables}")
        cursor.fetchall()
    return project


def filters_to_measure() -> dict[str, str]:
    today = timezone.localdate()
    month_ago, old = today - timedelta(days=180), today - timedelta(days=150)
    return {
        "none": "",
        "agent": "agent=dba-bot",
        "agent, version": "agent=dba-bot&agent_version=1.11.0",
        "version": "agent_version=1.3.1",
        "trigger": "trigger=alert",
        "status failed": "status=failed",
        "status failed or cancelled": "status=failed&status=cancelled",
        "escalated": "escalated=true",
        "agent, failed, escalated": "agent=dba-bot&status=failed&escalated=true",
        "a month of half a year ago": f"started_after={month_ago}&started_before={old}",
        "payload, rare": "payload=host=db-4321",
        "payload, every third": "payload=severity=critical",
        "payload, two of them": "payload=severity=critical&payload=labels.team=team-7",
        "payload, none": "payload=host=nowhere",
        "tokens above, rare": "tokens_min=60000",
        "tokens above, common": "tokens_min=3000",
        "took above an hour": "took_min=3600",
        "took 60 to 90 s": "took_min=60&took_max=90",
    }


def told(what: str, act: Callable[[], object], times: int) -> str:
    def fresh() -> None:
        cache.clear()
        act()

    took = measure(fresh, times)
    return f"{took.wall50:6.1f} / {took.wall95:6.1f}"


def main() -> None:
    parser = argparse.ArgumentParser(
        description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter
    )
    parser.add_argument("--runs", type=int, default=300_000)
    parser.add_argument("--times", type=int, default=40)
    parser.add_argument("--zone", default="UTC")
    options = parser.parse_args()
    settings.ALLOWED_HOSTS = ["*"]
    settings.TIME_ZONE_SHOWN = options.zone
    logging.disable(logging.INFO)
    call_command("migrate", verbosity=0)
    project = fill(options.runs)
    client = signed_in()
    kind = kind_named("run")
    print(f"{Run.objects.count():,} runs, {options.zone}; milliseconds, p50 / p95 of {options.times}\n")
    print(f"| {'filter':<28} | {'first page':<15} | {'counts':<15} | {'charts':<15} | {'whole page':<15} |")
    print(f"| {'-' * 28} |" + f" {'-' * 14}: |" * 4, flush=True)

    for name, asked in filters_to_measure().items():

        def filters(asked: str = asked) -> RunFilterSet:
            made = RunFilterSet(
                QueryDict(asked), queryset=Run.objects.filter(project=project), project_id=project.pk
            )
            assert not made.problems, made.problems
            return made

        def page(filters: Any = filters) -> object:
            asked = filters()
            return paginate(asked.rows().defer(*long_columns(kind)), asked.sort)

        def counts(filters: Any = filters) -> object:
            asked = filters()
            return asked.counts()

        def charts(filters: Any = filters) -> object:
            asked = filters()
            return draw_charts(count_runs(asked, project.pk), asked, "/")

        def whole(asked: str = asked) -> None:
            answer = client.get(f"/p/{SLUG}/runs/?{asked}")
            assert answer.status_code == 200, (asked, answer.status_code)

        with timezone.override(options.zone):
            parts = [told(name, act, options.times) for act in (page, counts, charts)]
        print(f"| {name:<28} | {' | '.join([*parts, told(name, whole, options.times)])} |", flush=True)
    began = time.monotonic()
    print(f"\nsums against the runs: {recounting.faults()}, in {time.monotonic() - began:.0f} s")


if __name__ == "__main__":
    main()
