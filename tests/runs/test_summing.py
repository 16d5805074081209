"""Figures and sums are those of the runs, whoever wrote, erased, purged or changed them, and in whatever order."""

from __future__ import annotations

import random
from collections import Counter
from datetime import UTC, datetime, timedelta
from io import StringIO

import pytest
from django.core.management import call_command
from django.db import connection
from django.utils import timezone

from records import verbs
from records.actor import Actor
from records.erasing import erase
from records.models import SweepWatermark
from records.sweep import sweep
from runs import recounting, summing
from runs.actions import append_tool_calls, edit_run, finish_run, record_run
from runs.figures import NO_LEVEL, RunFigures, RunSummary, level_of, milliseconds_of
from runs.models import PayloadValue, Run
from runs.payload import leaves_of
from runs.retention import purge_runs
from tests.records.samples import write_as_sql
from tests.records.test_at_once import at_once, refusals

SOMEBODY = Actor.command("test")
STARTED = datetime(2026, 3, 15, 2, 59, 59, 999999, tzinfo=UTC)


def counted() -> Counter:
    """What the sums say, by key: (runs, tokens)."""
    sums: Counter = Counter()
    for row in RunSummary.objects.all():
        key = tuple(getattr(row, name) for name in summing.KEY)
        sums[key, "runs"] += row.runs
        sums[key, "tokens"] += row.tokens
    return Counter({key: value for key, value in sums.items() if value})


def truth() -> Counter:
    """The same, counted from the rows of agent_runs by other means."""
    sums: Counter = Counter()
    for run in Run.objects.active():
        hour = datetime(*run.started_at.astimezone(UTC).timetuple()[:4], tzinfo=UTC)
        told = (
            run.project_id, run.agent_name, run.agent_version or "", run.trigger_type or "", run.status,
            run.escalated_to_human,
        )  # fmt: skip
        sums[("hour", hour, NO_LEVEL, *told), "runs"] += 1
        sums[("hour", hour, NO_LEVEL, *told), "tokens"] += run.token_cost or 0
        if run.ended_at is not None and run.ended_at >= run.started_at:
            took = (run.ended_at - run.started_at) // timedelta(milliseconds=1)
            day = datetime(hour.year, hour.month, hour.day, tzinfo=UTC)
            sums[("day", day, level_of(took), *told), "runs"] += 1
    return Counter({key: value for key, value in sums.items() if value})


def check() -> None:
    assert counted() == truth()
    assert not any(recounting.faults().values()), recounting.faults()
    paths = Counter((value.run_id, value.project_id, value.path) for value in PayloadValue.objects.all())
    said = Counter(
        (run.pk, run.project_id, path)
        for run in Run.objects.all()
        for path, _ in leaves_of(run.trigger_payload)
    )
    assert paths == said


def write_run(project, **fields) -> Run:
    return record_run(
        actor=SOMEBODY, project=project, **{"agent_name": "order-bot", "started_at": STARTED, **fields}
    )


@pytest.mark.parametrize("milliseconds", [0, 1, 2, 3, 17, 999, 61_000, 3_600_000, 86_400_000 * 30])
def test_a_level_tells_its_durations_within_a_tenth(milliseconds):
    told = milliseconds_of(level_of(milliseconds))
    assert told == pytest.approx(max(milliseconds, 1), rel=0.0906)


@pytest.mark.django_db
@pytest.mark.database
def test_each_verb_keeps_the_sums(project, admin_user):
    from tests.conftest import person

    run = write_run(project, token_cost=7, trigger_payload={"host": "db-2"})
    check()
    finish_run(
        actor=SOMEBODY, run=run, status="failed", token_cost=9, ended_at=STARTED + timedelta(seconds=3)
    )
    check()
    edit_run(
        actor=SOMEBODY, run=run, changes={"trigger_type": "alert", "started_at": STARTED + timedelta(days=40)}
    )
    check()
    edit_run(
        actor=SOMEBODY,
        run=run,
        changes={"trigger_payload": {"host": ["db-3", "db-4"]}, "escalated_to_human": True},
    )
    check()
    before = counted()
    append_tool_calls(actor=SOMEBODY, run=run, calls=[{"name": "restart"}])
    assert counted() == before
    for act in (verbs.archive, verbs.restore):
        act([Run.objects.get()], actor=SOMEBODY)
        check()
    verbs.review([Run.objects.get()], "rejected", actor=SOMEBODY, reason="wrong")
    assert counted() == Counter()
    verbs.review([Run.objects.get()], "approved", actor=SOMEBODY)
    check()
    erase([Run.objects.get()], actor=person(admin_user), reason="asked to")
    check()
    for table in (RunFigures, RunSummary):
        assert not table.objects.filter(agent_name="order-bot").exists(), "nor is its name left"


