"""A run's page: its calls as a waterfall, JSON as trees, what it read, past runs like it; whatever it is fed."""

from __future__ import annotations

import time
from datetime import timedelta

import pytest
from django.urls import reverse
from django.utils import timezone

from pitfalls.actions import create_pitfall
from recall.models import Similarity
from records import verbs
from records.models import Read
from records.pages.json_tree import MOST_NODES
from records.pages.json_tree import draw_tree as json_tree
from runs.actions import record_run
from runs.around import outcome_words, past_runs_like
from runs.models import Run
from runs.took import took_words
from runs.tool_calls import tool_calls_of, waterfall
from tests.records.test_pages import queries_of

STARTED = timezone.now() - timedelta(hours=1)


def a_run(**fields) -> Run:
    return Run(pk="0" * 32, agent_name="order-bot", started_at=STARTED, **fields)


def steps(calls):
    return waterfall(tool_calls_of(a_run(tool_calls=calls)))


@pytest.mark.parametrize(
    ("calls", "places"),
    [
        ([], []),
        ([{"name": "a"}], [(0, 0)]),
        ([{"duration_ms": 100}, {"duration_ms": 300}], [(0, 25), (25, 75)]),
        ([{"offset_ms": 0, "duration_ms": 100}, {"offset_ms": 50, "duration_s": 0.15}], [(0, 50), (25, 75)]),
        ([{"offset_ms": 1000, "duration_ms": 1}, {"offset_ms": 1099, "duration_ms": 1}], [(0, 1), (99, 1)]),
        ([{"duration_ms": 100}, {}, {"duration_ms": 100}], [(0, 50), (0, 0), (50, 50)]),
        ([{"started_at": "{0}", "ended_at": "{10}"}, {"started_at": "{5}", "end": "{20}"}], [(0, 50), (25, 75)]),
        ([{"started_at": "yesterday", "duration_ms": -5}, {"start": "9999-12-31T23:59:59Z"}], [(0, 0), (0, 0)]),
        ([{"duration_ms": 10**15}, {"duration_ms": float("inf")}, {"duration_ms": True}], [(0, 0)] * 3),
        ([{"duration_ms": 0}], [(0, 0.6)]),
    ],
)  # fmt: skip
def test_each_call_has_its_place_in_the_waterfall(calls, places):
    for call in calls:
        for key, value in call.items():
            if isinstance(value, str) and value.startswith("{"):
                call[key] = (STARTED + timedelta(seconds=int(value.strip("{}")))).isoformat()
    drawn = steps(calls)
    assert [(step.x, step.width) for step in drawn.steps] == places


def test_what_each_call_says_is_told_apart():
    (call,) = tool_calls_of(
        a_run(
            tool_calls=[
                {"name": "q", "arguments": {"sql": "x"}, "result": [1], "error": "late", "retries": 2}
            ]
        )
    )
    assert (call.inputs, call.outputs, call.error, call.others, call.failed) == (
        {"sql": "x"}, [1], "late", {"retries": 2}, True,
    )  # fmt: skip
    for failed in ({"status": "ERROR"}, {"ok": False}, {"is_error": True}, {"success": False}):
        assert tool_calls_of(a_run(tool_calls=[failed]))[0].failed
    (call,) = tool_calls_of(a_run(tool_calls=[{"function": {"name": "f", "arguments": '{"a": 1}'}}]))
    assert (call.name, call.inputs) == ("f", '{"a": 1}')


def test_a_tree_folds_escapes_and_never_grows_without_end():
    drawn = json_tree(
        {"<b>": "<script>x</script>", "rtl": "\u202eabc", "nul": "a\x00b", "n": [1, None, True, {}, ""]}
    )
    assert "<script>" not in drawn
    assert "&lt;b&gt;" in drawn
    assert "<bdi>\u202eabc</bdi>" in drawn
    assert "a␀b" in drawn
    for text in ("null", "true", "{}"):
        assert f">{text}</code>" in drawn
    wide = json_tree({str(number): number for number in range(5000)})
    assert wide.count("<li>") == MOST_NODES
    assert "4,400 more lines, in the JSON below." in wide
    deep: object = "end"
    for _ in range(90):
        deep = [deep]
    assert "deeper than is drawn" in json_tree(deep)
    long = json_tree({"long": "x" * 1_000_000})
    assert "x" * 1_000_000 in long, "folded, and whole"
    for plain in ("just text", 5, None, [], 1.5):
        assert json_tree(plain)


