"""`/metrics`: what Prometheus gets, who gets it, and that several processes count as one server."""

import os
import re
import subprocess
import sys
import time
from datetime import timedelta
from pathlib import Path
from urllib.error import URLError
from urllib.request import Request, urlopen

import pytest
from django.db import OperationalError, connection
from django.test.utils import CaptureQueriesContext
from django.utils import timezone
from prometheus_client.parser import text_string_to_metric_families

from decisions.actions import create_decision
from memory_site import metrics
from records import leases
from records.leases import WORKER, Lease
from records.models import ProjectionMark
from records.reads import note_reads
from tests.e2e.real_desk import _free_port

pytestmark = [pytest.mark.mysql, pytest.mark.django_db]
TOP = Path(__file__).resolve().parents[2]


def samples(text):
    """(name, labels) -> value."""
    return {
        (sample.name, tuple(sorted(sample.labels.items()))): sample.value
        for family in text_string_to_metric_families(text)
        for sample in family.samples
    }


@pytest.fixture
def scrape(client):
    def ask():
        response = client.get("/metrics")
        assert response.status_code == 200
        assert response["Content-Type"].startswith("text/plain")
        return samples(response.content.decode())

    return ask


def test_queue_workers_and_what_was_given_up(scrape, agent, project):
    for n in range(3):
        create_decision(actor=agent, project=project, title=f"Use {n}", decision="x")
    first, second, third = ProjectionMark.objects.order_by("pk")
    ProjectionMark.objects.filter(pk=first.pk).update(wanted_at=timezone.now() - timedelta(seconds=90))
    ProjectionMark.objects.filter(pk=third.pk).update(dead=True)
    assert leases.take(WORKER + "box:1", "box:1", 60)
    Lease.objects.update(beat_at=timezone.now() - timedelta(seconds=7), state={"problem": "no encoder"})
    found = scrape()
    assert found["memory_desk_database_up", ()] == 1
    assert found["memory_desk_queue_depth", (("step", "embedding"),)] == 2
    assert 90 <= found["memory_desk_queue_age_seconds", (("step", "embedding"),)] < 150
    assert found["memory_desk_given_up", ()] == 1
    assert found["memory_desk_workers", ()] == 1
    assert 7 <= found["memory_desk_worker_heartbeat_age_seconds", (("worker", "box:1"),)] < 60
    assert found["memory_desk_worker_hindered", (("worker", "box:1"),)] == 1
    assert not [name for name, _labels in found if name.startswith("memory_desk_graph_away")]
    assert second.pk


def test_the_graph_and_its_breaker(scrape, settings, agent, project):
    from graph import connection as graph

    settings.GRAPH_URL = "bolt://127.0.0.1:1"
    create_decision(actor=agent, project=project, title="Use Redis", decision="x")
    assert scrape()["memory_desk_graph_away_seconds", ()] == 0
    try:
        graph.breaker.failed("refused")
        graph.breaker.away_since = timezone.now() - timedelta(seconds=30)
        found = scrape()
        assert found["memory_desk_graph_breaker_open", ()] == 1
        assert 30 <= found["memory_desk_graph_away_seconds", ()] < 90
        assert found["memory_desk_queue_depth", (("step", "graph"),)] == 1
    finally:
        graph.breaker.succeeded()
    assert scrape()["memory_desk_graph_breaker_open", ()] == 0


def test_requests_are_timed_by_route_and_nothing_of_a_visitors_making_is_a_label(client, scrape):
    def count(route, method="GET", status="2xx"):
        labels = (("method", method), ("route", route), ("status", status))
        return scrape().get(("memory_desk_request_seconds_count", labels), 0)

    before = count("healthz")
    client.get("/healthz")
    assert count("healthz") == before + 1
    client.get("/p/never-heard-of/")
    client.get("/wp-login.php?x=1")
    client.generic("BREW", "/healthz")
    client.get("/admin/projects/project/")
    text = client.get("/metrics").content.decode()
    for made_up in ("never-heard-of", "wp-login", "BREW"):
        assert made_up not in text
    assert re.search(r'_count\{method="GET",route="none",status="4xx"\} [1-9]', text)
    assert re.search(r'_count\{method="other",route="healthz",status="2xx"\} [1-9]', text)
    assert 'route="admin"' in text
    assert 'le="0.25"' in text


def test_the_operations_guide_names_what_there_is(scrape, settings, agent, project):
    settings.GRAPH_URL = "bolt://127.0.0.1:1"
    create_decision(actor=agent, project=project, title="Use Redis", decision="x")
    assert leases.take(WORKER + "box:1", "box:1", 60)
    scrape()
    ending = re.compile(r"_(bucket|count|sum|created)$")
    there = {ending.sub("", name) for name, _labels in scrape()} - {"memory_desk_reads_lost"}
    text = (TOP / "docs/operations.md").read_text(encoding="utf-8")
    named = {ending.sub("", name) for name in re.findall(r"memory_desk_[a-z_]+\b", text)}
    assert named == there