@pytest.mark.django_db
@pytest.mark.database
def test_plain_sql_is_counted_with_its_sweep(project, other_project):
    with connection.cursor() as cursor:
        cursor.execute("INSERT INTO agent_runs (agent_name, status) VALUES ('cron-bot', 'succeeded')")
        cursor.execute("INSERT INTO agent_runs (agent_name, project_id, status) VALUES ('cron-bot', %s, 'running')", [project.pk])  # fmt: skip
    sweep()
    assert RunFigures.objects.count() == 2
    check()
    run = Run.objects.get(project=project)
    write_as_sql(
        run, project_id=other_project.pk, status="failed", token_cost=5, trigger_payload={"a": {"b": 1}}
    )
    sweep()
    check()
    with connection.cursor() as cursor:
        cursor.execute("DELETE FROM run_payload_values")
        cursor.execute("DELETE FROM agent_runs WHERE id = %s", [run.pk])
    SweepWatermark.objects.update(missing_checked_at=None)
    sweep()
    assert RunFigures.objects.count() == 1
    check()


@pytest.mark.django_db
def test_what_a_policy_purges_leaves_the_sums(project):
    for days in (1, 2, 500):
        write_run(project, started_at=timezone.now() - timedelta(days=days))
    assert purge_runs(timezone.now() - timedelta(days=90), 10) == 1
    assert RunFigures.objects.count() == 2
    check()


@pytest.mark.django_db
@pytest.mark.parametrize("seed", range(4))
def test_any_order_of_acts_comes_to_a_full_recount(project, other_project, seed):
    rng = random.Random(seed)

    def fields() -> dict:
        started = STARTED + timedelta(minutes=rng.randint(-3000, 3000))
        return {
            "agent_version": rng.choice([None, "", "1.0", "1.0A", "1.0a"]), "trigger_type": rng.choice([None, "alert", "é"]),
            "started_at": started, "ended_at": rng.choice([None, started + timedelta(seconds=rng.randint(-5, 5000))]),
            "status": rng.choice(["running", "failed", "succeeded", "cancelled"]), "token_cost": rng.choice([None, 0, 12]),
            "escalated_to_human": rng.random() < 0.5, "trigger_payload": rng.choice([None, {"a": 1}, ["x", "y"]]),
        }  # fmt: skip

    for _step in range(60):
        runs = list(Run.objects.all())
        act = (
            rng.choice(["create", "edit", "sql", "archive", "restore", "reject", "merge", "recount"])
            if runs
            else "create"
        )
        run = rng.choice(runs) if runs else None
        if act == "create":
            write_run(
                rng.choice([project, other_project]), agent_name=rng.choice(["a", "A", "ä"]), **fields()
            )
        elif act == "edit":
            edit_run(actor=SOMEBODY, run=run, changes=fields())
        elif act == "sql":
            write_as_sql(run, **fields(), project_id=rng.choice([project.pk, other_project.pk, None]))
            sweep()
        elif act in ("archive", "restore"):
            getattr(verbs, act)([run], actor=SOMEBODY)
        elif act == "reject":
            verbs.review(runs[:2], rng.choice(["rejected", "approved"]), actor=SOMEBODY, reason="so")
        elif act == "merge":
            for key in set(RunSummary.objects.values_list("project_id", "grain", "start")):
                summing.merge(*key)
            assert not RunSummary.objects.filter(merged=False).exists()
            assert not RunSummary.objects.filter(runs=0, tokens=0).exists()
        else:
            assert recounting.recount() == {"figures": 0, "gone": 0, "sums": 0}
    check()


@pytest.mark.django_db
@pytest.mark.database
def test_doctor_sees_and_the_command_mends_what_is_wrong(project):
    kept, lost = (write_run(project, token_cost=3, ended_at=STARTED + timedelta(seconds=9)) for _ in range(2))
    RunSummary.objects.filter(grain="hour").first().delete()
    RunSummary.objects.create(
        grain="day", start=STARTED, level=3, runs=5, tokens=0, agent_name="x", escalated=False
    )
    RunFigures.objects.filter(run_id=kept.pk).update(token_cost=99)
    RunFigures.objects.filter(run_id=lost.pk).delete()
    RunFigures.objects.create(
        run_id="f" * 32, active=True, started_at=STARTED, hour=STARTED, agent_name="x", escalated=True
    )
    found = recounting.faults()
    assert found == {"missing": 1, "stale": 1, "gone": 1, "sums": found["sums"]}
    assert found["sums"] >= 3
    said = StringIO()
    call_command("doctor", only=["runs"], stdout=said)
    assert "1 missing, 1 stale, 1 gone" in said.getvalue()
    assert "manage.py recount_runs" in said.getvalue()
    call_command("recount_runs", check=True, stdout=said)
    call_command("recount_runs", stdout=said)
    assert "Mended: 2 figures, 1 gone" in said.getvalue()
    check()
    said = StringIO()
    call_command("recount_runs", stdout=said)
    assert said.getvalue() == "Nothing differed.\n"


