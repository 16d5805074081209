"""Every way to read a record, with records in each inactive state behind it: hidden unless asked for, and counted.

The paths are those of the URLconf, of the API's router, of MCP's tools and resources, of the commands and of the SQL views:
one that stands in none of the tables of tests/read_paths.py fails the first tests here.
"""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass
from typing import Any

import pytest
from django.apps import apps
from django.core.management import get_commands
from django.db import connection, transaction
from django.test import Client

from agent_api.actions import sync_catalogue
from agent_api.mcp.resources import LISTINGS, TEMPLATE
from agent_api.mcp.tools import TOOLS
from agent_api.urls import v1
from curation.saved.actions import make_feed, save_filter
from projects.models import Project, Role, User
from recall.models import Similarity
from recall.words import keep_words
from records import reads
from records.actor import Actor
from records.erasing import erase
from records.kinds import all_kinds
from records.links import link
from records.models import Revision
from records.sweep import sweep
from records.verbs import archive, review
from tests.agent_api.conftest import ApiClient
from tests.agent_api.mcp_door import Door
from tests.conftest import make_token, make_user, person
from tests.read_paths import (
    API,
    BESIDE,
    COMMANDS,
    FEEDS,
    MCP,
    PAGES,
    PREFIXES_WITHOUT,
    STATES,
    WITHOUT,
    Everything,
    List,
    One,
    marker,
)
from tests.records.samples import KINDS, make, write_as_sql
from tests.test_page_matrix import page_routes

pytestmark = pytest.mark.django_db


def test_every_page_stands_in_a_table():
    names = {route.name for route in page_routes() if route.name}
    known = {*PAGES, *WITHOUT, *FEEDS, *(name for name in names if name.startswith(tuple(PREFIXES_WITHOUT)))}
    assert names - known == set(), "add these pages to PAGES, or to WITHOUT with why"
    assert set(PAGES) - names == set(), "these pages are gone"


def test_every_route_of_the_api_stands_in_a_table():
    writing = ("-bulk", "-review", "-archive", "-restore")
    names = {pattern.name for pattern in v1 if pattern.name and not pattern.name.endswith(writing)}
    acts = {name for name in names if api_methods(name) <= {"post", "put", "patch", "delete"}} - set(API)
    assert names - acts - {*API, *WITHOUT, "session-context"} == set(), (
        "add these routes to API, or to WITHOUT"
    )
    assert set(API) - names == set(), "these routes are gone"


def api_methods(name: str) -> set[str]:
    """The methods of a route, of viewsets by their map and of others by what they define."""
    found: set[str] = set()
    for pattern in v1:
        if pattern.name == name:
            actions = getattr(pattern.callback, "actions", None)
            cls = getattr(pattern.callback, "cls", None)
            found |= (
                set(actions or ())
                or {m for m in ("get", "post", "put", "delete") if hasattr(cls, m)}
                or {"get"}
            )
    return found


def test_every_tool_and_resource_stands_in_a_table():
    assert {tool.name for tool in TOOLS if not tool.is_write} == set(MCP)
    assert {listing.call("shop").path.split("?")[0].rpartition("/")[2] for listing in LISTINGS} <= {
        "decisions", "patterns", "pitfalls", "runs"
    }  # fmt: skip
    assert TEMPLATE["uriTemplate"] == "memory://{project}/{node_id}"


def test_every_command_stands_in_the_table():
    ours = {config.name for config in apps.get_app_configs() if "site-packages" not in config.path}
    assert {name for name, app in get_commands().items() if app in ours} == set(COMMANDS)


# --- A record of each kind in each state ---------------------------------------------------------------------------
@dataclass
class World:
    project: Project
    records: dict[tuple[str, str], Any]
    admin: Client
    token: str
    link: int
    change: int

    def filled(self, text: str, kind: str = "decision", state: str = "active") -> str:
        """An address with the ids that it asks for."""
        record = self.records[state, kind]
        return (
            text.replace("{decision}", self.records["active", "decision"].node_id)
            .replace("{id}", record.node_id)
            .replace("{pk}", str(record.pk))
            .replace("{name}", f"Marmalade {marker(state, kind)}")
            .replace("{link}", str(self.link))
            .replace("{change}", str(self.change))
        )


@pytest.fixture(scope="module")
def world(django_db_setup, django_db_blocker) -> Iterator[World]:
    """Made once, and undone at the end: what is tested reads."""
    before, reads.in_background = reads.in_background, False
    with django_db_blocker.unblock():
        try:
            with transaction.atomic():
                yield _made()
                transaction.set_rollback(True)
        finally:
            reads.forget_reads()
            reads.in_background = before


