"""Clients of the API and of the MCP door, with a bearer token, and a few records to ask about."""

from __future__ import annotations

import json
from typing import Any

import pytest
from django.test import Client

from decisions.actions import create_decision, record_outcome
from patterns.actions import create_pattern
from pitfalls.actions import create_pitfall
from records import reads
from tests.agent_api.mcp_door import STATELESS, Door
from tests.conftest import make_token

V1 = "/api/v1"


class ApiClient:
    """`get`, `post`, … of paths below /api/v1; answers are parsed as `.data`."""

    def __init__(self, token: str | None = None, **headers: str) -> None:
        self.client = Client(raise_request_exception=False)
        self.headers = {**({"Authorization": f"Bearer {token}"} if token else {}), **headers}

    def send(self, method: str, path: str, body: Any = None, **headers: str) -> Any:
        names = {name.replace("_", "-"): value for name, value in headers.items()}
        data = body if isinstance(body, bytes) else b"" if body is None else json.dumps(body).encode()
        answer = self.client.generic(
            method, f"{V1}{path}", data, "application/json", headers={**self.headers, **names}
        )
        is_json = "json" in answer.headers.get("Content-Type", "")
        answer.data = json.loads(answer.content) if is_json and answer.content else None  # type: ignore[attr-defined]
        return answer

    def get(self, path: str, **headers: str) -> Any:
        return self.send("GET", path, **headers)

    def post(self, path: str, body: Any = None, **headers: str) -> Any:
        return self.send("POST", path, body, **headers)

    def patch(self, path: str, body: Any = None, **headers: str) -> Any:
        return self.send("PATCH", path, body, **headers)


@pytest.fixture(autouse=True)
def _no_limit_of_calls(settings):
    """Sharing the counts of calls takes a statement now and then: tests that count statements count the answer's."""
    settings.API_READS_PER_MINUTE = settings.API_WRITES_PER_MINUTE = 0


@pytest.fixture(autouse=True)
def _reads_are_flushed_by_the_test(monkeypatch):
    monkeypatch.setattr(reads, "in_background", False)
    reads.forget_reads()
    yield
    reads.forget_reads()


@pytest.fixture
def api(project) -> ApiClient:
    """Reads and writes."""
    return ApiClient(make_token(project)[1])


@pytest.fixture
def reviewer(project) -> ApiClient:
    return ApiClient(make_token(project, ("read", "write", "review"), name="reviewer")[1])


@pytest.fixture
def reader(project) -> ApiClient:
    return ApiClient(make_token(project, ("read",), name="reader")[1])


@pytest.fixture
def elsewhere(other_project) -> ApiClient:
    """Everything, in another project."""
    return ApiClient(make_token(other_project, ("read", "write", "review"), name="elsewhere")[1])


@pytest.fixture(params=[None, STATELESS], ids=["handshake", "stateless"])
def door(request, project):
    return Door(make_token(project)[1], request.param)


@pytest.fixture
def decision(agent, project):
    return create_decision(
        actor=agent, project=project, title="Use Redis", decision="Cache totals.", tags=["redis", "latency"]
    )


@pytest.fixture
def outcome(agent, decision):
    return record_outcome(actor=agent, decision=decision, type="outage", success_rate=0.2, note="Evicted.")


@pytest.fixture
def pattern(agent, project):
    return create_pattern(actor=agent, project=project, category="caching", name="Cache-aside")


@pytest.fixture
def pitfall(agent, project):
    return create_pitfall(actor=agent, project=project, category="db", title="Pool drains", severity="high")
