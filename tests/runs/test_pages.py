"""The run pages: list, detail with tool calls of any shape, run memories; runs of no project."""

import pytest
from django.db import connection
from django.urls import reverse

from projects.models import User
from records.actor import SQL_WRITER
from records.sweep import sweep
from runs.actions import record_run, remember
from runs.tool_calls import tool_calls_of
from tests.records.samples import write_as_sql
from tests.records.test_pages import queries_of
from tests.work_sessions.test_pages import ODD_JSON

pytestmark = pytest.mark.django_db


@pytest.fixture
def run(agent, project):
    return record_run(
        actor=agent, project=project, agent_name="order-bot", trigger_type="alert", trigger_payload={"host": "db-2"},
        tool_calls=[{"name": "restart", "duration_ms": 120, "error": "timeout"}], outcome={"fixed": False},
        token_cost=12345, confidence="0.70", escalated_to_human=True, status="failed",
    )  # fmt: skip


def url(name, *args):
    return reverse(f"runs:{name}", args=["shop", *args])


def test_the_list_and_the_detail(as_viewer, run, agent, project):
    memory = remember(
        actor=agent, project=project, agent_name="order-bot", summary="Disk was **full**.", run=run
    )
    page = as_viewer.get(url("list")).content.decode()
    for text in ("alert · db-2", "12,345", "escalated to a person", "failed"):
        assert text in page, text
    page = as_viewer.get(url("detail", run.pk)).content.decode()
    for text in ("db-2", "restart", "120 ms", "fixed", "12,345", "0.70", "yes", "Disk was **full**."):
        assert text in page, text
    page = as_viewer.get(url("memory", memory.pk)).content.decode()
    for text in ("<strong>full</strong>", "Of the run", url("detail", run.pk)):
        assert text in page, text


@pytest.mark.parametrize("value", ODD_JSON)
def test_json_of_any_shape_never_breaks_the_page(as_viewer, run, value):
    write_as_sql(run, tool_calls=value, trigger_payload=value, outcome=value)
    answer = as_viewer.get(url("detail", run.pk))
    assert answer.status_code == 200
    assert "<script>" not in answer.content.decode()
    assert as_viewer.get(url("list")).status_code == 200


@pytest.mark.parametrize(
    ("calls", "names"),
    [
        (None, []),
        ([], []),
        ("restart", ["restart"]),
        ({"name": "restart"}, ["restart"]),
        (
            [{"tool": "a"}, {"function": "b"}, {"function": {"name": "c"}}, {"tool_name": "d"}],
            ["a", "b", "c", "d"],
        ),
        ([{"name": ["x"]}, {"name": None}, {"name": "  "}, {}], ["", "", "", ""]),
        ([1, None, "z" * 500, ["q"]], ["1", "None", "z" * 120, "['q']"]),
    ],
)
def test_tool_calls_are_named_as_well_as_their_shape_allows(run, calls, names):
    run.tool_calls = calls
    assert [call.name for call in tool_calls_of(run)] == names


def test_odd_durations_are_left_out(run):
    run.tool_calls = [{"name": "a", "duration_ms": value} for value in ("1", None, True, [], 3, 4.5)]
    assert [call.duration_ms for call in tool_calls_of(run)] == [None, None, None, None, 3, 4.5]


def test_very_many_tool_calls_are_one_block_after_the_first_hundred(as_viewer, run):
    write_as_sql(run, tool_calls=[1] * 50_000)
    page = as_viewer.get(url("detail", run.pk)).content.decode()
    assert "49900 further calls" in page
    assert page.count("<summary>") < 230, "each of a hundred calls folds, and its JSON in it"


def test_what_plain_sql_put_into_json_is_shown_not_an_error(as_viewer, run):
    odd = [
        "1e999", "[" * 150 + "]" * 150, "1" * 5000, '"\\ud83d broken"', '{"\\ud800": [1e400, -1e400]}',
        '"' + "[" * 200 + '"', '{"a": "\\u0000"}',
    ]  # fmt: skip
    for text in odd:
        if connection.vendor == "mysql":
            continue  # the server itself refuses most of these
        with connection.cursor() as cursor:
            cursor.execute(
                "UPDATE agent_runs SET trigger_payload = %s, tool_calls = %s, outcome = %s, tags = %s WHERE id = %s",
                [text, text, text, text, run.pk],
            )
        assert as_viewer.get(url("detail", run.pk)).status_code == 200, text[:40]
        assert as_viewer.get(url("list")).status_code == 200, text[:40]
        sweep()
        assert as_viewer.get(url("detail", run.pk)).status_code == 200, text[:40]
        assert sweep() == 0, "taken in once"


def test_a_run_of_no_project_is_an_operators_alone(client, project, curator_user):
    lost = record_run(actor=SQL_WRITER, project=None, agent_name="cron-bot", tool_calls=["x"])
    client.force_login(curator_user)
    for address in (url("detail", lost.pk), reverse("records:node", args=[lost.node_id])):
        assert client.get(address).status_code == 404
    operator = User.objects.create_superuser("olga", password="correct horse battery")
    client.force_login(operator)
    for address in (url("detail", lost.pk), reverse("records:node", args=[lost.node_id])):
        assert client.get(address).status_code == 404
    assert client.get(reverse("admin:runs_run_change", args=[lost.pk])).status_code == 200
    assert client.get(reverse("admin:runs_run_changelist")).status_code == 200


def test_a_memory_of_another_projects_run_does_not_show_it(as_viewer, agent, project, other_project):
    secret = record_run(actor=SQL_WRITER, project=other_project, agent_name="bank-bot", trigger_type="vault")
    memory = remember(actor=agent, project=project, agent_name="order-bot", summary="S")
    with connection.cursor() as cursor:  # the verbs refuse it; plain SQL may
        cursor.execute("UPDATE agent_memory SET source_run_id = %s WHERE id = %s", [secret.pk, memory.pk])
    page = as_viewer.get(url("memory", memory.pk)).content.decode()
    assert "vault" not in page


@pytest.mark.parametrize("pk", ["0" * 32, "f" * 32])
def test_an_unknown_run_is_404(as_viewer, project, pk):
    assert as_viewer.get(url("detail", pk)).status_code == 404
    assert as_viewer.get(url("memory", pk)).status_code == 404


def test_runs_are_read_only_here(as_viewer, run):
    for address in (url("list"), url("detail", run.pk)):
        assert as_viewer.post(address).status_code == 405
        assert as_viewer.delete(address).status_code == 405


def test_a_stranger_finds_nothing(client, stranger_user, run):
    client.force_login(stranger_user)
    for address in (url("list"), url("detail", run.pk)):
        assert client.get(address).status_code == 404


def test_the_detail_asks_as_much_for_many_memories_as_for_one(as_viewer, run, agent, project):
    remember(actor=agent, project=project, agent_name="order-bot", summary="One", run=run)
    few = queries_of(as_viewer, url("detail", run.pk))
    for number in range(8):
        remember(actor=agent, project=project, agent_name="order-bot", summary=f"No {number}", run=run)
    assert queries_of(as_viewer, url("detail", run.pk)) == few
