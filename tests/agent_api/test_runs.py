"""Runs and run memories through the API: begun, added to, finished, sent again, remembered."""

import uuid

import pytest
from django.db import connection
from django.test.utils import CaptureQueriesContext

from projects.models import AgentToken
from records.models import ProjectionMark, Revision
from runs.models import Memory, PayloadValue, Run
from tests.agent_api.conftest import ApiClient
from tests.agent_api.test_idempotency import SharedDatabase, shared  # noqa: F401  (a fixture)
from tests.conftest import make_token

pytestmark = [pytest.mark.mysql, pytest.mark.django_db]

ID = "9F2B6F0E-54b1-4e0c-8d0e-1c1f0a1b2c3d"
HEX = ID.replace("-", "").lower()
WHOLE = {
    "id": ID,
    "agent_version": "1.4.0",
    "trigger_type": "alert",
    "trigger_payload": {"alert": "replica lag", "host": "db-2"},
    "started_at": "2026-11-29T02:00:00Z",
    "ended_at": "2026-11-29T02:04:00+00:00",
    "status": "succeeded",
    "tool_calls": [{"name": "show_status", "duration_ms": 120}],
    "outcome": {"did": "throttled"},
    "token_cost": 5120,
    "escalated_to_human": True,
    "confidence": 0.8,
    "tags": ["mysql"],
    "summary": "Replica lag after a bulk delete; throttled the purge job.",
}


def test_runs_are_listed_by_several_values_of_their_payload(api):
    both, _one = (
        api.post("/runs", {"trigger_payload": payload}).data["node_id"]
        for payload in ({"host": "db-2", "zone": "eu"}, {"host": "db-2", "zone": "us"})
    )
    for asked in ("payload=host=db-2&payload=zone=eu", "q=payload:host=db-2&payload=zone=eu"):
        answer = api.get(f"/runs?{asked}")
        assert [run["node_id"] for run in answer.data["results"]] == [both], answer.data
    assert api.get("/runs?agent=a&agent=b").status_code == 400


def test_a_run_begins_is_added_to_and_ends(api):
    begun = api.post("/runs/", {"trigger_type": "alert", "trigger_payload": {"host": "db-2"}})
    assert (begun.status_code, begun.data["became"], begun.data["status"]) == (201, "created", "running")
    assert (begun.data["agent_name"], begun.data["tool_calls"]) == ("order-bot", None)
    path = f"/runs/{begun.data['node_id']}"
    assert begun["Location"] == f"/api/v1{path}"
    api.post(f"{path}/tool_calls/", {"tool_calls": [{"name": "look"}]})
    added = api.post(f"{path}/tool_calls", {"tool_calls": [{"name": "fix"}, {"name": "look"}], "reason": "r"})
    assert [call["name"] for call in added.data["tool_calls"]] == ["look", "fix", "look"]
    assert (added.data["version"], added["ETag"], added.data["became"]) == (3, '"3"', "updated")
    ended = api.post(
        f"{path}/finish",
        {"status": "failed", "outcome": ["gave up"], "token_cost": 7, "escalated_to_human": True,
         "confidence": 0.25, "summary": "Nothing helped."},
    )  # fmt: skip
    assert (ended.data["status"], ended.data["confidence"], ended.data["token_cost"]) == ("failed", 0.25, 7)
    assert ended.data["ended_at"]
    (memory_id,) = ended.data["memories"]
    memory = api.get(f"/memories/{memory_id}").data
    assert (memory["summary"], memory["run"]) == ("Nothing helped.", begun.data["node_id"])
    verbs = [one["verb"] for one in api.get(f"/records/{begun.data['node_id']}/history").data["results"]]
    assert verbs == ["finish", "append_tool_calls", "append_tool_calls", "create"]
    assert ProjectionMark.objects.filter(node_id=memory_id).exists()


