"""Sessions through the API: started, told more, their context, ended, and how they stand."""

import pytest
from django.db import connection
from django.test.utils import CaptureQueriesContext

from projects.models import AgentToken
from records.models import ProjectionMark, Revision
from tests.agent_api.conftest import ApiClient
from tests.agent_api.test_idempotency import SharedDatabase, shared  # noqa: F401  (a fixture)
from tests.conftest import make_token
from work_sessions.models import WorkSession

pytestmark = [pytest.mark.mysql, pytest.mark.django_db]


def test_a_session_is_started_told_more_and_left_alone(api):
    first = api.post("/sessions/", {"session_id": "deploy-7", "context": {"branch": "main"}})
    assert (first.status_code, first.data["became"], first.data["version"]) == (201, "created", 1)
    assert first["Location"] == f"/api/v1/sessions/{first.data['node_id']}"
    again = api.post("/sessions", {"session_id": "deploy-7", "context": {"branch": "main"}})
    assert (again.status_code, again.data["became"], again.data["version"]) == (200, "unchanged", 1)
    more = api.post("/sessions", {"session_id": "deploy-7", "summary": "Tests ran.", "reason": "half-way"})
    assert (more.data["became"], more.data["version"]) == ("updated", 2)
    assert more.data["context"] == {"branch": "main"}
    assert WorkSession.objects.count() == 1
    last = Revision.objects.filter(node_id=more.data["node_id"]).first()
    assert (last.verb, last.reason, last.version) == ("upsert", "half-way", 2)
    assert ProjectionMark.objects.get(node_id=more.data["node_id"]).wanted_version == 2


def test_another_projects_name_is_refused_and_tells_nothing(api, elsewhere):
    elsewhere.post("/sessions", {"session_id": "secret-plan", "summary": "Merge with the bank."})
    answer = api.post("/sessions", {"session_id": "secret-plan"})
    assert (answer.status_code, list(answer.data["errors"])) == (422, ["session_id"])
    assert b"bank" not in answer.content
    assert b"ses_" not in answer.content
    assert api.get("/sessions/secret-plan").status_code == 404
    assert api.get("/sessions/secret-plan/context").status_code == 404
    assert api.post("/sessions/secret-plan/end").status_code == 404


@pytest.mark.parametrize("name", ["", "   ", "ses_3", "dec_1", "a\x00b", "x" * 256, 7, None])
def test_a_name_that_cannot_be_kept_is_named(api, name):
    answer = api.post("/sessions", {"session_id": name})
    assert (answer.status_code, list(answer.data["errors"])) == (422, ["session_id"])
    assert not WorkSession.objects.exists()


def test_its_status_by_node_id_and_by_its_own_name(api, elsewhere):
    made = api.post("/sessions", {"session_id": "deploy-7", "context": {"step": 1}}).data
    for title in ("A", "B"):
        api.post("/decisions", {"title": title, "decision": "D"}, X_Session_Id="deploy-7")
    api.post("/pitfalls", {"category": "c", "title": "T"}, X_Session_Id="deploy-7")
    changed = api.post("/pitfalls", {"category": "c", "title": "Other"}).data
    api.patch(f"/pitfalls/{changed['node_id']}", {"title": "New", "version": 1}, X_Session_Id="deploy-7")
    elsewhere.post("/pitfalls", {"category": "c", "title": "T"}, X_Session_Id="deploy-7")
    status = api.get("/sessions/deploy-7").data
    assert status == api.get(f"/sessions/{made['node_id']}").data
    assert (status["is_running"], status["ended_at"]) == (True, None)
    assert status["written"] == {"decision": 2, "pitfall": 1}
    assert status["last_activity_at"] > made["started_at"]
    ended = api.post("/sessions/deploy-7/end", {"summary": "Green."}).data
    assert (ended["became"], ended["is_running"], ended["summary"]) == ("updated", False, "Green.")
    status = api.get("/sessions/deploy-7").data
    assert status["ended_at"] == ended["ended_at"]
    assert status["last_activity_at"] >= ended["ended_at"]


def test_its_end_is_set_once(api):
    api.post("/sessions", {"session_id": "s"})
    first = api.post("/sessions/s/end", {"reason": "done"}).data
    again = api.post("/sessions/s/end", {"reason": "done"}).data
    assert (again["became"], again["ended_at"]) == ("unchanged", first["ended_at"])
    more = api.post("/sessions/s/end", {"summary": "Late words."}).data
    assert (more["became"], more["ended_at"]) == ("updated", first["ended_at"])
    assert api.post("/sessions/s/end", {"version": 1}).status_code == 412
    assert api.post("/sessions", {"session_id": "s", "ended_at": None}).data["is_running"] is True


