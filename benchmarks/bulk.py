"""Many records in one call: seconds, processor time and statements of `POST /api/v1/<kind>/bulk` for each kind.

    DATABASE_URL=mysql://…/memory_desk_bulk python benchmarks/bulk.py [--items 1000] [--rounds 3]

The database (an own one; it must exist) is migrated and grows with every round; the middle one of the rounds is told. The
call is answered in this process, as a web process would answer it; a run has a payload, six tool calls and a summary.
Sessions and runs are also sent again: the sessions with another summary, the runs as they were. The results are in
benchmarks/README.md.
"""

from __future__ import annotations

import argparse
import logging
import os
import random
import sys
import time
import uuid
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import Any

sys.path.insert(0, str(Path(__file__).resolve().parent.parent))
os.environ.setdefault("DJANGO_SETTINGS_MODULE", "memory_site.settings")

import django

django.setup()

from django.conf import settings
from django.core.management import call_command
from django.db import connection
from django.test import Client

from benchmarks.texts import text
from decisions.actions import create_decisions
from projects.models import AgentToken, Project
from projects.tokens import digest_of, new_token_text
from records.actor import Actor

Items = list[dict[str, Any]]
STEP = {"arguments": {"host": "db-2", "window": "15m"}, "duration_ms": 120}


class Writer:
    """What an agent sends, each time new."""

    def __init__(self, project: Project, count: int) -> None:
        self._rng, self._count = random.Random(time.time_ns()), count
        rows = [{"title": self._text(8), "decision": self._text(60)} for _ in range(100)]
        made = create_decisions(actor=Actor.command("benchmark"), project=project, rows=rows)
        self._decisions = [decision.node_id for decision in made]

    def _text(self, words: int) -> str:
        return text(self._rng, words)

    def _each(self, one: Callable[[], dict[str, Any]]) -> Items:
        return [one() for _ in range(self._count)]

    def decisions(self) -> Items:
        return self._each(lambda: {"title": self._text(8), "decision": self._text(60), "tags": ["redis"]})

    def runs(self) -> Items:
        return self._each(
            lambda: {
                "id": str(uuid.uuid4()),
                "agent_version": "1.4.0",
                "trigger_type": "alert",
                "trigger_payload": {"alert": self._text(6), "labels": {"host": "db-2", "zone": "a"}, "n": 7},
                "status": "succeeded",
                "started_at": "2026-11-29T10:00:00Z",
                "ended_at": "2026-11-29T10:04:00Z",
                "tool_calls": [{"name": f"step_{n}", "result": self._text(12), **STEP} for n in range(6)],
                "outcome": {"did": self._text(10)},
                "token_cost": 5120,
                "summary": self._text(30),
            }
        )

    def memories(self) -> Items:
        return self._each(lambda: {"summary": self._text(30), "tags": ["mysql"]})

    def outcomes(self) -> Items:
        return self._each(
            lambda: {"decision": self._rng.choice(self._decisions), "type": "outage", "note": self._text(20)}
        )

    def sessions(self) -> Items:
        return self._each(lambda: {"session_id": uuid.uuid4().hex[:12], "context": {"step": self._text(4)}})


class Caller:
    def __init__(self, project: Project) -> None:
        token = new_token_text()
        AgentToken.objects.create(
            name="bulk", agent_name="bulk", digest=digest_of(token), scopes=["read", "write"]
        ).projects.add(project)
        self._client, self._headers = Client(), {"Authorization": f"Bearer {token}"}

    def send(self, plural: str, items: Items) -> tuple[float, float, int]:
        """Seconds on the clock, seconds of this process, statements."""
        began, used = time.perf_counter(), time.process_time()
        with statements() as count:
            answer = self._client.post(
                f"/api/v1/{plural}/bulk", {"items": items}, "application/json", headers=self._headers
            )
        took = time.perf_counter() - began, time.process_time() - used, count[0]
        assert answer.status_code == 200, answer.content[:500]
        assert answer.json()["written"] == len(items), answer.content[:500]
        return took


@contextmanager
def statements() -> Iterator[list[int]]:
    count = [0]

    def counted(execute: Any, sql: Any, params: Any, many: Any, context: Any) -> Any:
        count[0] += 1
        return execute(sql, params, many, context)

    with connection.execute_wrapper(counted):
        yield count


def round_of(writer: Writer, caller: Caller) -> Iterator[tuple[str, tuple[float, float, int]]]:
    for plural in ("decisions", "runs", "memories", "outcomes", "sessions"):
        items = getattr(writer, plural)()
        yield plural, caller.send(plural, items)
        if plural == "sessions":
            items = [{**item, "summary": f"Done {number}."} for number, item in enumerate(items)]
        if plural in ("runs", "sessions"):
            yield f"{plural}, sent again", caller.send(plural, items)


def main() -> None:
    parser = argparse.ArgumentParser(
        description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter
    )
    parser.add_argument("--items", type=int, default=1_000, help="of each call")
    parser.add_argument("--rounds", type=int, default=3)
    options = parser.parse_args()
    settings.ALLOWED_HOSTS = ["*"]
    logging.disable(logging.WARNING)
    call_command("migrate", verbosity=0)
    project = Project.objects.create(name="Bulk", slug=f"bulk-{time.time_ns()}")
    writer, caller = Writer(project, options.items), Caller(project)
    took: dict[str, list[tuple[float, float, int]]] = {}
    for _ in range(options.rounds):
        for what, one in round_of(writer, caller):
            took.setdefault(what, []).append(one)
    print(f"{options.items:,} items a call, {connection.vendor}\n")
    print(
        f"| {'':<20} | seconds | CPU seconds | statements |\n| {'-' * 20} | ------: | ----------: | ---------: |"
    )
    for what, calls in took.items():
        seconds, cpu, asked = (sorted(numbers)[len(calls) // 2] for numbers in zip(*calls, strict=True))
        print(f"| {what:<20} | {seconds:7.1f} | {cpu:11.1f} | {asked:10,} |")


if __name__ == "__main__":
    main()
