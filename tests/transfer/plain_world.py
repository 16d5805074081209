"""A plain source as years leave it: ordinary rows in bulk, and a few odd ones of every sort."""

from __future__ import annotations

import os
from datetime import datetime, timedelta
from pathlib import Path
from urllib.parse import urlsplit

import pymysql
from django.db import connection

SCHEMA = [part for part in (Path(__file__).parent / "plain.sql").read_text().split(";\n") if part.strip()]
START = datetime(2021, 1, 4, 9, 30)
PROJECTS = (1, 2, 7, 40)


def server_url() -> str | None:
    """The tests' MySQL or MariaDB: that of the desk where it is one, else TEST_MYSQL_URL."""
    if connection.vendor == "mysql":
        kept = connection.settings_dict
        return f"mysql://{kept['USER']}:{kept['PASSWORD']}@{kept['HOST']}:{kept['PORT']}/"
    return os.environ.get("TEST_MYSQL_URL")


class PlainSource:
    """A database of its own on that server, made and dropped by the test."""

    def __init__(self, url: str, suffix: str = "plain") -> None:
        parts = urlsplit(url)
        own = connection.settings_dict["NAME"] if connection.vendor == "mysql" else f"test_{os.getpid()}"
        self.name = f"{own}_{suffix}"
        self.url = f"mysql://{parts.username}:{parts.password}@{parts.hostname}:{parts.port}/{self.name}"
        self.client = pymysql.connect(
            host=parts.hostname, port=parts.port, user=parts.username, password=parts.password, autocommit=True,
            charset="utf8mb4",
        )  # fmt: skip
        self.run(f"DROP DATABASE IF EXISTS {self.name}", f"CREATE DATABASE {self.name}", f"USE {self.name}")
        self.run("SET SESSION sql_mode = ''", *SCHEMA)

    def run(self, *statements: str, arguments: tuple | None = None) -> list:
        with self.client.cursor() as cursor:
            for statement in statements:
                cursor.execute(statement, arguments)
            return list(cursor.fetchall()) if cursor.description else []

    def many(self, statement: str, rows: list[tuple]) -> None:
        with self.client.cursor() as cursor:
            for start in range(0, len(rows), 1000):
                cursor.executemany(statement, rows[start : start + 1000])

    def checksums(self) -> list:
        names = "architecture_decisions, code_patterns, work_sessions, pitfalls"
        return self.run(f"CHECKSUM TABLE {names}")

    def drop(self) -> None:
        self.run(f"DROP DATABASE {self.name}")
        self.client.close()


def fill(source: PlainSource, rows: int) -> None:
    """So many ordinary rows in all: two of five decisions, one of five each other table."""
    each = rows // 5
    source.many(
        "INSERT INTO architecture_decisions (project_id, title, decision, rationale, alternatives_considered, status,"
        " decided_at, tags, author) VALUES (%s, %s, %s, %s, %s, %s, %s, %s, %s)",
        [
            (PROJECTS[n % 4], f"Decision {n}: queue for order events 🚀", f"Use a queue of kind {n % 17}. " * 8,
             f"Because of load {n}. Größer als gedacht.", "Cron, café", ("accepted", "rejected", "pending")[n % 3],
             START + timedelta(hours=3 * n), f'["queue", "kind-{n % 17}"]', "ada")
            for n in range(2 * each)
        ],
    )  # fmt: skip
    source.many(
        "INSERT INTO code_patterns (project_id, category, name, description, code_example, language, confidence_score,"
        " usage_count, created_at, updated_at) VALUES (%s, %s, %s, %s, %s, %s, %s, %s, %s, %s)",
        [
            (PROJECTS[n % 4], f"category-{n % 9}", f"Pattern {n}", "Ask first. " * 5, f"def f{n}(): ...", "python",
             (n % 101) / 100, n, START + timedelta(hours=n), START + timedelta(hours=n + 5))
            for n in range(each)
        ],
    )  # fmt: skip
    source.many(
        "INSERT INTO work_sessions (session_id, project_id, started_at, ended_at, summary, context)"
        " VALUES (%s, %s, %s, %s, %s, %s)",
        [
            (f"ses-{n}", PROJECTS[n % 4], START + timedelta(hours=n), START + timedelta(hours=n + 1), f"Worked on {n}",
             f'{{"branch": "b{n}", "open": [1, 2.5, null]}}')
            for n in range(each)
        ],
    )  # fmt: skip
    source.many(
        "INSERT INTO pitfalls (project_id, category, title, description, how_to_avoid, severity, encountered_count,"
        " created_at) VALUES (%s, %s, %s, %s, %s, %s, %s, %s)",
        [
            (PROJECTS[n % 4], "caching", f"Pitfall {n}", "It stampedes. " * 4, "Jitter.",
             ("critical", "high", "medium", "low")[n % 4], n % 30, START + timedelta(hours=n))
            for n in range(each)
        ],
    )  # fmt: skip


def fill_odd(source: PlainSource) -> dict[str, int]:
    """Odd rows after the others; answers their ids by what is odd about them."""
    ids: dict[str, int] = {}

    def add(oddity: str, table: str, **values: object) -> None:
        columns, marks = ", ".join(values), ", ".join(["%s"] * len(values))
        with source.client.cursor() as cursor:
            cursor.execute(f"INSERT INTO {table} ({columns}) VALUES ({marks})", tuple(values.values()))
            ids[oddity] = cursor.lastrowid

    decisions, patterns, sessions, pitfalls = (
        "architecture_decisions", "code_patterns", "work_sessions", "pitfalls",
    )  # fmt: skip
    add("zero date", decisions, project_id=1, title="Zero", decision="x", decided_at="0000-00-00 00:00:00")
    add("no date", decisions, project_id=1, title="None", decision="x", decided_at=None, status=None)
    add("no project", decisions, project_id=None, title="Nobody's", decision="x")
    add("long title", decisions, project_id=1, title="Long " * 90, decision="x")
    add("long text", decisions, project_id=1, title="Book", decision="ß" * 700_000)
    add("status in other words", decisions, project_id=1, title="W", decision="x", status="Approved")
    add("unknown status", decisions, project_id=1, title="U", decision="x", status="zorp")
    add("words for tags", decisions, project_id=1, title="T", decision="x", tags="redis, cache , redis")
    add("odd tags", decisions, project_id=1, title="T", decision="x", tags='{"a": 1}')
    add("empty", decisions, project_id=1, title=None, decision=" ")
    add("no title", decisions, project_id=1, title="", decision="Say it in the\ntext.")
    add("float", patterns, project_id=1, category="c", name="F", confidence_score=0.9)
    add("precise float", patterns, project_id=1, category="c", name="F", confidence_score=0.1234567)
    add("out of range", patterns, project_id=1, category="c", name="R", confidence_score=85, usage_count=-3)
    add("many uses", patterns, project_id=1, category="c" * 80, name="M", usage_count=2**40, created_at=None)
    add("duplicate", sessions, session_id="ses-0", project_id=2, started_at=START)
    add("no session id", sessions, session_id=None, project_id=2, started_at=None)
    add("emoji", sessions, session_id="ses-🐛", project_id=2, started_at=START, context="{broken")
    add("long session id", sessions, session_id="s" * 300, project_id=2, started_at=START, context="NaN")
    add("no severity", pitfalls, project_id=99, category="c", title="S", severity=None)
    add("bad severity", pitfalls, project_id=99, category="", title="S", severity="apocalyptic")
    source.run(
        f"INSERT INTO {sessions} (session_id, project_id, summary) VALUES ('ses-nul', 2, CONCAT('a', CHAR(0), 'b'))"
    )
    return ids
