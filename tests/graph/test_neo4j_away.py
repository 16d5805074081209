"""Neo4j away: writes go on, pages answer from the database within moments and say so, and all of it comes when it is back."""

import socket
import threading
import time
from datetime import timedelta

import pytest
from django.db.models import F
from django.utils import timezone

from decisions.actions import create_decision
from graph import claims, connection, cypher_schema
from graph.queries import graph_lag, graph_store
from graph.store import GraphAway, NoSuchNode, Within
from graph.worker import Worker
from graph.worker_thread import due_count
from records.models import ProjectionMark

pytestmark = [pytest.mark.graph, pytest.mark.django_db, pytest.mark.usefixtures("clean_graph")]
ENOUGH = 2.5
READ_SECONDS = connection.READ_SECONDS  # the product's own: `clean_graph` is more patient


@pytest.fixture
def silent_server():
    """Accepts connections and never says a word, as a stopped process does."""
    with socket.create_server(("127.0.0.1", 0)) as server:
        held = []

        def accept():
            while True:
                try:
                    held.append(server.accept())
                except OSError:
                    return

        threading.Thread(target=accept, daemon=True).start()
        yield f"bolt://127.0.0.1:{server.getsockname()[1]}"
        for one, _ in held:
            one.close()


@pytest.fixture
def unused_port():
    with socket.create_server(("127.0.0.1", 0)) as server:
        port = server.getsockname()[1]
    return f"bolt://127.0.0.1:{port}"


def point_to(settings, url):
    settings.GRAPH_URL = url
    connection.forget_connection()


def some(agent, project, count=2):
    return [
        create_decision(actor=agent, project=project, title=f"Use Redis {n}", decision=f"Cache totals {n}.")
        for n in range(count)
    ]


def test_writes_are_embedded_and_acknowledged_and_the_graph_drains_when_it_is_back(
    agent, project, settings, graph_address, unused_port
):
    point_to(settings, unused_port)
    records = some(agent, project, 3)
    worker = Worker()
    for _ in range(4):
        worker.work_once()
    waiting = ProjectionMark.objects.filter(embedded_version=F("wanted_version"), projected_version=0)
    assert waiting.filter(attempts=0, dead=False, lease_token=None, next_try_at__isnull=False).count() == 3
    assert due_count() == 0  # nothing that could be done now
    for _ in range(claims.ATTEMPTS + 2):  # each time the pause is over and it is still away
        connection.breaker._retry_at = 0.0
        worker.work_once()
    assert waiting.filter(attempts=0, dead=False, error=None).count() == 3
    lag = graph_lag()
    assert lag.waiting == 3
    assert lag.away_since is not None
    point_to(settings, graph_address)
    worker.work_once()
    assert not ProjectionMark.objects.exclude(next_try_at=None).exists()
    assert cypher_schema.counts_by_kind() == {"decision": 3}
    assert graph_store().neighbourhood(records[0].node_id, Within(project_id=project.pk)).total == 3


@pytest.mark.parametrize("away", ["unused_port", "silent_server"])
def test_pages_answer_in_time_from_the_database_with_a_banner(
    agent, project, settings, client, viewer_user, away, request, monkeypatch
):
    first, _second = some(agent, project)
    Worker().work_once()
    client.force_login(viewer_user)
    address = f"/p/{project.slug}/graph/?node={first.node_id}"
    page = client.get(address)
    assert page.status_code == 200
    assert "answers instead" not in page.content.decode()
    data = client.get(f"/p/{project.slug}/graph/data", {"node": first.node_id}).json()
    assert data["answered_by"] == "neo4j"
    monkeypatch.setattr(connection, "READ_SECONDS", READ_SECONDS)
    point_to(settings, request.getfixturevalue(away))
    for _ in range(3):
        began = time.monotonic()
        page = client.get(address)
        assert time.monotonic() - began < ENOUGH
        assert page.status_code == 200
        assert first.title in page.content.decode()
    assert "Graph away since" in page.content.decode()
    began = time.monotonic()
    answer = client.get(f"/p/{project.slug}/graph/data", {"node": first.node_id}).json()
    assert time.monotonic() - began < ENOUGH
    assert answer["answered_by"] == "relational"
    assert {one["id"] for one in answer["nodes"]} == {one["id"] for one in data["nodes"]}


