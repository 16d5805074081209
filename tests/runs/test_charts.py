"""The charts above the list: what they count, by whose calendar, and where each bar leads."""

from __future__ import annotations

import re
import zoneinfo
from datetime import UTC, date, datetime, timedelta
from html import unescape

import pytest
from django.http import QueryDict
from django.urls import reverse
from django.utils import timezone

from records import verbs
from records.actor import Actor
from runs import counting
from runs.actions import record_run
from runs.counting import count_runs
from runs.filters import RunFilterSet
from runs.models import Run
from tests.records.test_pages import queries_of

pytestmark = [pytest.mark.django_db, pytest.mark.database]
SOMEBODY = Actor.command("test")
ZONES = ("UTC", "America/Sao_Paulo", "Asia/Kolkata", "Asia/Kathmandu", "America/New_York", "Pacific/Chatham", "Australia/Lord_Howe")  # fmt: skip
NOON = datetime(2026, 3, 15, 12, tzinfo=UTC)


def write(project, started=NOON, took=None, **fields) -> Run:
    ended = None if took is None else started + timedelta(seconds=took)
    return record_run(
        actor=SOMEBODY,
        project=project,
        started_at=started,
        ended_at=ended,
        **{"agent_name": "order-bot", **fields},
    )


def counted(project, asked=""):
    rows = Run.objects.filter(project=project)
    filters = RunFilterSet(QueryDict(asked), queryset=rows, project_id=project.pk)
    assert not filters.problems
    return count_runs(filters, project.pk)


def listed(project, asked) -> int:
    filters = RunFilterSet(
        QueryDict(asked), queryset=Run.objects.filter(project=project), project_id=project.pk
    )
    assert not filters.problems
    return filters.rows().count()


@pytest.mark.parametrize("zone", ZONES)
def test_each_bar_holds_what_its_link_lists_in_any_zone(project, zone):
    """Around each midnight of three days, one of them with a change of daylight saving, and at the edges of the month."""
    local = zoneinfo.ZoneInfo(zone)
    number = 0
    for day in (date(2026, 3, 8), date(2026, 3, 15), date(2026, 11, 1)):
        for minutes in (-61, -46, -31, -16, -1, 0, 1, 14, 29, 44, 59, 720):
            midnight = datetime(day.year, day.month, day.day, tzinfo=local).astimezone(UTC)
            number += 1
            write(project, midnight + timedelta(minutes=minutes), token_cost=number, took=number)
    with timezone.override(local):
        for first, last in (
            ("2026-03-01", "2026-03-31"),
            ("2026-03-08", "2026-03-08"),
            ("2026-10-31", "2026-11-02"),
        ):
            shown = counted(project, f"started_after={first}&started_before={last}")
            assert not shown.sampled
            assert shown.runs == listed(project, f"started_after={first}&started_before={last}")
            assert sum(one.runs for one in shown.versions) == shown.runs, "each of them ended"
            for day in shown.days:
                day_asked = f"started_after={day.day}&started_before={day.day}"
                assert day.runs == listed(project, day_asked), day.day
                rows = Run.objects.filter(
                    started_at__gte=datetime(day.day.year, day.day.month, day.day.day, tzinfo=local),
                    started_at__lt=datetime.combine(day.day + timedelta(days=1), datetime.min.time(), local),
                )
                assert day.tokens == sum(run.token_cost for run in rows), day.day


@pytest.mark.parametrize(
    ("zone", "instant", "day"),
    [
        ("America/Sao_Paulo", "2026-03-16T02:59:59", date(2026, 3, 15)),
        ("America/Sao_Paulo", "2026-03-16T03:00:00", date(2026, 3, 16)),
        ("Asia/Kolkata", "2026-03-14T18:30:00", date(2026, 3, 15)),
        ("Asia/Kolkata", "2026-03-14T18:29:59", date(2026, 3, 14)),
        (
            "America/Sao_Paulo",
            "2018-11-04T02:59:59",
            date(2018, 11, 3),
        ),  # that midnight there was one o'clock
        ("America/Sao_Paulo", "2018-11-04T03:00:00", date(2018, 11, 4)),
        ("America/Sao_Paulo", "2018-02-18T02:30:00", date(2018, 2, 17)),  # the second 23:30 of that day
    ],
)
def test_march_15th_is_the_readers_own(project, zone, instant, day):
    write(project, datetime.fromisoformat(instant).replace(tzinfo=UTC))
    with timezone.override(zoneinfo.ZoneInfo(zone)):
        shown = counted(project, f"started_after={day}&started_before={day}")
        assert [(one.day, one.runs) for one in shown.days] == [(day, 1)]


