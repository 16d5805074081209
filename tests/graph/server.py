"""The real Neo4j of these tests: found by TEST_NEO4J_URL; each test empties it."""

from __future__ import annotations

import fcntl
import os
import tempfile
from functools import cache
from pathlib import Path

import pytest
from django.conf import settings

from records.kinds import graph_kinds


def rows_of():
    """(node id, record) of every record that belongs in the graph."""
    return {record.node_id: record for kind in graph_kinds() for record in kind.model.objects.all()}


def show_everything(before=None):
    """Project all rows of the test's database; answers how many there were."""
    from graph.projector import Neo4jProjector

    records = rows_of()
    if before != len(records):
        Neo4jProjector().project(list(records.values()), (), dict.fromkeys(records, 1))
    return len(records)


@pytest.fixture(scope="session")
def graph_address():
    url = os.environ.get("TEST_NEO4J_URL")  # never GRAPH_URL: these tests empty the graph
    if not url:
        pytest.skip("needs a Neo4j: TEST_NEO4J_URL")
    _alone(url)
    return url


@cache
def _alone(url):
    """One graph, so one process at a time: a second one would empty it under the first. Held until this one ends."""
    lock = open(Path(tempfile.gettempdir()) / f"memory-desk-tests-{url.rpartition(':')[2]}.lock", "w")  # noqa: SIM115
    fcntl.flock(lock, fcntl.LOCK_EX)
    return lock


@pytest.fixture(scope="session")
def graph_schema(graph_address):
    from graph.connection import forget_connection
    from graph.nodes import install_schema

    kept, settings.GRAPH_URL = settings.GRAPH_URL, graph_address
    forget_connection()
    install_schema()
    settings.GRAPH_URL = kept  # other tests of the session have no graph


@pytest.fixture
def clean_graph(graph_schema, db, monkeypatch, settings, graph_address):
    """Neo4j without the records that this test made, before it and after it. Ids of a rolled-back test come again."""
    from graph import connection, cypher_writes

    settings.GRAPH_URL = graph_address
    monkeypatch.setattr(connection, "READ_SECONDS", 20.0)  # a loaded machine plans statements for longer
    connection.forget_connection()

    def empty():
        connection.breaker.succeeded()
        while connection.write(lambda tx: cypher_writes.delete_some(tx, 2000)):
            pass

    empty()
    yield
    settings.GRAPH_URL = graph_address
    connection.forget_connection()
    empty()
