"""Whoever only looks hears that Neo4j is back: no banner stays because nobody opened the graph page."""

import threading
import time

import pytest

from decisions.actions import create_decision
from desk.context import Desk
from graph import connection
from graph.queries import graph_lag
from graph.store import GraphAway
from graph.worker import Worker
from records.models import ProjectionMark

pytestmark = pytest.mark.django_db


@pytest.fixture
def away(settings):
    settings.GRAPH_URL = "bolt://127.0.0.1:1"
    connection.breaker.failed("refused")
    yield connection.breaker
    connection.breaker.succeeded()


def until_probed():
    for thread in threading.enumerate():
        if thread.name == "memory-desk-graph-probe":
            thread.join(10)


def test_during_the_pause_nobody_is_asked(away, monkeypatch):
    asked = []
    monkeypatch.setattr(connection, "fetch", lambda *given, **options: asked.append(1))
    away._retry_at = time.monotonic() + 60
    for _ in range(3):
        assert graph_lag().away_since is not None
    until_probed()
    assert asked == []


@pytest.mark.parametrize("look", [lambda: graph_lag(), lambda: Worker()._state()])
def test_after_the_pause_whoever_looks_has_it_asked_and_does_not_wait(away, monkeypatch, look):
    answer = threading.Event()
    asked = []

    def slow(*given, **options):
        asked.append(1)
        answer.wait(5)
        return [(1,)]

    monkeypatch.setattr(connection, "fetch", slow)
    away._retry_at = 0.0
    began = time.monotonic()
    look()
    assert time.monotonic() - began < 3  # of the 5 that a wait would take
    look()
    answer.set()
    until_probed()
    assert asked == [1]  # one asks for all
    assert away.away_since is None
    assert graph_lag().away_since is None


def test_the_banner_goes_with_it(away, monkeypatch, rf, project):
    request = rf.get("/p/shop/")
    request.project, request.resolver_match = project, None
    monkeypatch.setattr(connection, "fetch", lambda *given, **options: [(1,)])
    away._retry_at = time.monotonic() + 60
    assert "Graph away since" in str(Desk(request).notices)
    away._retry_at = 0.0
    graph_lag()
    until_probed()
    assert Desk(request).notices == []


class Away:
    is_away, away_since = False, None

    def project(self, records, gone, versions):
        raise GraphAway("refused")


def test_what_waits_for_the_graph_is_not_counted_as_done_each_time(agent, project):
    create_decision(actor=agent, project=project, title="Use Redis", decision="Cache totals.")
    worker = Worker(Away())
    for _ in range(3):
        worker.work_once()
    assert ProjectionMark.objects.get().embedded_version == 1
    assert worker._state()["done"] == 0


def test_one_that_still_does_not_answer_stays_away_since_then(away, monkeypatch):
    def refused(*given, **options):
        raise OSError("refused")

    monkeypatch.setattr(connection, "fetch", refused)
    since, away._retry_at = away.away_since, 0.0
    graph_lag()
    until_probed()
    assert graph_lag().away_since == since
    assert away.is_open