def test_outcomes_tokens_and_escalations_follow_the_filter(project, other_project):
    write(
        project,
        status="failed",
        token_cost=5,
        escalated_to_human=True,
        agent_version="2",
        trigger_type="alert",
    )
    write(project, status="succeeded", token_cost=7, agent_version="1", trigger_type="alert")
    write(project, status="succeeded", agent_name="Order-Bot", agent_version="1")
    write(project, NOON - timedelta(days=29), token_cost=1)
    write(project, NOON - timedelta(days=30), token_cost=1)
    write(other_project, token_cost=1000)
    hidden = write(project, token_cost=10_000)
    verbs.archive([hidden], actor=SOMEBODY)
    shown = counted(project)
    assert (shown.first, shown.last) == (date(2026, 2, 14), date(2026, 3, 15)), "thirty days, to the last run"
    last = shown.days[-1]
    assert (last.by_status["failed"], last.by_status["succeeded"], last.tokens, last.escalated) == (
        1,
        2,
        12,
        1,
    )
    assert (shown.runs, last.rate) == (4, 1 / 3)
    for asked, runs in (
        ("agent=order-bot", 3), ("agent=Order-Bot", 1), ("agent_version=1", 2), ("trigger=alert", 2), ("status=failed", 1),
        ("status=failed&status=running", 2), ("escalated=true", 1), ("escalated=false&agent_version=1", 2),
        ("agent=nobody", 0), ("q=agent:Order-Bot", 1), ("show=active", 4),
    ):  # fmt: skip
        shown = counted(project, asked)
        assert (shown.runs, shown.sampled) == (runs, False), asked
        assert listed(project, f"{asked}&started_after=2026-02-14") == runs, asked


def test_a_filter_beyond_the_sums_counts_the_newest_runs_and_says_so(project, monkeypatch, as_viewer):
    for minutes in range(6):
        write(
            project,
            NOON - timedelta(minutes=minutes),
            took=2,
            token_cost=1,
            trigger_payload={"host": f"db-{minutes % 2}"},
        )
    shown = counted(project, "payload=host=db-0")
    assert (shown.runs, shown.sampled, shown.days[-1].tokens, shown.versions[0].runs) == (3, False, 3, 3)
    monkeypatch.setattr(counting, "SAMPLE", 2)
    shown = counted(project, "payload=host=db-0")
    assert (shown.runs, shown.sampled) == (2, True)
    page = as_viewer.get(f"{reverse('runs:list', args=['shop'])}?payload=host=db-0").content.decode()
    assert "Of the newest" in page


@pytest.mark.parametrize(
    "asked",
    [
        "took_min=3", "took_max=3", "took_min=2&took_max=4", "tokens_min=30", "tokens_max=40&took_min=1",
        "tokens_min=20&status=failed", "took_min=9", "tokens_min=10&agent=a&escalated=true", "took_min=0",
    ],
)  # fmt: skip
def test_charts_of_numbers_count_what_the_list_holds(project, other_project, asked):
    for n in range(8):
        write(
            project, NOON - timedelta(minutes=n), took=n + n / 10 if n else None, token_cost=10 * n or None,
            status=("failed", "succeeded")[n % 2], agent_name="ab"[n % 2], escalated_to_human=n % 3 == 0, agent_version="1",
        )  # fmt: skip
    write(other_project, took=3, token_cost=30)
    verbs.archive([write(project, took=3, token_cost=30)], actor=SOMEBODY)
    shown = counted(project, asked)
    assert (shown.runs, shown.sampled) == (listed(project, f"{asked}&started_after=2026-02-14"), False)
    hidden_too = counted(project, f"{asked}&show=all")
    assert hidden_too.runs == listed(project, f"{asked}&show=all&started_after=2026-02-14")