def test_an_end_sent_again_changes_nothing_and_another_end_is_refused(api):
    path = f"/runs/{api.post('/runs').data['node_id']}/finish"
    body = {"status": "succeeded", "outcome": {"a": 1}, "summary": "S"}
    first = api.post(path, body).data
    again = api.post(path, body).data
    assert (again["became"], again["ended_at"], again["memories"]) == (
        "unchanged", first["ended_at"], first["memories"],
    )  # fmt: skip
    assert Memory.objects.count() == 1
    assert api.post(path, {"status": "failed"}).status_code == 409
    assert api.post(path, {"status": "running"}).status_code == 422
    assert Run.objects.get().status == "succeeded"


def test_a_whole_run_is_one_write_and_may_be_sent_again(api):
    first = api.post("/runs", WHOLE)
    assert (first.status_code, first.data["node_id"]) == (201, f"run_{HEX}")
    assert PayloadValue.objects.filter(path="host", value="db-2").exists()
    for same in (ID, HEX):
        again = api.post("/runs", {**WHOLE, "id": same})
        assert (again.status_code, again.data["became"]) == (200, "unchanged"), again.data
        assert again.data["memories"] == first.data["memories"]
    api.post(f"/runs/run_{HEX}/tool_calls", {"tool_calls": [{"name": "late"}]})
    assert api.post("/runs", WHOLE).data["became"] == "unchanged"  # what was added since is no other content
    other = api.post("/runs", {**WHOLE, "token_cost": 1, "confidence": 0.81})
    assert other.status_code == 409
    assert "confidence, token_cost" in other.data["detail"]
    assert (Run.objects.count(), Memory.objects.count()) == (1, 1)


def test_an_id_of_another_project_is_refused_and_tells_nothing(api, elsewhere):
    elsewhere.post("/runs", {**WHOLE, "trigger_type": "secret-merger"})
    answer = api.post("/runs", WHOLE)
    assert (answer.status_code, list(answer.data["errors"])) == (422, ["id"])
    assert b"merger" not in answer.content
    for path in ("", "/tool_calls", "/finish"):
        assert api.send("GET" if not path else "POST", f"/runs/run_{HEX}{path}").status_code == 404
    assert not Memory.objects.filter(project__slug="shop").exists()


@pytest.mark.parametrize(
    ("field", "value"),
    [("id", "run_1"), ("id", "x" * 32), ("id", "9f2b6f0e54b1-4e0c-8d0e-1c1f0a1b2c3d"), ("token_cost", -1),
     ("token_cost", 1.5), ("confidence", 1.1), ("confidence", 0.123), ("status", "dead"), ("agent_name", ""),
     ("tool_calls", {"name": "x"}), ("tool_calls", ["x"]), ("escalated_to_human", "yes"), ("summary", " "),
     ("trigger_payload", {"a": "b\x00"}), ("outcome", "\x00"), ("started_at", "yesterday")],
)  # fmt: skip
def test_what_cannot_be_kept_is_named_and_nothing_is_written(api, field, value):
    answer = api.post("/runs", {**WHOLE, field: value})
    assert (answer.status_code, {name.split(".")[0] for name in answer.data["errors"]}) == (422, {field})
    assert not Run.objects.exists()
    assert not Memory.objects.exists()
    assert not Revision.objects.exists()


def test_calls_that_grow_too_large_are_413_and_nothing_is_added(api, settings):
    settings.TEXT_MAX_BYTES = 2000
    path = f"/runs/{api.post('/runs').data['node_id']}/tool_calls"
    assert api.post(path, {"tool_calls": [{"r": "x" * 1500}]}).status_code == 200
    for size in (1500, 2500):
        refused = api.post(path, {"tool_calls": [{"r": "y" * size}]})
        assert (refused.status_code, next(iter(refused.data["errors"]))[:10]) == (413, "tool_calls")
    assert api.post(path, {"tool_calls": []}).status_code == 422
    assert len(Run.objects.get().tool_calls) == 1


