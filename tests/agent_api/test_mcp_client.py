"""The official MCP client against the running server: both generations, every tool, every resource."""

from __future__ import annotations

import asyncio
from contextlib import asynccontextmanager, suppress
from dataclasses import dataclass
from typing import Any

import pytest
from django.db import OperationalError, connection
from mcp import Client
from mcp.client.streamable_http import streamable_http_client
from mcp.shared._httpx_utils import create_mcp_http_client

from agent_api.mcp.resources import LISTINGS
from agent_api.mcp.tools import TOOLS
from decisions.actions import create_decision
from patterns.actions import create_pattern
from pitfalls.actions import create_pitfall
from projects.models import Project
from recall.encoders.base import EncoderUnavailable
from recall.vectors import configured_encoder
from records.actor import Actor
from tests.conftest import make_token

pytestmark = [pytest.mark.mysql, pytest.mark.django_db(transaction=True)]
MODES = ["auto", "legacy", "2026-07-28"]


@dataclass
class World:
    token: str
    decision: str
    pattern: str
    pitfall: str


@pytest.fixture
def world(transactional_db) -> World:
    project = Project.objects.create(name="Shop", slug="shop")
    token, text = make_token(project)
    agent = Actor.agent(token)
    made = [
        create_decision(actor=agent, project=project, title="Use Redis", decision="Cache totals in Redis."),
        create_pattern(actor=agent, project=project, category="caching", name="Cache-aside", confidence=0.9),
        create_pitfall(
            actor=agent, project=project, category="caching", title="Stampede", severity="critical"
        ),
    ]
    return World(text, *[record.node_id for record in made])


def arguments_of(world: World) -> dict[str, dict[str, Any]]:
    return {
        "get_context": {"project": "shop", "task": "Cache the order totals", "budget": 800},
        "search_memory": {"q": "redis"},
        "find_similar": {"node_id": world.decision},
        "get_record": {"node_id": world.decision},
        "check_pitfalls": {"category": "caching"},
        "record_decision": {"title": "Use Valkey", "decision": "Move the cache.", "session_id": "ses-1"},
        "record_outcome": {"decision": world.decision, "type": "outage", "note": "Evicted."},
        "record_pattern": {"category": "caching", "name": "Jittered expiry"},
        "report_pattern_use": {"node_id": world.pattern, "worked": True, "note": "Held."},
        "record_pitfall": {"category": "caching", "title": "Keys without expiry", "severity": "high"},
        "start_session": {"session_id": "ses-1", "context": {"step": 1}},
        "end_session": {"session_id": "ses-1", "summary": "Done."},
        "record_run": {"trigger_type": "alert", "status": "succeeded", "summary": "Throttled the purge."},
    }


@asynccontextmanager
async def connected(url: str, token: str, mode: str):
    http = create_mcp_http_client(headers={"Authorization": f"Bearer {token}"})
    async with http, Client(streamable_http_client(f"{url}/mcp", http_client=http), mode=mode) as client:
        yield client


async def everything(url: str, world: World, mode: str, between=lambda: None) -> None:
    """Call every tool and read every resource; `between` runs before each."""
    async with connected(url, world.token, mode) as client:
        listed = (await client.list_tools()).tools
        assert [tool.name for tool in listed] == [tool.name for tool in TOOLS]
        for name, arguments in sorted(arguments_of(world).items(), key=lambda item: item[0] == "end_session"):
            await asyncio.to_thread(between)
            result = await client.call_tool(name, arguments)
            assert not result.is_error, (name, result.content)
            assert result.content[0].text
        found = (await client.list_resources()).resources
        assert len(found) == len(LISTINGS)
        assert (await client.list_resource_templates()).resource_templates
        for uri in [*(one.uri for one in found), f"memory://shop/{world.decision}"]:
            await asyncio.to_thread(between)
            (content,) = (await client.read_resource(uri)).contents
            assert content.text


@pytest.fixture
def _with_encoder():
    try:
        configured_encoder()
    except EncoderUnavailable as error:
        pytest.skip(str(error))


@pytest.mark.usefixtures("_with_encoder")
@pytest.mark.parametrize("mode", MODES)
def test_the_client_calls_every_tool_and_reads_every_resource(live_server, world, mode):
    asyncio.run(everything(live_server.url, world, mode))


@pytest.mark.usefixtures("_with_encoder")
def test_no_call_fails_where_the_database_drops_every_connection(live_server, world):
    if connection.vendor != "mysql":
        pytest.skip("SQLite has no connections to drop")
    dropped: list[int] = []
    asyncio.run(
        everything(live_server.url, world, "auto", between=lambda: dropped.extend(drop_connections()))
    )
    connection.close()  # this thread's was dropped, too
    assert len(dropped) >= len(TOOLS)  # the server did hold connections


def drop_connections() -> list[int]:
    """Those of the server's threads: from one of its own, which it closes."""
    with connection.cursor() as cursor:
        cursor.execute(
            "SELECT id FROM information_schema.processlist WHERE db = %s AND id <> CONNECTION_ID()",
            [connection.settings_dict["NAME"]],
        )
        numbers = [int(number) for (number,) in cursor.fetchall()]
        killed = []
        for number in numbers:
            with suppress(OperationalError):  # it ended by itself
                cursor.execute(f"KILL {number}")
                killed.append(number)
    connection.close()
    return killed
