"""What the health page counts of a real Neo4j is what `check_graph` counts, by project too; a silent one holds nobody."""

import socket
import time
from io import StringIO

import pytest
from django.core.management import CommandError, call_command

from decisions.actions import create_decision
from desk.health import counts, projection
from desk.health.findings import Level
from graph import connection, cypher_writes
from graph.worker import Worker
from records import leases
from records.actor import Actor
from records.models import ProjectionMark
from tests.conftest import make_token

pytestmark = [pytest.mark.graph, pytest.mark.django_db, pytest.mark.usefixtures("clean_graph")]


@pytest.fixture
def shown(agent, project, other_project):
    token, _text = make_token(other_project)
    there = [(agent, project), (agent, project), (Actor.agent(token), other_project)]
    records = [
        create_decision(actor=actor, project=place, title=f"Use Redis {n}", decision=f"Cache totals {n}.")
        for n, (actor, place) in enumerate(there)
    ]
    Worker().work_once()
    assert not ProjectionMark.objects.exclude(next_try_at=None).exists()
    return records


def decisions(state):
    return next(kind for kind in state["kinds"] if kind["name"] == "decision")


def test_a_graph_that_shows_everything_does_not_differ(shown):
    state = counts.count_drift()
    assert (decisions(state)["records"], decisions(state)["nodes"], state["differs"]) == (3, 3, False)
    call_command("check_graph", stdout=StringIO())


def test_each_difference_is_counted_in_its_project(shown, project, other_project):
    first, second, elsewhere = shown
    connection.write(lambda tx: cypher_writes.delete_nodes(tx, [first.node_id, elsewhere.node_id]))
    ProjectionMark.objects.filter(node_id=second.node_id).update(wanted_version=7)
    connection.write(
        lambda tx: tx.run(
            "CREATE (:Record:Decision {id: 'dec_987654', kind: 'decision', version: 1})"
        ).consume()
    )
    state = counts.count_drift()
    found = decisions(state)
    assert found["missing"] == {str(project.pk): 1, str(other_project.pk): 1}
    assert found["outdated"] == {str(project.pk): 1}
    assert found["orphans"] == {"": 1}
    assert state["differs"]
    with pytest.raises(CommandError, match="differs"):
        call_command("check_graph", stdout=StringIO())
    call_command("check_graph", mend=True, stdout=StringIO())
    Worker().work_once()
    assert counts.count_drift()["differs"] is False


def test_all_of_it_is_kept_for_the_page(shown):
    assert leases.take(counts.COUNT, "me", 60)
    counts.count_now("me", "olga")
    assert decisions(counts.last_count()["graph"])["nodes"] == 3


def test_the_server_is_looked_at_with_its_version_and_schema():
    server = projection.graph_server()
    assert server.version.startswith("5.")
    assert (server.problem, server.schema) == ("", [])
    assert {finding.level for finding in projection.check_graph(server)} == {Level.OK}


def test_a_silent_server_ends_the_count_in_time_and_says_so(shown, settings, monkeypatch):
    monkeypatch.setattr(connection, "WRITE_SECONDS", 0.5)
    with socket.create_server(("127.0.0.1", 0)) as silent:
        settings.GRAPH_URL = f"bolt://127.0.0.1:{silent.getsockname()[1]}"
        connection.forget_connection()
        began = time.monotonic()
        state = counts.count_drift()
        assert time.monotonic() - began < 5
        assert "no answer within" in state["problem"]
        server = projection.graph_server()
        assert server.problem
        assert server.version == ""