def test_runs_are_listed_without_their_calls_and_filtered_as_the_page(api):
    api.post("/runs", WHOLE)
    api.post("/runs", {"agent_name": "dba", "trigger_type": "cron"})
    rows = api.get("/runs").data["results"]
    assert [row["trigger_type"] for row in rows] == ["cron", "alert"]
    assert "tool_calls" not in rows[0]
    for query, found in {
        "agent=dba": ["cron"], "trigger=alert": ["alert"], "status=running": ["cron"], "escalated=true": ["alert"],
        "agent_version=1.4.0": ["alert"], "started_before=2026-11-29": ["alert"], "tag=mysql": ["alert"],
    }.items():  # fmt: skip
        assert [row["trigger_type"] for row in api.get(f"/runs?{query}").data["results"]] == found, query

    def cost(path):
        with CaptureQueriesContext(connection) as asked:
            api.get(path)
        return len(asked)

    before = cost("/runs"), cost("/memories")
    for number in range(4):
        api.post("/runs", {"summary": f"S{number}"})
    assert (cost("/runs"), cost("/memories")) <= before <= (5, 5)


def test_run_memories_are_written_read_and_changed(api, elsewhere):
    run = api.post("/runs").data["node_id"]
    made = api.post("/memories", {"summary": "Lag.", "run": run, "tags": ["mysql"]})
    assert (made.status_code, made.data["run"], made.data["agent_name"]) == (201, run, "order-bot")
    path = f"/memories/{made.data['node_id']}"
    changed = api.patch(path, {"summary": "Replica lag.", "version": 1})
    assert (changed.data["summary"], changed.data["version"]) == ("Replica lag.", 2)
    assert [one["summary"] for one in api.get("/memories?tag=mysql").data["results"]] == ["Replica lag."]
    stranger = elsewhere.post("/memories", {"summary": "S", "run": run})
    assert (stranger.status_code, list(stranger.data["errors"])) == (422, ["run"])
    assert api.post("/memories", {"summary": ""}).status_code == 422


def test_a_memory_and_its_run_are_of_one_project(project, other_project):
    token, text = make_token(project)
    token.projects.add(other_project)
    both = ApiClient(text)
    run = both.post("/runs", {"project": "shop"}).data["node_id"]
    assert both.post("/memories", {"summary": "S", "run": run}).data["project"] == "shop"
    crossed = both.post("/memories", {"summary": "S", "run": run, "project": "bank"})
    assert (crossed.status_code, list(crossed.data["errors"])) == (422, ["run"])


class TestAtOnce:
    @pytest.mark.django_db(transaction=True)
    def test_no_tool_call_is_lost(self, shared: SharedDatabase, project):  # noqa: F811
        text = make_token(project)[1]
        AgentToken.objects.update(last_used_at="2999-01-01T00:00:00Z")
        shared.begin()
        run = uuid.uuid4().hex
        shared.at_once(lambda: ApiClient(text).post("/runs", {"id": run}))

        def send(number):
            body = {"tool_calls": [{"name": f"call {number}"}]}
            return lambda: ApiClient(text).post(f"/runs/run_{run}/tool_calls", body)

        for start in (0, 6):
            answers = shared.at_once(*map(send, range(start, start + 6)))
            assert {answer.status_code for answer in answers} == {200}
        (after,) = shared.at_once(lambda: ApiClient(text).get(f"/runs/run_{run}").data)
        assert sorted(call["name"] for call in after["tool_calls"]) == sorted(f"call {n}" for n in range(12))
        assert after["version"] == 13

    @pytest.mark.django_db(transaction=True)
    def test_twins_of_a_whole_run_make_one(self, shared: SharedDatabase, project):  # noqa: F811
        text = make_token(project)[1]
        AgentToken.objects.update(last_used_at="2999-01-01T00:00:00Z")
        shared.begin()
        answers = shared.at_once(*[lambda: ApiClient(text).post("/runs", WHOLE)] * 5)
        assert sorted(answer.status_code for answer in answers) == [200] * 4 + [201]
        assert shared.at_once(lambda: (Run.objects.count(), Memory.objects.count())) == [(1, 1)]
