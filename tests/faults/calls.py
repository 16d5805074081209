"""Calls over HTTP to the desk under test, and clients that write until each write is acknowledged."""

from __future__ import annotations

import http.client
import json
import os
import threading
import time
import uuid
from collections import Counter
from dataclasses import dataclass, field

PATIENCE = 20.0  # longer than any answer may take: what reaches it hangs


@dataclass
class Answer:
    """`status` 0: no answer at all, the connection was refused, cut or silent."""

    status: int
    seconds: float
    text: str = ""

    @property
    def data(self):
        return json.loads(self.text)


def call(port, method, path, body=None, headers=None):
    """One request on a connection of its own; never raises for what the network does."""
    began = time.monotonic()
    connection = http.client.HTTPConnection("127.0.0.1", port, timeout=PATIENCE)
    sent = None if body is None else json.dumps(body)
    try:
        kind = {} if sent is None else {"Content-Type": "application/json"}
        connection.request(method, path, sent, {**kind, **(headers or {})})
        answer = connection.getresponse()
        text = answer.read().decode(errors="replace")
        return Answer(answer.status, time.monotonic() - began, text)
    except (OSError, http.client.HTTPException):
        return Answer(0, time.monotonic() - began)
    finally:
        connection.close()


class Agent:
    """An agent of one project: calls of the API with its token."""

    def __init__(self, port, project_id, slug, token, pattern):
        self.port, self.project_id, self.slug = port, project_id, slug
        self.headers = {"Authorization": f"Bearer {token}"}
        self.pattern = pattern

    def send(self, method, path, body=None, **headers):
        named = {name.replace("_", "-"): value for name, value in headers.items()}
        return call(self.port, method, f"/api/v1{path}", body, {**self.headers, **named})

    def write(self, method, path, body, *, key="", seconds=60.0, answers=None, **headers):
        """Send with a key, the same key again until it is acknowledged; AssertionError where it never is."""
        key = key or uuid.uuid4().hex
        give_up_at = time.monotonic() + seconds
        while True:
            answer = self.send(method, path, body, Idempotency_Key=key, **headers)
            if answers is not None:
                answers.append(answer)
            if 200 <= answer.status < 300:
                return answer
            assert answer.status in (0, 409, 500, 502, 503), f"{method} {path}: {answer.status} {answer.text}"
            assert time.monotonic() < give_up_at, (
                f"{method} {path}: still {answer.status} after {seconds:g} s"
            )
            time.sleep(0.1)

    def decide(self, title, **fields):
        """The node id of a new decision."""
        body = {"title": title, "decision": f"Decided: {title}.", **fields}
        return self.write("POST", "/decisions", body).data["node_id"]


@dataclass
class Writers:
    """Clients that write at once. Each acknowledgement is on the disk, by fsync, before its client goes on."""

    agent: Agent
    file: str
    count: int = 4
    pause: float = 0.0  # between two writes of a client
    answers: list[Answer] = field(default_factory=list)
    problems: list[str] = field(default_factory=list)

    def __post_init__(self):
        self._stopping = threading.Event()
        self._lock = threading.Lock()
        self._threads = [
            threading.Thread(target=self._write_on, args=(number,), daemon=True)
            for number in range(self.count)
        ]

    def __enter__(self):
        for thread in self._threads:
            thread.start()
        return self

    def __exit__(self, *error):
        self._stopping.set()
        for thread in self._threads:
            thread.join(90)
            if thread.is_alive():
                self.problems.append("a client's write was never acknowledged")

    @property
    def acknowledged(self):
        """(what, key, node id) of each, as the disk has them."""
        if not os.path.exists(self.file):
            return []
        with open(self.file) as lines:
            return [tuple(line.split()) for line in lines]

    @property
    def statuses(self):
        return dict(sorted(Counter(answer.status for answer in self.answers).items()))

    @property
    def slowest(self):
        return max((answer.seconds for answer in self.answers), default=0.0)

    def _write_on(self, number):
        try:
            with open(self.file, "a") as disk:
                decision, turn = "", 0
                while not self._stopping.is_set():
                    what, path, body = self._next(number, turn, decision)
                    key = uuid.uuid4().hex
                    answer = self.agent.write(
                        "POST", path, body | {self._named(what): key}, key=key, answers=self.answers
                    )
                    node_id = answer.data["node_id"]
                    decision = node_id if what == "decision" else decision
                    with self._lock:
                        disk.write(f"{what} {key} {node_id}\n")
                        disk.flush()
                        os.fsync(disk.fileno())
                    turn += 1
                    self._stopping.wait(self.pause)
        except Exception as error:
            self.problems.append(f"{type(error).__name__}: {error}")

    def _next(self, number, turn, decision):
        """Rows, rows that refer to others, and a counter, which only a write applied once leaves right."""
        if turn % 4 == 2:
            return "outcome", f"/decisions/{decision}/outcomes", {"type": "success", "success_rate": 0.5}
        if turn % 4 == 3:
            return "vote", f"/patterns/{self.agent.pattern}/worked", {}
        return (
            "decision",
            "/decisions",
            {"decision": f"Client {number} caches order totals, for the {turn}th time."},
        )

    @staticmethod
    def _named(what):
        """The field that carries the key, so that the database tells how often a write was applied."""
        return "title" if what == "decision" else "note"