def _made() -> World:
    project = Project.objects.create(name="Shop", slug="shop")
    admin_user = make_user("ada", project, Role.ADMIN)
    admin = person(admin_user)
    token, text = make_token(project, ("read", "write", "review"))
    agent = Actor.agent(token, session="ses-8841")
    records: dict[tuple[str, str], Any] = {}
    for state in ("active", *STATES):
        for kind in KINDS:
            fields: dict[str, Any] = {"tags": [marker(state, kind)]} if kind == "decision" else {}
            if kind == "outcome":
                fields["type"] = marker(state, kind)  # what a row of it shows
                # All of one decision, whose list of them hides some.
                fields["decision"] = records["active", "decision"]
            records[state, kind] = make(
                kind, agent, project, title=f"Marmalade {marker(state, kind)}", **fields
            )
    keep_words(list(records.values()))
    centre = records["active", "decision"]
    made = None
    for (_state, kind), record in records.items():
        if record.node_id == centre.node_id:
            continue
        if kind in ("decision", "pattern"):
            made = link(centre, "RELATES_TO", record, actor=agent)
        for one, other in ((centre, record), (record, centre)):
            if kind != "memory":
                Similarity.objects.create(
                    project_id=project.pk, source=one.node_id, target=other.node_id, score=0.9
                )
    for kind in KINDS:
        review([records["rejected", kind]], "rejected", actor=admin, reason="A guess.")
        review([records["quarantined", kind]], "quarantined", actor=admin)
        archive([records["archived", kind]], actor=admin)
        write_as_sql(records["merged", kind], merged_into=records["active", kind].node_id)
    sweep()
    keep_words([record for (state, _kind), record in records.items() if state != "erased"])
    erase([records["erased", kind] for kind in KINDS], actor=admin, reason="A person asked us to.")
    sync_catalogue()
    client = Client(raise_request_exception=True)
    client.force_login(admin_user, backend="django.contrib.auth.backends.ModelBackend")
    change = Revision.objects.filter(node_id=records["rejected", "decision"].node_id).latest("pk").pk
    assert made is not None
    return World(project, records, client, text, made.pk, change)


# --- What each path shows ------------------------------------------------------------------------------------------
def seen(text: str, states: tuple[str, ...]) -> set[str]:
    return {marker(state, kind) for state in states for kind in KINDS if marker(state, kind) in text}


def of_list(path: List, world: World, ask: Any) -> list[str]:
    """What is wrong with a list; `ask(more)` gives its text, with `more` in its address."""
    wrong = []
    shown = ask("")
    if path.until:
        wrong += [f"tells of {word}" for word in sorted(seen(shown, ("erased",)))]
        assert path.until in shown
        shown = shown.partition(path.until)[0]
    wrong += [f"hides {word} from nobody" for word in sorted(seen(shown, STATES))]
    wrong += [f"lacks {marker('active', k)}" for k in path.kinds if marker("active", k) not in shown]
    wrong += [
        f"names {r.node_id}"
        for (s, _k), r in world.records.items()
        if s == "erased" and f"{r.node_id}<" in shown
    ]
    if path.told and path.told not in shown:
        wrong.append(f"does not say {path.told!r}")
    if path.behind:
        behind = ask(path.behind)
        wrong += [f"tells of {word}" for word in sorted(seen(behind, ("erased",)))]
        kinds = path.kinds or ("decision", "pattern")
        wrong += [
            f"does not show {marker(s, k)} when asked"
            for s in BESIDE
            for k in kinds
            if marker(s, k) not in behind
        ]
    if not (path.told and path.behind) and not path.why:
        wrong.append("says neither why it cannot be looked behind nor why it tells no number")
    return wrong


