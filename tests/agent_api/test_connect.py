"""The Connect page: snippets that work as they are, who came, what is offered."""

from __future__ import annotations

import json
import re

import pytest
from django.test import Client
from django.urls import reverse

from agent_api.actions import note_call, sync_catalogue
from agent_api.connect.snippets import snippets
from agent_api.mcp.tools import TOOLS
from agent_api.models import EntryKind
from projects.models import AgentToken
from projects.tokens import find_token, note_use
from tests.conftest import make_token

pytestmark = pytest.mark.django_db


@pytest.fixture
def page(client: Client, project):
    sync_catalogue()
    return reverse("connect:page", args=[project.slug])


def text_of(answer) -> str:
    return answer.content.decode()


def test_without_a_token_the_lines_name_the_variable(client, viewer_user, page, project):
    client.force_login(viewer_user)
    text = text_of(client.get(page))
    assert "http://testserver/mcp" in text
    assert "MEMORY_DESK_TOKEN" in text
    assert "mdk_" in text  # what a token looks like, said to VS Code's reader
    assert reverse("connect:token", args=[project.slug]) not in text


def test_an_admin_makes_a_token_and_each_line_holds_it(client, admin_user, page, project):
    client.force_login(admin_user)
    given = {"agent_name": "order-bot", "name": "on ci", "scopes": "write", "trust": "0.5"}
    form = client.get(page).context["token_form"]
    answer = client.post(
        reverse("connect:token", args=[project.slug]), {**form.initial, **_filled(form, given)}
    )
    assert answer.status_code == 201, answer.context["token_form"].errors
    token = AgentToken.objects.get()
    found = re.findall(r"mdk_[A-Za-z0-9_-]{40,}", text_of(answer))
    assert len(found) >= 5
    assert {find_token(one) for one in found} == {token}
    assert answer["Cache-Control"].startswith("max-age=0")


def _filled(form, given):
    """A value for each field of the form: the one given, else its first choice."""
    values = {}
    for name, field in form.fields.items():
        choices = [value for value, _label in getattr(field, "choices", []) if value]
        values[name] = (
            given.get(name, "")
            if not choices
            else (given[name] if given.get(name) in choices else choices[0])
        )
    return values


def test_files_are_json(project):
    by_client = {one.client: one for one in snippets("https://desk.example", project, "mdk_x")}
    cursor = json.loads(by_client["Cursor"].text)["mcpServers"]["memory-desk"]
    assert cursor == {"url": "https://desk.example/mcp", "headers": {"Authorization": "Bearer mdk_x"}}
    assert json.loads(by_client["VS Code"].text)["servers"]["memory-desk"]["type"] == "http"
    compile(by_client["Python"].text, "snippet", "exec")
    without = {one.client: one.text for one in snippets("https://desk.example", project, None)}
    assert "${env:MEMORY_DESK_TOKEN}" in without["Cursor"]
    assert json.loads(without["VS Code"])["inputs"][0]["password"] is True
    compile(without["Python"], "snippet", "exec")


def test_it_says_who_came_and_what_they_called(client, viewer_user, page, project, other_project):
    token, _ = make_token(project)
    make_token(project, agent_name="quiet-bot", name="never used")
    stranger, _ = make_token(other_project, agent_name="strange-bot")
    note_use(token)
    for one in (token, token, stranger):
        note_call(EntryKind.TOOL, "search_memory", one, failed=False)
    note_call(EntryKind.TOOL, "search_memory", token, failed=True)
    client.force_login(viewer_user)
    answer = client.get(page)
    seen = {one.agent: one for one in answer.context["seen"]}
    assert (seen["order-bot"].calls, seen["order-bot"].is_here) == (3, True)
    assert (seen["quiet-bot"].calls, seen["quiet-bot"].last_seen) == (0, None)
    assert "strange-bot" not in text_of(answer)
    (use,) = [use for use in answer.context["catalogue"] if use.entry.name == "search_memory"]
    assert (use.calls, use.errors, use.agents) == (3, 1, 1)
    part = text_of(client.get(reverse("connect:seen", args=[project.slug])))
    assert "order-bot" in part
    assert "<html" not in part


def test_the_catalogue_is_what_the_code_offers(client, viewer_user, page):
    client.force_login(viewer_user)
    names = {use.entry.name for use in client.get(page).context["catalogue"]}
    assert {tool.name for tool in TOOLS} < names


def test_the_page_takes_as_many_statements_with_more_agents(
    client, viewer_user, page, project, django_assert_max_num_queries
):
    client.force_login(viewer_user)
    for n in range(12):
        make_token(project, agent_name=f"bot-{n}", name=f"t{n}")
    client.get(page)
    with django_assert_max_num_queries(16):
        client.get(page)
