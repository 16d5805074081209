"""Whether a person's save waits for the worker: an edit through its page, without a worker and beside a busy one.

    DATABASE_URL=mysql://… GRAPH_URL=bolt://… python benchmarks/saves.py [--saves 200] [--delay 200]

Both databases may be empty; use ones that are nobody's. The worker is a process of its own with a backlog of new
records, and reaches Neo4j through a proxy that holds each word back. As worker and web share this machine's processors,
a third row has an encoder at work that knows no database: what a save takes longer beside the worker than beside that,
it waited for.
"""

import argparse
import io
import logging
import os
import random
import signal
import socket
import subprocess
import sys
import threading
import time
from contextlib import closing, contextmanager
from pathlib import Path

TOP = Path(__file__).resolve().parent.parent
sys.path.insert(0, str(TOP))
os.environ.setdefault("DJANGO_SETTINGS_MODULE", "memory_site.settings")

import django

django.setup()

from django.conf import settings
from django.core.management import call_command
from django.db.models import F
from django.test import Client

from benchmarks.pages import text
from benchmarks.timing import HEADER, Took, percentile, row
from decisions.actions import create_decisions
from decisions.models import Decision
from graph.address import parse_graph_url
from projects.models import Membership, Project, Role, User
from records.actor import Actor
from records.models import ProjectionMark

ROUNDS = 4
ENCODER = """
import django; django.setup()
from recall.vectors import configured_encoder
encoder, texts = configured_encoder(), [line for line in open(0)]
print("at work", flush=True)
while True:
    encoder.encode(texts)
"""


class SlowWay:
    """A TCP proxy to Neo4j that hands each piece on after `delay` seconds, either way."""

    def __init__(self, host: str, port: int, delay: float) -> None:
        self._target, self._delay = (host, port), delay
        self._listener = socket.create_server(("127.0.0.1", 0))
        self.port = self._listener.getsockname()[1]
        threading.Thread(target=self._accept, daemon=True).start()

    def _accept(self) -> None:
        while True:
            client, _ = self._listener.accept()
            server = socket.create_connection(self._target)
            for one, other in ((client, server), (server, client)):
                threading.Thread(target=self._pass_on, args=(one, other), daemon=True).start()

    def _pass_on(self, one: socket.socket, other: socket.socket) -> None:
        try:
            while piece := one.recv(1 << 16):
                time.sleep(self._delay)
                other.sendall(piece)
        except OSError:
            pass
        with closing(other):
            pass


class Person:
    """Edits the decisions of a project in turn, each time from the version that is there."""

    def __init__(self, project: Project) -> None:
        user, _ = User.objects.get_or_create(username="saves-benchmark")
        Membership.objects.get_or_create(project=project, user=user, defaults={"role": Role.CURATOR})
        self._client = Client()
        self._client.force_login(user)
        self._keys = list(Decision.objects.filter(project=project).values_list("pk", flat=True)[:50])
        self._slug, self._turn = project.slug, 0

    def save(self) -> tuple[float, float]:
        """Milliseconds on the clock and of this process."""
        self._turn += 1
        decision = Decision.objects.get(pk=self._keys[self._turn % len(self._keys)])
        fields = {
            "title": f"Saved {self._turn} {time.time_ns()}",
            "decision": decision.decision,
            "status": "accepted",
            "version": decision.version,
            "decided_on": "2026-01-05",
        }
        address = f"/p/{self._slug}/decisions/{decision.pk}/edit/"
        began, used = time.perf_counter(), time.process_time()
        answer = self._client.post(address, fields)
        took = (time.perf_counter() - began) * 1000, (time.process_time() - used) * 1000
        assert answer.status_code in (302, 303), f"{answer.status_code} {answer.content[:500]!r}"
        return took


def backlog(project: Project, count: int) -> None:
    rng = random.Random(time.time_ns())
    rows = [{"title": text(rng, 8), "decision": text(rng, 400)} for _ in range(count)]
    create_decisions(actor=Actor.command("benchmark"), project=project, rows=rows)


@contextmanager
def a_worker(graph_url: str):
    environment = {**os.environ, "GRAPH_URL": graph_url, "LOG_LEVEL": "ERROR"}
    process = subprocess.Popen(
        [sys.executable, "manage.py", "run_worker"], cwd=TOP, env=environment, stdout=subprocess.DEVNULL
    )
    while not ProjectionMark.objects.exclude(lease_token=None).exists():
        time.sleep(0.05)
    try:
        yield
    finally:
        process.send_signal(signal.SIGTERM)
        process.wait(90)


@contextmanager
def an_encoder():
    rng = random.Random(3)
    process = subprocess.Popen(
        [sys.executable, "-c", ENCODER], cwd=TOP, env={**os.environ, "PYTHONPATH": str(TOP)}, text=True,
        stdin=subprocess.PIPE, stdout=subprocess.PIPE,
    )  # fmt: skip
    process.stdin.write("\n".join(text(rng, 150) for _ in range(64)))
    process.stdin.close()
    assert process.stdout.readline() == "at work\n"
    try:
        yield
    finally:
        process.kill()
        process.wait()


@contextmanager
def nobody():
    yield


def took_of(took: list[tuple[float, float]]) -> Took:
    numbers = zip(*took, strict=True)
    return Took(*(percentile(one, part) for one in numbers for part in (0.5, 0.95)))


def main() -> None:
    parser = argparse.ArgumentParser(
        description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter
    )
    parser.add_argument("--saves", type=int, default=200, help="of each row of the table")
    parser.add_argument(
        "--delay", type=int, default=200, help="milliseconds that each word to and from Neo4j takes"
    )
    options = parser.parse_args()
    address = parse_graph_url(settings.GRAPH_URL)
    if address is None:
        parser.error("GRAPH_URL must name a Neo4j")
    settings.ALLOWED_HOSTS = ["*"]
    logging.disable(logging.INFO)
    call_command("migrate", verbosity=0)
    call_command("graph_setup", stdout=io.StringIO())
    host, _, port = address.uri.rpartition("/")[2].partition(":")
    slow = SlowWay(host, int(port or 7687), options.delay / 1000)
    graph_url = f"bolt://127.0.0.1:{slow.port}"
    project = Project.objects.create(name="Saves", slug=f"saves-{time.time_ns()}")
    backlog(project, 50)
    person = Person(project)
    for _ in range(10):
        person.save()
    beside = {
        "no worker": nobody,
        "an encoder at work, without a database": an_encoder,
        f"a worker embedding, Neo4j {2 * options.delay} ms away": lambda: a_worker(graph_url),
    }
    took: dict[str, list[tuple[float, float]]] = {what: [] for what in beside}
    still = []
    for _ in range(ROUNDS):  # in turn, so that the machine's moods meet all rows alike
        for what, company in beside.items():
            backlog(project, 200)
            with company():
                took[what] += [person.save() for _ in range(options.saves // ROUNDS)]
                still.append(ProjectionMark.objects.filter(embedded_version__lt=F("wanted_version")).count())
    print(f"{options.saves} saves a row; waiting to be embedded after each turn: {still}\n")
    print(HEADER)
    rows = {what: took_of(some) for what, some in took.items()}
    for what, one in rows.items():
        print(row(what, one))
    alone, encoder, worker = rows.values()
    print(f"\nworker to none: p50 {worker.wall50 / alone.wall50:.2f}, p95 {worker.wall95 / alone.wall95:.2f}")
    print(
        f"worker to an encoder: p50 {worker.wall50 / encoder.wall50:.2f}, p95 {worker.wall95 / encoder.wall95:.2f}"
    )


if __name__ == "__main__":
    main()