def test_a_silent_server_does_not_hold_the_worker(agent, project, settings, silent_server, monkeypatch):
    monkeypatch.setattr(connection, "PROBE_SECONDS", 0.7)
    point_to(settings, silent_server)
    some(agent, project)
    began = time.monotonic()
    Worker().work_once()
    assert time.monotonic() - began < 30
    assert ProjectionMark.objects.filter(embedded_version=1, projected_version=0).count() == 2


def test_while_the_graph_is_behind_the_database_answers_and_the_banner_counts(
    agent, project, client, viewer_user
):
    first, second = some(agent, project)
    Worker().work_once()
    late = timezone.now() - timedelta(seconds=40)
    ProjectionMark.objects.filter(node_id=second.node_id).update(
        wanted_version=2, embedded_version=2, next_try_at=late, wanted_at=late
    )
    client.force_login(viewer_user)
    page = client.get(f"/p/{project.slug}/graph/?node={first.node_id}").content.decode()
    assert f"Graph behind by 1 since {timezone.localtime(late):%H:%M}" in page
    store = graph_store()
    store.neighbourhood(first.node_id, Within(project_id=project.pk))
    assert store.name == "relational"
    Worker().work_once()
    store.neighbourhood(first.node_id, Within(project_id=project.pk))
    assert store.name == "neo4j"


def test_a_record_that_the_graph_does_not_show_yet_is_answered_from_the_database(agent, project):
    first, second = some(agent, project)
    store = graph_store()
    assert store.neighbourhood(first.node_id, Within(project_id=project.pk)).center == first.node_id
    assert store.name == "relational"
    with pytest.raises(NoSuchNode):
        store.neighbourhood("dec_999999", Within(project_id=project.pk))
    assert second.pk


def test_the_breaker_lets_nobody_ask_until_its_pause_is_over(settings, unused_port):
    point_to(settings, unused_port)
    asked = []

    def ask():
        asked.append(1)
        return connection.fetch("RETURN 1", {})

    for _ in range(5):
        with pytest.raises(GraphAway):
            connection.guarded(ask, 2.0)
    assert len(asked) == 1
    connection.breaker._retry_at = 0.0
    with pytest.raises(GraphAway):
        connection.guarded(ask, 2.0)
    assert len(asked) == 2


def test_after_the_pause_one_asks_and_the_others_are_refused_at_once(settings, silent_server):
    point_to(settings, silent_server)
    with pytest.raises(GraphAway):
        connection.guarded(lambda: connection.fetch("RETURN 1", {}), 0.2)
    connection.breaker._retry_at = 0.0
    begun, ended, asked = threading.Event(), threading.Event(), []

    def ask():
        asked.append(1)
        begun.set()
        ended.wait(5)

    one = threading.Thread(target=connection.guarded, args=(ask, 5.0))
    one.start()
    assert begun.wait(5)
    for _ in range(3):
        with pytest.raises(GraphAway):
            connection.guarded(ask, 5.0)
    ended.set()
    one.join(5)
    assert len(asked) == 1
    assert connection.breaker.away_since is None


def test_what_the_graph_refuses_is_an_answer_too(settings, unused_port):
    point_to(settings, unused_port)
    with pytest.raises(GraphAway):
        connection.guarded(lambda: connection.fetch("RETURN 1", {}), 2.0)
    connection.breaker._retry_at = 0.0

    def ask():
        raise NoSuchNode("dec_1")

    with pytest.raises(NoSuchNode):
        connection.guarded(ask, 2.0)
    assert connection.breaker.away_since is None


def test_a_forked_child_does_not_use_its_parents_connection():
    import os

    assert connection.fetch("RETURN 1", {}) == [(1,)]
    kept = connection._driver
    pid = os.fork()
    if pid == 0:
        os._exit(0 if connection._driver is None else 1)
    assert os.waitpid(pid, 0)[1] == 0
    assert connection._driver is kept
    assert connection.fetch("RETURN 1", {}) == [(1,)]
