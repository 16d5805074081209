"""Agents write and ask while people browse and review, for minutes, against a served desk: how long each act takes, what fails.

    DATABASE_URL=sqlite:////tmp/mixed.sqlite3 python benchmarks/mixed.py              # one process, its worker a thread of it
    DATABASE_URL=mysql://…/memory_desk_mixed python benchmarks/mixed.py               # the worker is a process of its own
    … python benchmarks/mixed.py --seconds 60 --agents 8 --people 8

The database (an own one; it must exist) is migrated and filled on the first run, with 10,000 decisions, and reused. Each
agent has a token of its own and acts twice a second, each person once; all from this process, which shares the machine
with the server. An answer that is not what the act expects is an error. Afterwards it waits until the last record
written is embedded. The results are in benchmarks/README.md.
"""

from __future__ import annotations

import argparse
import logging
import os
import random
import subprocess
import sys
import threading
import time
import uuid
from collections import defaultdict
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import Any

TOP = Path(__file__).resolve().parent.parent
sys.path.insert(0, str(TOP))
os.environ.setdefault("DJANGO_SETTINGS_MODULE", "memory_site.settings")

import django

django.setup()

import httpx
from django.conf import settings
from django.core.management import call_command
from django.db import connection

from benchmarks.browsing import signed_in
from benchmarks.pages import SLUG, fill
from benchmarks.texts import WORDS, text
from benchmarks.timing import percentile
from decisions.models import Decision
from projects.models import Project
from records.models import ProjectionMark

PORT, DRAINED_WITHIN = 8431, 300.0
BASE = f"http://127.0.0.1:{PORT}"
Act = Callable[[], httpx.Response]


class Client:
    """Somebody who acts until `until` (monotonic seconds), at most so often a second; keeps what each act took."""

    def __init__(self, number: int, a_second: float, headers: dict[str, str]) -> None:
        self.rng = random.Random(number)
        self.http = httpx.Client(base_url=BASE, headers=headers, timeout=60)
        self.pause = 1 / a_second
        self.took: dict[str, list[float]] = defaultdict(list)
        self.errors: list[str] = []

    def acts(self) -> dict[str, tuple[int, Act]]:
        """By name how often of all acts, and the act."""
        raise NotImplementedError

    def work(self, until: float) -> None:
        acts = self.acts()
        names, weights = list(acts), [weight for weight, _act in acts.values()]
        while (now := time.monotonic()) < until:
            name = self.rng.choices(names, weights)[0]
            self._do(name, acts[name][1])
            time.sleep(max(0.0, self.rng.uniform(0.5, 1.5) * self.pause - (time.monotonic() - now)))
        self.http.close()

    def _do(self, name: str, act: Act) -> None:
        began = time.perf_counter()
        try:
            answer = act()
            if answer.status_code not in (200, 201, 302, 303):
                self.errors.append(f"{name}: {answer.status_code} {answer.text[:200]!r}")
        except httpx.HTTPError as error:
            self.errors.append(f"{name}: {type(error).__name__} {error}")
        self.took[name].append((time.perf_counter() - began) * 1000)


class Agent(Client):
    def __init__(self, number: int) -> None:
        told = manage("make_token", "--project", SLUG, "--agent", f"bot-{number}", "--scopes", "read,write")
        super().__init__(number, 2.0, {"Authorization": f"Bearer {told.split()[-1]}"})

    def acts(self) -> dict[str, tuple[int, Act]]:
        return {
            "agent: writes a decision": (4, self._decide),
            "agent: writes a run": (2, self._run),
            "agent: writes a memory of a run": (1, self._remember),
            "agent: searches": (3, self._search),
            "agent: a context pack": (2, self._context),
            "agent: lists": (1, lambda: self.http.get("/api/v1/decisions", params={"status": "accepted"})),
        }

    def _post(self, path: str, body: dict[str, Any]) -> httpx.Response:
        key = {"Idempotency-Key": str(uuid.uuid4())}
        return self.http.post(f"/api/v1/{path}", json=body, headers=key)

    def _decide(self) -> httpx.Response:
        body = {"title": text(self.rng, 8), "decision": text(self.rng), "tags": self.rng.sample(WORDS, 2)}
        return self._post("decisions", body)

    def _run(self) -> httpx.Response:
        calls = [{"name": "look", "result": text(self.rng, 20), "duration_ms": 40} for _ in range(4)]
        payload = {"alert": text(self.rng, 6), "host": f"db-{self.rng.randrange(50)}"}
        body = {
            "trigger_type": "alert",
            "trigger_payload": payload,
            "status": "succeeded",
            "tool_calls": calls,
        }
        return self._post("runs", {"agent_name": "mixed", **body})

    def _remember(self) -> httpx.Response:
        return self._post("memories", {"summary": text(self.rng, 40)})

    def _search(self) -> httpx.Response:
        return self.http.get("/api/v1/search", params={"q": text(self.rng, 3), "limit": 5})

    def _context(self) -> httpx.Response:
        return self.http.post("/api/v1/context", json={"task": text(self.rng, 12), "budget": 1500})