def test_the_context_is_put_merged_and_read(api):
    api.post("/sessions", {"session_id": "s", "context": {"a": 1, "deep": {"x": 1, "y": 2}}})
    assert api.get("/sessions/s/context").data["context"] == {"a": 1, "deep": {"x": 1, "y": 2}}
    merged = api.patch("/sessions/s/context", {"context": {"a": None, "deep": {"x": 9}, "list": [1]}})
    assert (merged.data["became"], merged["ETag"]) == ("updated", '"2"')
    assert merged.data["context"] == {"deep": {"x": 9, "y": 2}, "list": [1]}
    assert api.patch("/sessions/s/context", {"context": {"list": [1]}}).data["became"] == "unchanged"
    put = api.send("PUT", "/sessions/s/context", {"context": {"b": True}}, If_Match='"2"')
    assert (put.data["context"], put.data["version"]) == ({"b": True}, 3)
    stale = api.send("PUT", "/sessions/s/context", {"context": {}}, If_Match='"2"')
    assert (stale.status_code, stale.data["current"]["context"]) == (412, {"b": True})
    assert api.send("PUT", "/sessions/s/context", {"context": None}).data["context"] is None
    for wrong in ([1], "text", 3):
        refused = api.send("PUT", "/sessions/s/context", {"context": wrong})
        assert (refused.status_code, list(refused.data["errors"])) == (422, ["context"])


def test_a_context_too_large_is_413_also_where_it_grew_so(api, settings):
    settings.TEXT_MAX_BYTES = 2000
    api.post("/sessions", {"session_id": "s", "context": {"a": "x" * 1500}})
    assert api.patch("/sessions/s/context", {"context": {"b": "y" * 2500}}).status_code == 413
    grown = api.patch("/sessions/s/context", {"context": {"b": "y" * 1500}})
    assert (grown.status_code, list(grown.data["errors"])) == (413, ["context"])
    assert api.get("/sessions/s/context").data["context"] == {"a": "x" * 1500}


def test_a_context_of_plain_sql_that_is_no_object_is_answered_and_replaced(api, project):
    with connection.cursor() as cursor:
        cursor.execute(
            "INSERT INTO work_sessions (session_id, project_id, context) VALUES ('by-sql', %s, '[1, 2]')",
            [project.pk],
        )
    assert api.get("/sessions/by-sql").data["context"] == [1, 2]
    assert api.patch("/sessions/by-sql/context", {"context": {"a": 1}}).data["context"] == {"a": 1}


def test_sessions_are_listed_and_filtered(api):
    for name in ("one", "two", "three"):
        api.post("/sessions", {"session_id": name})
    api.post("/sessions/two/end")
    assert {one["session_id"] for one in api.get("/sessions?open=true").data["results"]} == {"one", "three"}
    assert [one["session_id"] for one in api.get("/sessions?session_id=two").data["results"]] == ["two"]
    assert api.get("/sessions?session_id=tw").data["results"] == []
    with CaptureQueriesContext(
        connection,
    ) as asked:
        api.get("/sessions")
    assert len(asked) <= 4


def test_a_status_costs_the_same_whatever_was_written(api):
    api.post("/sessions", {"session_id": "s"})

    def cost():
        with CaptureQueriesContext(connection) as asked:
            api.get("/sessions/s")
        return len(asked)

    before = cost()
    for number in range(5):
        api.post("/decisions", {"title": f"D{number}", "decision": "D"}, X_Session_Id="s")
    assert cost() <= before <= 7


class TestAtOnce:
    @pytest.fixture
    def client(self, shared: SharedDatabase, project) -> ApiClient:  # noqa: F811
        text = make_token(project)[1]
        AgentToken.objects.update(last_used_at="2999-01-01T00:00:00Z")
        shared.begin()
        return ApiClient(text)

    @pytest.mark.django_db(transaction=True)
    def test_merges_lose_nothing_of_each_other(self, shared, client):  # noqa: F811
        token = client.headers["Authorization"].removeprefix("Bearer ")
        shared.at_once(lambda: client.post("/sessions", {"session_id": "s"}))

        def merge(number):
            return lambda: ApiClient(token).patch("/sessions/s/context", {"context": {f"k{number}": number}})

        assert {a.status_code for a in shared.at_once(*map(merge, range(6)))} == {200}
        (status,) = shared.at_once(lambda: client.get("/sessions/s").data)
        assert (status["context"], status["version"]) == ({f"k{n}": n for n in range(6)}, 7)

    @pytest.mark.django_db(transaction=True)
    def test_twins_that_start_one_session_make_one(self, shared, client):  # noqa: F811
        token = client.headers["Authorization"].removeprefix("Bearer ")
        send = lambda: ApiClient(token).post("/sessions", {"session_id": "s", "summary": "S"})  # noqa: E731
        answers = shared.at_once(*[send] * 5)
        assert sorted(answer.status_code for answer in answers) == [200] * 4 + [201]
        assert {answer.data["became"] for answer in answers} == {"created", "unchanged"}
        assert shared.at_once(WorkSession.objects.count) == [1]
