"""Around every call: who may come in, how errors look, what no cookie opens."""

import uuid
from datetime import timedelta

import pytest
from django.db import OperationalError
from django.test import Client
from django.utils import timezone

from projects.models import AgentToken
from records.models import Revision
from tests.agent_api.conftest import ApiClient
from tests.conftest import make_token

pytestmark = [pytest.mark.mysql, pytest.mark.django_db]
HEX = "9f2b6f0e54b14e0c8d0e1c1f0a1b2c3d"


def assert_problem(answer, status: int, kind: str = "") -> None:
    assert answer.status_code == status, answer.content[:500]
    assert answer["Content-Type"] == "application/problem+json"
    assert {"type", "title", "status", "detail", "instance", "request_id"} <= set(answer.data)
    assert answer.data["request_id"] == answer["X-Request-ID"]
    assert answer.data["status"] == status
    if kind:
        assert answer.data["type"] == f"urn:memory-desk:problem:{kind}"


@pytest.mark.parametrize(
    "header", [None, "", "Bearer", "Bearer ", "Bearer mdk_nobody", "Basic YTpi", "Bearer ü", "mdk_x"]
)
def test_without_a_known_token_nobody_comes_in(project, header):
    client = ApiClient(None, **({} if header is None else {"Authorization": header}))
    answer = client.get("/me")
    assert_problem(answer, 401)
    assert answer["WWW-Authenticate"].startswith("Bearer realm=")


def test_expired_and_revoked_tokens_are_unknown(project):
    hour = timedelta(hours=1)
    expired = make_token(project, expires_at=timezone.now() - hour)[1]
    revoked = make_token(project, revoked_at=timezone.now() - hour)[1]
    for text in (expired, revoked):
        answer = ApiClient(text).get("/me")
        assert_problem(answer, 401, "authentication-failed")
        assert 'error="invalid_token"' in answer["WWW-Authenticate"]


def test_a_signed_in_persons_cookie_opens_nothing(admin_user, decision):
    client = Client()
    client.force_login(admin_user)
    assert client.get("/api/v1/decisions").status_code == 401
    assert client.get(f"/api/v1/decisions/{decision.node_id}").status_code == 401


def test_use_is_noted(api):
    api.get("/me")
    assert AgentToken.objects.get().last_used_at is not None


def test_scopes_are_what_they_say(reader, decision):
    assert reader.get(f"/decisions/{decision.node_id}").status_code == 200
    assert_problem(reader.post("/decisions", {"title": "T", "decision": "D"}), 403, "permission-denied")
    assert_problem(reader.patch(f"/decisions/{decision.node_id}", {"title": "T", "version": 1}), 403)


def test_another_projects_record_is_as_absent_as_a_missing_one(elsewhere, decision, outcome):
    theirs = elsewhere.get(f"/decisions/{decision.node_id}")
    missing = elsewhere.get("/decisions/dec_999999")
    assert_problem(theirs, 404, "not-found")
    assert {**theirs.data, "request_id": "", "instance": ""} == {
        **missing.data,
        "request_id": "",
        "instance": "",
    }
    assert elsewhere.get("/decisions").data["results"] == []
    assert_problem(elsewhere.patch(f"/outcomes/{outcome.node_id}", {"type": "x", "version": 1}), 404)
    assert elsewhere.get(f"/records/{decision.node_id}/history").status_code == 404
    refused = elsewhere.post("/outcomes", {"decision": decision.node_id, "type": "outage"})
    assert (refused.status_code, list(refused.data["errors"])) == (422, ["decision"])


@pytest.mark.parametrize(
    "path",
    ["", "/", "/nothing", "/decisions/1/2/3/4", "/decisions/../../admin", "/%00", "/decisions//outcomes"],
)
@pytest.mark.parametrize("method", ["GET", "POST", "DELETE"])
def test_an_address_that_is_none_is_a_problem_too(api, path, method):
    assert_problem(api.send(method, path), 404, "not-found")


def test_addresses_beside_the_version_are_problems_too(client):
    for path in ("/api", "/api/v2/decisions"):
        answer = client.get(path)
        assert (answer.status_code, answer["Content-Type"]) == (404, "application/problem+json")


def test_a_client_that_looks_for_oauth_gets_a_small_answer(client):
    for name in ("oauth-protected-resource", "oauth-authorization-server", "oauth-protected-resource/mcp"):
        answer = client.get(f"/.well-known/{name}")
        assert (answer.status_code, answer["Content-Type"]) == (404, "application/json")
        assert len(answer.content) < 200


@pytest.mark.parametrize("method", ["PUT", "DELETE", "OPTIONS", "TRACE", "PROPFIND"])
def test_a_method_that_is_none_is_405(api, decision, method):
    answer = api.send(method, f"/decisions/{decision.node_id}")
    assert_problem(answer, 405, "method-not-allowed")
    assert answer["Allow"]


def test_other_content_types_are_415_and_json_is_what_is_answered(api, project):
    answer = api.client.post("/api/v1/decisions", {"title": "T"}, headers=api.headers)
    assert (answer.status_code, answer["Content-Type"]) == (415, "application/problem+json")
    answer = api.get("/me", Accept="text/html")
    assert_problem(answer, 406)
    assert api.get("/me", Accept="text/html,*/*;q=0.8").status_code == 200


@pytest.mark.parametrize("name", ["X-Session-Id", "X-Run-Id"])
@pytest.mark.parametrize("value", ["a" * 256, "ü", "a\x01b", " ".join("ab") * 200])
def test_a_session_or_run_of_odd_form_is_refused_by_name(api, name, value):
    answer = api.get("/me", **{name: value})
    assert_problem(answer, 400)
    assert name in answer.data["detail"]


@pytest.mark.parametrize(
    "said", [HEX, HEX.upper(), str(uuid.UUID(HEX)), f"run_{HEX}", f"run_{uuid.UUID(HEX)}"]
)
def test_a_run_is_itself_however_it_is_named(api, said):
    made = api.post("/decisions", {"title": "T", "decision": "D"}, X_Run_Id=said)
    assert made.data["source_run"] == f"run_{HEX}"
    assert Revision.objects.get().run == f"run_{HEX}"


def test_answers_are_not_cached(api, decision):
    assert api.get(f"/decisions/{decision.node_id}")["Cache-Control"] == "no-store"


def test_a_bug_is_a_problem_with_the_requests_id(api, decision, monkeypatch, caplog):
    def broken(*args, **kwargs):
        raise RuntimeError("secret detail")

    monkeypatch.setattr("decisions.api.DecisionViewSet.extras", broken)
    answer = api.get(f"/decisions/{decision.node_id}")
    assert_problem(answer, 500, "internal")
    assert "secret" not in answer.content.decode()
    assert "secret detail" in caplog.text


def test_times_are_utc_whatever_zone_the_desk_shows(api, decision, settings):
    settings.TIME_ZONE_SHOWN = "Asia/Kolkata"
    assert api.get(f"/decisions/{decision.node_id}").data["created_at"].endswith("Z")


def test_what_is_refused_before_any_view_is_a_problem_too(api):
    answer = api.get("/me", Host="evil.example")
    assert_problem(answer, 400)


def test_a_database_that_is_busy_or_away_is_503_with_retry_after(api, decision, monkeypatch):
    def away(*args, **kwargs):
        raise OperationalError(2006, "Server has gone away")

    monkeypatch.setattr("decisions.api.DecisionViewSet.extras", away)
    answer = api.get(f"/decisions/{decision.node_id}")
    assert_problem(answer, 503, "unavailable")
    assert answer["Retry-After"] == "1"
