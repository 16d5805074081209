"""The desk under the work that other memory services were measured on: the same texts, client and order of steps.

    cp -r ../shared/peers /tmp/peers        # it writes its results beside its scripts
    PEERS=/tmp/peers python benchmarks/peers.py                      # SQLite, one process, as `make run` serves it
    PEERS=/tmp/peers DESK=mysql://…/memory_desk_peers python benchmarks/peers.py   # an own, empty database; worker beside

Each text is one decision, written with an `Idempotency-Key`, as an agent should. Lists are asked with the cursors of
their pages, which are walked once before they are timed. `searchable per second` counts from the first write until the
worker has embedded the last. The results are in benchmarks/README.md.
"""

from __future__ import annotations

import os
import re
import sqlite3
import subprocess
import sys
from pathlib import Path
from typing import Any
from urllib.parse import parse_qs, urlsplit

TOP = Path(__file__).resolve().parent.parent
PEERS = Path(os.environ.get("PEERS", "/tmp/peers"))
sys.path.insert(0, str(PEERS))

from bench_common import ROOT, Peer, run_http  # type: ignore[import-not-found]

PORT = 8420
BULK = 200
MARKS = "SELECT COUNT(*) FROM projection_marks WHERE embedded_version >= wanted_version AND NOT dead"


class Desk(Peer):  # type: ignore[misc]
    name = "memory-desk-mysql" if "DESK" in os.environ else "memory-desk"
    base = f"http://127.0.0.1:{PORT}"
    ready_path = "/healthz"
    page_size = 50
    bulk_size = BULK
    data = str(ROOT / "home" / name)
    token = ""
    cursors: list[str]
    texts: dict[str, str]  # by node id, the text's own id
    worker: Any = None

    @property
    def environment(self) -> dict[str, str]:
        database = os.environ.get("DESK", f"sqlite:///{self.data}/desk.sqlite3")
        return {"DATABASE_URL": database, "DATA_DIR": self.data, "PORT": str(PORT), "LOG_LEVEL": "WARNING"}

    def manage(self, *arguments: str) -> str:
        command = [sys.executable, str(TOP / "manage.py"), *arguments]
        done = subprocess.run(command, env={**os.environ, **self.environment}, capture_output=True, text=True)
        if done.returncode:
            raise SystemExit(done.stderr)
        return done.stdout

    def command(self) -> tuple[list[str], dict[str, str], str]:
        if not self.token:
            self.manage("migrate", "--verbosity=0")
            self.manage("shell", "--no-imports", "-c", MAKE_PROJECT)
            self.token = self.manage("make_token", "--project", "peers", "--scopes", "read,write").split()[-1]
            Peer.headers = {"Authorization": f"Bearer {self.token}"}
        return (
            [str(Path(sys.executable).with_name("gunicorn")), "-c", "deploy/gunicorn.conf.py", "memory_site.wsgi"],
            self.environment,
            str(TOP),
        )  # fmt: skip

    def start(self) -> float:
        took: float = super().start()
        if "DESK" in os.environ:
            arguments = [sys.executable, str(TOP / "manage.py"), "run_worker"]
            self.worker = subprocess.Popen(arguments, env={**os.environ, **self.environment})
        return took

    def stop(self) -> None:
        super().stop()
        if self.worker is not None:
            self.worker.terminate()
            self.worker.wait(30)
            self.worker = None

    def after_start(self, client: Any) -> None:
        self.cursors, self.texts = [], {}

    def store(self, client: Any, item: dict[str, Any]) -> str | None:
        answer = client.post("/api/v1/decisions", json=body(item), headers={"Idempotency-Key": item["id"]})
        if answer.status_code != 201:
            return None
        node_id = str(answer.json()["node_id"])
        self.texts[node_id] = item["id"]
        return node_id

    def bulk(self, client: Any, items: list[dict[str, Any]]) -> int:
        self.cursors = []
        answer = client.post("/api/v1/decisions/bulk", json={"items": [body(item) for item in items]})
        answer.raise_for_status()
        told = answer.json()
        self.texts |= {
            result["node_id"]: item["id"] for item, result in zip(items, told["results"], strict=True)
        }
        return int(told["written"])

    def list(self, client: Any, page: int) -> int:
        if not self.cursors:
            self._walk(client)
        return self._page(client, self.cursors[min(page, len(self.cursors)) - 1])[0]

    def _walk(self, client: Any) -> None:
        cursor: str | None = ""
        while cursor is not None:
            self.cursors.append(cursor)
            cursor = self._page(client, cursor)[1]

    def _page(self, client: Any, cursor: str) -> tuple[int, str | None]:
        asked = {"page_size": self.page_size} | ({"cursor": cursor} if cursor else {})
        answer = client.get("/api/v1/decisions", params=asked)
        answer.raise_for_status()
        told = answer.json()
        following = parse_qs(urlsplit(told["next"]).query)["cursor"][0] if told["next"] else None
        return len(told["results"]), following

    def search(self, client: Any, text: str) -> list[str]:
        answer = client.get("/api/v1/search", params={"q": re.sub(r"[:\"]", " ", text), "limit": 5})
        answer.raise_for_status()
        return [self.texts.get(one["node_id"], "") for one in answer.json()["results"]]

    def indexed(self) -> int:
        if "DESK" not in os.environ:
            with sqlite3.connect(f"file:{self.data}/desk.sqlite3?mode=ro", uri=True, timeout=30) as database:
                return int(database.execute(MARKS).fetchone()[0])
        return int(self.manage("shell", "--no-imports", "-c", COUNT_MARKS))


MAKE_PROJECT = """
from projects.actions import create_project
from projects.manager import Manager
from projects.models import Project
Project.objects.filter(slug="peers").exists() or create_project(by=Manager.command("peers"), name="peers", slug="peers")
"""
COUNT_MARKS = f"""
from django.db import connection
with connection.cursor() as cursor:
    cursor.execute({MARKS!r})
    print(cursor.fetchone()[0])
"""


def body(item: dict[str, Any]) -> dict[str, Any]:
    return {"title": item["title"], "decision": item["text"], "tags": item["tags"]}


if __name__ == "__main__":
    run_http(Desk(), *(int(number) for number in sys.argv[1:3] or ("1000", "10000")))