class Person(Client):
    def __init__(self, number: int) -> None:
        session = signed_in().cookies[settings.SESSION_COOKIE_NAME].value
        super().__init__(100 + number, 1.0, {})
        self.http.cookies.set(settings.SESSION_COOKIE_NAME, session)
        self.http.get(
            f"/p/{SLUG}/decisions/"
        ).raise_for_status()  # its form brings the cookie against forgery
        self.keys = list(Decision.objects.filter(project__slug=SLUG).values_list("pk", flat=True)[:5000])

    def acts(self) -> dict[str, tuple[int, Act]]:
        return {
            "person: overview": (1, lambda: self._get("")),
            "person: list": (3, lambda: self._get("decisions/")),
            "person: list, unreviewed": (2, lambda: self._get("decisions/?review=unreviewed")),
            "person: a decision": (4, lambda: self._get(f"decisions/{self.rng.choice(self.keys)}/")),
            "person: inbox": (2, lambda: self._get("inbox/")),
            "person: searches": (2, lambda: self._get(f"search/?q={'+'.join(text(self.rng, 2).split())}")),
            "person: neighbourhood": (1, lambda: self._get(f"graph/?node=dec_{self.rng.choice(self.keys)}")),
            "person: approves": (2, self._approve),
        }

    def _get(self, path: str) -> httpx.Response:
        return self.http.get(f"/p/{SLUG}/{path}")

    def _approve(self) -> httpx.Response:
        token = self.http.cookies[settings.CSRF_COOKIE_NAME]
        return self.http.post(
            f"/p/{SLUG}/records/dec_{self.rng.choice(self.keys)}/review/",
            data={"state": "approved", "csrfmiddlewaretoken": token},
        )


def manage(*arguments: str) -> str:
    command = [sys.executable, str(TOP / "manage.py"), *arguments]
    return subprocess.run(command, cwd=TOP, capture_output=True, text=True, check=True).stdout


@contextmanager
def served() -> Iterator[None]:
    """The desk as it is deployed; on a server's database with a worker beside it."""
    environment = {**os.environ, "PORT": str(PORT), "LOG_LEVEL": "ERROR"}
    gunicorn = str(Path(sys.executable).with_name("gunicorn"))
    commands = [[gunicorn, "-c", "deploy/gunicorn.conf.py", "memory_site.wsgi"]]
    if connection.vendor != "sqlite":
        commands.append([sys.executable, "manage.py", "run_worker"])
    processes = [subprocess.Popen(command, cwd=TOP, env=environment) for command in commands]
    try:
        for _ in range(600):
            try:
                if httpx.get(f"{BASE}/healthz").status_code == 200:
                    break
            except httpx.HTTPError:
                time.sleep(0.1)
        else:
            raise SystemExit("The desk does not answer.")
        yield
    finally:
        for process in processes:
            process.terminate()
        for process in processes:
            process.wait(60)


def waiting() -> int:
    """Records whose newest version the worker has still to bring into vectors and graph."""
    return ProjectionMark.objects.filter(next_try_at__isnull=False, dead=False).count()


def main() -> int:
    parser = argparse.ArgumentParser(
        description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter
    )
    parser.add_argument("--seconds", type=float, default=300)
    parser.add_argument("--agents", type=int, default=4)
    parser.add_argument("--people", type=int, default=4)
    parser.add_argument("--decisions", type=int, default=10_000)
    options = parser.parse_args()
    logging.disable(logging.WARNING)
    settings.ALLOWED_HOSTS = ["*"]
    call_command("migrate", verbosity=0)
    if not Project.objects.filter(slug=SLUG).exists():
        fill(options.decisions)
    with served():
        clients: list[Client] = [Agent(number) for number in range(options.agents)]
        clients += [Person(number) for number in range(options.people)]
        until = time.monotonic() + options.seconds
        threads = [threading.Thread(target=client.work, args=(until,)) for client in clients]
        for thread in threads:
            thread.start()
        for thread in threads:
            thread.join()
        left, began = waiting(), time.monotonic()
        while (still := waiting()) and time.monotonic() - began < DRAINED_WITHIN:
            time.sleep(0.2)
        drained = f"{time.monotonic() - began:.1f} s later {still or 'none'} did"
    errors = tell(clients, options.seconds, f"{left} records waited for their vectors; {drained}")
    return 1 if errors or still else 0


def tell(clients: list[Client], seconds: float, afterwards: str) -> int:
    """The table, and how many acts failed."""
    took: dict[str, list[float]] = defaultdict(list)
    for client in clients:
        for name, some in client.took.items():
            took[name] += some
    errors = [error for client in clients for error in client.errors]
    count = sum(map(len, took.values()))
    print(f"\n{connection.vendor}: {count} acts in {seconds:.0f} s, {len(errors)} errors; milliseconds\n")
    print(f"| {'':<34} |  acts |   p50 |   p95 |   max |\n| {'-' * 34} | ----: | ----: | ----: | ----: |")
    whole = [("all", [one for some in took.values() for one in some])]
    for name, some in [*sorted(took.items()), *whole]:
        p50, p95, most = percentile(some, 0.5), percentile(some, 0.95), max(some)
        print(f"| {name:<34} | {len(some):5} | {p50:5.0f} | {p95:5.0f} | {most:5.0f} |")
    print(f"\nWhen the last act was done {afterwards}.")
    for error in errors[:20]:
        print(error)
    return len(errors)


if __name__ == "__main__":
    sys.exit(main())