@pytest.mark.django_db
def test_a_worker_catches_up_with_runs_from_before_and_merges_what_is_settled(project):
    for minute in range(5):
        write_run(project, started_at=STARTED - timedelta(minutes=minute), ended_at=STARTED)
    now = write_run(project, started_at=timezone.now(), trigger_payload={"host": "db-2"})
    RunFigures.objects.all().delete()
    RunSummary.objects.all().delete()
    append_tool_calls(actor=SOMEBODY, run=now, calls=[{"name": "look"}])  # an act comes before the worker
    assert recounting.catch_up() is False
    check()
    assert recounting.merge_some() is False
    assert RunSummary.objects.filter(merged=False).count() == 1, "of the hour that goes on"
    assert RunSummary.objects.filter(grain="hour", merged=True).get().runs == 5
    assert RunFigures.objects.filter(run_id=now.pk).exists()
    check()


@pytest.mark.django_db
def test_hostile_payloads_are_indexed_as_far_as_an_index_goes(project):
    deep: object = "end"
    for _ in range(50):
        deep = {"k": deep}
    run = write_run(
        project,
        trigger_payload={"deep": deep, "rtl": "\u202eabc", "long": "x" * 900_000, "n": [1, 2.5, True, None]},
    )
    values = dict(PayloadValue.objects.filter(run=run).values_list("path", "value"))
    assert values["rtl"] == "\u202eabc"
    assert len(values["long"]) == 255
    assert ".".join(["deep", *["k"] * 50]) in values
    assert PayloadValue.objects.filter(run=run, path="n").count() == 3
    if connection.vendor == "sqlite":
        with connection.cursor() as cursor:
            for text in (
                '{"\\ud800": "\\udfff", "a": "b\\u0000c"}',
                "1" * 5000,
                "[" * 150 + "]" * 150,
                "1e999",
            ):
                cursor.execute("UPDATE agent_runs SET trigger_payload = %s WHERE id = %s", [text, run.pk])
                assert sweep() == 1
                assert PayloadValue.objects.filter(run=run).exists()
    check()


@pytest.mark.database
@pytest.mark.django_db(transaction=True)
@pytest.mark.skipif(connection.vendor == "sqlite", reason="threads of a test share one SQLite in memory")
def test_the_sums_are_a_full_recount_after_writes_edits_and_merges_at_once(project, admin_user):
    from tests.conftest import person

    admin = person(admin_user)
    runs = [write_run(project, started_at=STARTED + timedelta(minutes=n)) for n in range(12)]

    def writer(number: int):
        rng = random.Random(number)

        def act():
            for _turn in range(6):
                own, any_run = write_run(project, token_cost=number), Run.objects.get(pk=rng.choice(runs).pk)
                finish_run(
                    actor=SOMEBODY, run=own, status="succeeded", ended_at=STARTED + timedelta(seconds=number)
                )
                changes = {
                    "started_at": STARTED + timedelta(hours=rng.randint(0, 30)),
                    "token_cost": rng.randint(0, 99),
                }
                edit_run(actor=SOMEBODY, run=any_run, changes=changes)
                verbs.archive([any_run], actor=SOMEBODY)
                verbs.restore([any_run], actor=SOMEBODY)

        return act

    def merger():
        for _turn in range(10):
            for key in set(RunSummary.objects.values_list("project_id", "grain", "start")):
                summing.merge(*key)

    def recounter():
        for _turn in range(5):
            recounting.recount()

    def sql_writer():
        for turn in range(5):
            with connection.cursor() as cursor:
                cursor.execute("UPDATE agent_runs SET token_cost = %s WHERE id = %s", [turn, runs[0].pk])
                cursor.execute("INSERT INTO agent_runs (agent_name) VALUES ('sql-bot')")
            sweep()

    answers = at_once([*(writer(number) for number in range(4)), merger, recounter, sql_writer])
    assert refusals(answers) == []
    erase([runs[3]], actor=admin, reason="asked to")
    sweep()
    check()
    assert RunFigures.objects.filter(agent_name="sql-bot").count() == 5