def test_durations_and_outcomes_in_words():
    told = {
        0.4: "0 ms",
        999: "999 ms",
        1000: "1.0 s",
        61_000: "61 s",
        150_000: "2.5 min",
        3 * 3600_000: "3.0 h",
        86_400_000 * 30: "30 d",
    }
    assert {value: took_words(value) for value in told} == told
    assert (
        outcome_words({"cause": "bulk delete", "did": ["throttled", "told them"]})
        == "cause: bulk delete · throttled · told them"
    )
    assert outcome_words("x" * 500).endswith("…")
    begun = time.monotonic()
    assert outcome_words([[]] * 500_000) == ""
    assert time.monotonic() - begun < 5  # forever, were it quadratic
    assert outcome_words(None) == ""


def detail(run) -> str:
    return reverse("runs:detail", args=["shop", run.pk])


@pytest.mark.django_db
def test_the_page_shows_calls_trees_reads_and_past_runs(as_viewer, agent, project, other_project):
    past = record_run(
        actor=agent, project=project, agent_name="order-bot", trigger_type="alert", status="failed", escalated_to_human=True,
        tool_calls=[{"name": f"step_{number}"} for number in range(8)], outcome={"did": "woke the DBA"},
    )  # fmt: skip
    run = record_run(
        actor=agent, project=project, agent_name="order-bot", trigger_payload={"labels": {"host": "db-2"}},
        tool_calls=[{"name": "restart", "arguments": {"host": "db-2"}, "error": "refused <b>", "duration_ms": 1500}],
        outcome={"fixed": False},
    )  # fmt: skip
    Similarity.objects.create(project_id=project.pk, source=run.node_id, target=past.node_id, score=0.83)
    pitfall = create_pitfall(
        actor=agent, project=project, category="db", title="Restarts lose the cache", description="x"
    )
    for name in (run.node_id, run.pk, "somebody-else"):
        Read.objects.create(
            node_id=pitfall.node_id, project_id=project.pk, agent_name="order-bot", run=name, door="api"
        )
    Read.objects.create(
        node_id=pitfall.node_id, project_id=other_project.pk, agent_name="x", run=run.pk, door="api"
    )
    page = as_viewer.get(detail(run)).content.decode()
    for text in (
        "restart", "1,500 ms", "over 1.5 s", "refused &lt;b&gt;", "labels", "Trigger as JSON", "What it read",
        "Restarts lose the cache", "read 2 times", "What was done when this came before", "0.83", "step_0", "and 2 more calls",
        "woke the DBA", "escalated to a person",
    ):  # fmt: skip
        assert text in page, text
    verbs.archive([past], actor=agent)
    assert "woke the DBA" not in as_viewer.get(detail(run)).content.decode()


@pytest.mark.django_db
def test_the_page_asks_as_much_for_many_reads_and_past_runs_as_for_one(as_viewer, agent, project):
    run = record_run(actor=agent, project=project, agent_name="order-bot")

    def more(count):
        for _turn in range(count):
            other = record_run(
                actor=agent, project=project, agent_name="order-bot", outcome="x", tool_calls=[{"name": "a"}]
            )
            Similarity.objects.create(
                project_id=project.pk, source=run.node_id, target=other.node_id, score=0.9
            )
            Read.objects.create(
                node_id=other.node_id, project_id=project.pk, agent_name="b", run=run.node_id, door="api"
            )

    more(1)
    few = queries_of(as_viewer, detail(run))
    more(7)
    assert queries_of(as_viewer, detail(run)) == few
    assert len(past_runs_like(run)) == 5


@pytest.mark.django_db
def test_a_payload_of_a_megabyte_opens_within_reason(as_viewer, agent, project):
    run = record_run(
        actor=agent, project=project, agent_name="order-bot",
        trigger_payload={"lines": [f"line {number} of the log" for number in range(40_000)]},
    )  # fmt: skip
    begun = time.monotonic()
    answer = as_viewer.get(detail(run))
    assert answer.status_code == 200
    assert "line 39999 of the log" in answer.content.decode(), "nothing is cut"
    assert time.monotonic() - begun < 10