@pytest.mark.parametrize("name", sorted(PAGES))
def test_a_page_hides_what_is_not_active(name, world):
    path = PAGES[name]

    def ask(
        state: str = "active", kind: str = "decision", more: str = "", status: tuple[int, ...] = (200,)
    ) -> str:
        address = world.filled(path.address, kind, state).removesuffix("x")
        if more.startswith("q="):
            address = address.partition("?")[0] + "?"
        answer = world.admin.get(f"{address}&{more}".replace("?&", "?") if more else address)
        assert answer.status_code in status, (address, answer.status_code, answer.content[:300])
        return answer.getvalue().decode() if hasattr(answer, "getvalue") else answer.content.decode()

    if isinstance(path, List):
        assert of_list(path, world, lambda more: ask(more=more)) == []
        if "show=all" in path.behind and path.told:  # the same rows as a file
            for form in ("csv", "json"):
                assert seen(ask(more=f"format={form}"), STATES) == set()
                assert seen(ask(more=f"format={form}&show=all"), BESIDE) == {
                    marker(s, path.kinds[0]) for s in BESIDE
                }
    elif isinstance(path, Everything):
        assert seen(ask(), ("erased",)) == set()
    else:
        of_one(path, lambda state, status: ask(state, path.kind, status=status))


def of_one(path: One, ask: Any) -> None:
    """In each state its own page shows it, and beside it no hidden one; of the erased there is a tombstone."""
    for state in ("active", *BESIDE):
        # A page of what was merged leads to the record that holds it now.
        text = ask(state, (200,) if path.shows and state != "merged" else (200, 302))
        others = seen(text, tuple(s for s in STATES if s not in path.beside)) - {marker(state, path.kind)}
        assert others == set(), (state, others)
        if path.shows and (text or state != "merged"):
            assert marker(state, path.kind) in text, state
    assert seen(ask("erased", (302, 404, 410)), ("erased",)) == set()


def test_a_feed_shows_what_the_page_of_its_filter_shows(world):
    user = User.objects.get(username="ada")
    shown = {}
    for query in ("", "show=all"):
        saved = save_filter(
            user=user, project=world.project, page="decisions:list", query=query, name=f"f {query}"
        )
        shown[query] = Client().get(f"/feed/{make_feed(saved=saved)}/").content.decode()
    assert seen(shown[""], ("active", *STATES)) == {marker("active", "decision")}
    assert seen(shown["show=all"], ("active", *STATES)) == {
        marker(s, "decision") for s in ("active", *BESIDE)
    }


@pytest.mark.parametrize("name", sorted(API))
def test_the_api_hides_what_is_not_active(name, world):
    path, api = API[name], ApiClient(world.token)

    def ask(
        state: str = "active", kind: str = "decision", more: str = "", status: tuple[int, ...] = (200,)
    ) -> str:
        address = world.filled(path.address, kind, state)
        if more.startswith("q="):
            address = address.partition("?")[0] + "?limit=100"
        if more:
            address += ("&" if "?" in address else "?") + more
        body = getattr(path, "body", None)
        answer = api.post(address, body) if body else api.get(address)
        assert answer.status_code in status, (address, answer.status_code, answer.content[:300])
        return answer.content.decode().replace('":', '": ')

    if isinstance(path, List):
        assert of_list(path, world, lambda more: ask(more=more)) == []
    elif isinstance(path, Everything):
        assert seen(ask(), ("erased",)) == set()
    else:
        of_one(path, lambda state, status: ask(state, path.kind, status=status))


@pytest.mark.parametrize("name", sorted(MCP))
def test_a_tool_hides_what_is_not_active(name, world):
    path, arguments = MCP[name]
    door = Door(world.token)

    def ask(state: str = "active", more: str = "") -> str:
        filled = {
            k: world.filled(v, "decision", state) if isinstance(v, str) else v for k, v in arguments.items()
        }
        return door.send("tools/call", {"name": name, "arguments": filled}).content.decode()

    if isinstance(path, List):
        assert of_list(path, world, lambda more: ask(more=more)) == []
        return
    for state in ("active", *BESIDE):
        assert seen(ask(state), STATES) == ({marker(state, "decision")} if state != "active" else set())
    gone = ask("erased")
    assert seen(gone, STATES) == set()
    assert "erased" in gone


@pytest.mark.parametrize("listing", LISTINGS, ids=lambda listing: listing.name)
def test_a_resource_hides_what_is_not_active(listing, world):
    text = Door(world.token).send("resources/read", {"uri": f"memory://shop/{listing.path}"}).content.decode()
    assert seen(text, STATES) == set()


def test_a_view_of_sql_has_the_active_ones_alone(world):
    for kind in all_kinds():
        with connection.cursor() as cursor:
            cursor.execute(f"SELECT id FROM active_{kind.model._meta.db_table}")
            keys = {row[0] for row in cursor.fetchall()}
        assert keys == {world.records["active", kind.name].pk}, kind.name
        assert kind.model.objects.active().count() == 1
        assert kind.model.objects.hidden().count() == len(STATES)
