"""The MCP door's protocol by hand: versions, methods, headers, errors, hostile bodies."""

from __future__ import annotations

import base64

import pytest
from django.db import OperationalError
from django.test import Client

from tests.agent_api.mcp_door import STATELESS, Door
from tests.conftest import make_token

pytestmark = pytest.mark.mysql


def test_it_says_who_it_is(door):
    method = "server/discover" if door.version else "initialize"
    result = door.result(method, {"protocolVersion": "2025-06-18", "capabilities": {}, "clientInfo": {}})
    if door.version:
        assert STATELESS in result["supportedVersions"]
        assert result["resultType"] == "complete"
    else:
        assert result["protocolVersion"] == "2025-06-18"
    assert {"tools", "resources"} <= result["capabilities"].keys()


def test_an_unknown_revision_of_the_handshake_is_answered_with_the_newest(project):
    door = Door(make_token(project)[1])
    assert door.result("initialize", {"protocolVersion": "1999-01-01"})["protocolVersion"] == "2025-11-25"


def test_wrong_tokens_are_throttled_by_address(project, settings):
    settings.API_FAILURES_PER_MINUTE = 2
    answers = [Door("mdk_wrong").send("tools/list").status_code for _ in range(4)]
    assert answers == [401, 401, 429, 429]
    assert Door(make_token(project)[1]).send("tools/list").status_code == 200
    assert Door(None).send("tools/list").status_code == 401  # who asks without one guesses none


def test_while_the_database_is_away_the_answer_is_json(project, monkeypatch):
    def away(*_args, **_options):
        raise OperationalError(2013, "Lost connection")

    monkeypatch.setattr("agent_api.authentication.find_token", away)
    answer = Door("mdk_any").send("tools/list")
    assert (answer.status_code, answer["Content-Type"]) == (503, "application/problem+json")
    assert answer["Retry-After"]


def test_without_a_token_it_asks_for_one(db):
    answer = Door(None).send("tools/list")
    assert answer.status_code == 401
    assert answer["WWW-Authenticate"].startswith("Bearer")
    assert Door("mdk_unknown").send("tools/list").status_code == 401


@pytest.mark.parametrize("method", ["get", "put", "delete", "patch", "options"])
def test_only_post_is_answered(project, method):
    headers = {"Authorization": f"Bearer {make_token(project)[1]}"}
    answer = getattr(Client(), method)("/mcp", headers=headers)
    assert (answer.status_code, answer["Allow"]) == (405, "POST")


def test_a_page_of_another_site_may_not_call(project):
    door = Door(make_token(project)[1])
    assert door.send("tools/list", headers={"Origin": "https://evil.example"}).status_code == 403
    assert door.send("tools/list", headers={"Origin": "null"}).status_code == 403
    assert door.send("tools/list", headers={"Origin": "http://testserver"}).status_code == 200


def test_an_unknown_host_is_refused(project, settings):
    settings.ALLOWED_HOSTS = ["desk.example"]
    answer = Door(make_token(project)[1]).send("tools/list", headers={"Host": "rebound.example"})
    assert answer.status_code == 400


def test_a_notification_is_taken_and_not_answered(project):
    door = Door(make_token(project)[1])
    answer = door.raw(b'{"jsonrpc": "2.0", "method": "notifications/initialized"}')
    assert (answer.status_code, answer.content) == (202, b"")


def test_an_unknown_method_is_said(door):
    answer = door.send("prompts/list")
    assert answer.json()["error"]["code"] == -32601
    assert answer.status_code == (404 if door.version else 200)
    assert ("error" in door.send("ping").json()) == bool(door.version)


@pytest.mark.parametrize(
    ("headers", "code"),
    [
        ({"MCP-Protocol-Version": None}, -32020),
        ({"MCP-Protocol-Version": "2025-11-25"}, -32020),
        ({"Mcp-Method": "tools/call"}, -32020),
    ],
)
def test_headers_must_repeat_the_body(project, headers, code):
    answer = Door(make_token(project)[1], STATELESS).send("tools/list", headers=headers)
    assert (answer.status_code, answer.json()["error"]["code"]) == (400, code)


def test_a_name_that_is_no_ascii_comes_in_base64(project, decision):
    door = Door(make_token(project)[1], STATELESS)
    name = "=?base64?" + base64.b64encode(b"get_record").decode() + "?="
    params = {"name": "get_record", "arguments": {"node_id": decision.node_id}}
    assert not door.send("tools/call", params, headers={"Mcp-Name": name}).json()["result"]["isError"]
    assert door.send("tools/call", params, headers={"Mcp-Name": "=?base64?!?="}).status_code == 400


def test_a_revision_of_the_future_learns_which_are_spoken(project):
    answer = Door(make_token(project)[1], "2031-01-01").send("server/discover")
    error = answer.json()["error"]
    assert (answer.status_code, error["code"]) == (400, -32022)
    assert STATELESS in error["data"]["supported"]


@pytest.mark.parametrize(
    "body",
    [
        b"", b"{", b"[]", b"null", b"5", b'"x"', b"\xff\xfe", b"[" * 100_000, b'{"a":' * 5_000,
        b'{"jsonrpc": "2.0", "id": 1}', b'{"jsonrpc": "1.0", "id": 1, "method": "ping"}',
        b'{"jsonrpc": "2.0", "id": true, "method": "ping"}', b'{"jsonrpc": "2.0", "id": null, "method": "ping"}',
        b'{"jsonrpc": "2.0", "id": 1, "method": "ping", "params": []}',
        b'[{"jsonrpc": "2.0", "id": 1, "method": "ping"}]',
    ],
)  # fmt: skip
def test_a_body_that_is_no_request_is_an_error_of_the_protocol(project, body):
    answer = Door(make_token(project)[1]).raw(body)
    assert 400 <= answer.status_code < 500 or answer.json()["error"]["code"] < 0
    assert "error" in answer.json()


def test_a_body_beyond_the_size_is_413(project, settings):
    settings.DATA_UPLOAD_MAX_MEMORY_SIZE = 1000
    assert Door(make_token(project)[1]).raw(b" " * 2000).status_code == 413