def test_quantiles_of_durations_by_version(project):
    for seconds in range(1, 101):
        write(project, took=seconds, agent_version="1")
    write(project, took=7, agent_version="2")
    write(project, agent_version="3")
    write(project, took=-7, agent_version="3")
    one, two = counted(project).versions
    assert (one.version, one.runs, two.version, two.runs) == ("1", 100, "2", 1)
    assert one.quantile(50) == pytest.approx(50_000, rel=0.0906)
    assert one.quantile(95) == pytest.approx(95_000, rel=0.0906)
    assert two.quantile(50) == two.quantile(95) == pytest.approx(7000, rel=0.0906)


def test_more_days_than_are_drawn_are_said(project, as_viewer):
    write(project)
    shown = counted(project, "started_after=2020-01-01&started_before=2026-03-20")
    assert (shown.cut, len(shown.days), shown.last, shown.runs) == (True, 92, date(2026, 3, 20), 1)
    page = as_viewer.get(f"{reverse('runs:list', args=['shop'])}?started_after=2020-01-01").content.decode()
    assert "The last 92 days of those asked for." in page


@pytest.mark.parametrize(
    "asked", ["", "status=failed&status=succeeded", "agent=order-bot&q=payments", "show=all"]
)
def test_every_link_of_the_charts_leads_to_as_many_runs_as_it_says(project, as_viewer, asked):
    for number in range(9):
        write(
            project, NOON - timedelta(days=number // 2), took=number, agent_version=f"<1.{number % 2}>", token_cost=number,
            status=["failed", "succeeded", "running"][number % 3], escalated_to_human=number % 4 == 0,
            trigger_type="payments & co",
        )  # fmt: skip
    write(project, NOON, took=5, status="failed", trigger_type="payments")
    answer = as_viewer.get(f"{reverse('runs:list', args=['shop'])}?{asked}")
    charts = answer.context["charts"]
    followed = 0
    for chart in charts.charts:
        for row in chart.rows:
            for cell in row:
                if cell.url:
                    found = as_viewer.get(cell.url)
                    assert found.status_code == 200
                    assert found.context["count"] == int(cell.text), (chart.name, cell.url)
                    followed += 1
    (unnamed,) = (version for version in charts.versions if not version.version)
    assert not unnamed.url, "no filter asks for the runs of no version alone"
    for version in charts.versions:
        if version is unnamed:
            continue
        assert as_viewer.get(version.url).context["count"] == int(version.runs), version.url
    assert followed > 5
    page = answer.content.decode()
    bars = [unescape(url) for url in re.findall(r'<a href="([^"]+)" tabindex="-1">', page)]
    assert bars
    assert set(bars) == {bar.url for chart in charts.charts for bar in chart.bars}
    assert "style=" not in page.replace('rel="stylesheet"', "")


def test_without_runs_and_with_runs_of_another_time(project, as_viewer):
    address = reverse("runs:list", args=["shop"])
    assert "How they went" not in as_viewer.get(address).content.decode()
    write(project)
    page = as_viewer.get(f"{address}?agent=nobody").content.decode()
    assert "Nothing matches" in page
    write(project, NOON - timedelta(days=400), agent_name="old-bot")
    page = as_viewer.get(f"{address}?agent=old-bot").content.decode()
    assert "None of these runs started in that time" in page


def test_a_time_to_come_moves_no_chart_away(project):
    write(project, timezone.now() + timedelta(days=4000))
    write(project, timezone.now())
    shown = counted(project)
    assert shown.runs == 1


def test_the_list_asks_as_much_for_many_runs_as_for_one(project, as_viewer):
    address = reverse("runs:list", args=["shop"])
    write(project, took=3)
    few = queries_of(as_viewer, address)
    for number in range(12):
        write(project, NOON - timedelta(days=number), took=number, agent_version=str(number), status="failed")
    assert queries_of(as_viewer, address) == few


def test_what_runs_now_is_shown_and_can_be_asked_for_alone(project, as_viewer):
    write(project, trigger_type="nightly")
    write(project, status="failed", trigger_type="over")
    part = as_viewer.get(reverse("runs:running", args=["shop"])).content.decode()
    assert "nightly" in part
    assert "over" not in part.replace("hover", "")
    assert "data-poll" in part
    assert "<html" not in part
    assert "Running now" in as_viewer.get(reverse("runs:list", args=["shop"])).content.decode()