def test_a_request_that_cannot_be_counted_is_answered(client, monkeypatch):
    def no_room():
        raise OSError(28, "No space left on device")

    monkeypatch.setattr(metrics, "meters", no_room)
    assert client.get("/healthz").status_code == 200


def test_reads_that_were_lost_are_counted_once(scrape, agent, monkeypatch):
    from records import reads

    before = scrape().get(("memory_desk_reads_lost_total", ()), 0)
    monkeypatch.setattr(reads, "CAPACITY", 2)
    note_reads(["dec_1", "dec_2", "dec_3", "dec_4", "dec_5"], actor=agent, door="api")
    for _ in range(2):
        found = scrape()
        assert found["memory_desk_reads_lost_total", ()] == before + 3
        assert found["memory_desk_reads_waiting", ()] == 2


def test_a_database_that_is_away_is_said_and_the_rest_answered(client, monkeypatch):
    def away():
        raise OperationalError(2002, "Can't connect")

    monkeypatch.setattr(metrics.projection, "queue", away)
    found = samples(client.get("/metrics").content.decode())
    assert found["memory_desk_database_up", ()] == 0
    assert ("memory_desk_reads_waiting", ()) in found


def test_a_scrape_asks_little_whatever_the_queue(client, agent, project):
    def queries():
        with CaptureQueriesContext(connection) as captured:
            client.get("/metrics")
        return len(captured)

    few = queries()
    for n in range(5):
        create_decision(actor=agent, project=project, title=f"Use {n}", decision="x")
    assert queries() == few <= 6


# --- Who gets it -------------------------------------------------------------------------------------------------
@pytest.mark.parametrize(
    ("address", "status"),
    [
        ("127.0.0.1", 200),
        ("127.8.8.8", 200),
        ("::1", 200),
        ("10.0.0.7", 403),
        ("::ffff:10.0.0.7", 403),
        ("", 403),
    ],
)
def test_without_a_token_only_this_machine(client, address, status):
    assert client.get("/metrics", REMOTE_ADDR=address).status_code == status


@pytest.mark.parametrize("header", ["X-Forwarded-For", "Forwarded", "X-Real-IP", "Via"])
def test_nobody_through_a_proxy_of_this_machine(client, header, settings):
    assert client.get("/metrics", headers={header: "203.0.113.9"}).status_code == 403
    settings.TRUSTED_PROXIES = 1
    assert client.get("/metrics").status_code == 403


def test_with_a_token_who_has_it(client, settings):
    settings.METRICS_TOKEN = "a-long-enough-token"
    for given in (None, "", "Bearer", "Bearer wrong", "Bearer a-long-enough-tokén", "a-long-enough-token"):
        headers = {} if given is None else {"Authorization": given}
        response = client.get("/metrics", headers=headers)
        assert (response.status_code, response["WWW-Authenticate"]) == (401, "Bearer")
    headers = {"Authorization": "Bearer a-long-enough-token", "X-Forwarded-For": "203.0.113.9"}
    assert client.get("/metrics", REMOTE_ADDR="10.0.0.7", headers=headers).status_code == 200


# --- Several processes -------------------------------------------------------------------------------------------
def ask(url, seconds=60):
    give_up_at = time.monotonic() + seconds
    while True:
        try:
            with urlopen(Request(url, headers={"Connection": "close"}), timeout=60) as answer:
                return answer.read().decode()
        except URLError:
            if time.monotonic() > give_up_at:
                raise
            time.sleep(0.1)


@pytest.mark.slow
@pytest.mark.skipif("connection.vendor == 'sqlite'", reason="SQLite is served by one process")
@pytest.mark.django_db(transaction=True)
def test_two_processes_answer_as_one_server(tmp_path):
    port, number = _free_port(), 40
    database = connection.settings_dict
    url = f"mysql://{database['USER']}:{database['PASSWORD']}@{database['HOST']}:{database['PORT']}/{database['NAME']}"
    environment = {
        **os.environ, "DATABASE_URL": url, "GRAPH_URL": "", "DATA_DIR": str(tmp_path), "PORT": str(port),
        "WEB_PROCESSES": "2", "WEB_THREADS": "2", "TMPDIR": str(tmp_path), "LOG_LEVEL": "ERROR",
    }  # fmt: skip
    command = [sys.executable, "-m", "gunicorn", "-c", "deploy/gunicorn.conf.py", "memory_site.wsgi"]
    server = subprocess.Popen(command, cwd=TOP, env=environment)
    try:
        base = f"http://127.0.0.1:{port}"
        ask(f"{base}/healthz")
        for _ in range(number):
            ask(f"{base}/healthz")
        labels = (("method", "GET"), ("route", "healthz"), ("status", "2xx"))
        for _ in range(6):  # whichever process answers
            found = samples(ask(f"{base}/metrics"))
            assert found["memory_desk_request_seconds_count", labels] == number + 1
        pids = {name.split("_")[-1] for name in os.listdir(next(tmp_path.glob("memory-desk-metrics-*")))}
        assert len(pids) == 2, "both processes answered"
    finally:
        server.terminate()
        server.wait(timeout=30)
    assert not list(tmp_path.glob("memory-desk-metrics-*"))
