"""Other tools write and read these tables with plain SQL: the statements run unchanged, by a plain client.

On MySQL and MariaDB only (SQLite has no DATE_SUB). The client is PyMySQL with its own connection and the server's own
time zone, so nothing of ours (drivers, sessions, defaults in Python) can help.
"""

from datetime import UTC, datetime, timedelta
from pathlib import Path

import pymysql
import pytest
from django.db import connection

from decisions.models import Decision
from patterns.models import Pattern
from pitfalls.models import Pitfall
from projects.models import Project
from records.models import ProjectionMark, Revision
from records.sweep import sweep
from runs.models import Memory, Run
from work_sessions.models import WorkSession

pytestmark = [
    pytest.mark.database,
    pytest.mark.zone,
    pytest.mark.django_db(transaction=True),
    pytest.mark.skipif(connection.vendor != "mysql", reason="statements in MySQL's dialect"),
]
STATEMENTS = [
    statement.strip()
    for statement in (Path(__file__).parent / "statements.sql").read_text().split(";\n")
    if statement.strip()
]


@pytest.fixture
def client():
    settings = connection.settings_dict
    plain = pymysql.connect(
        host=settings["HOST"], port=int(settings["PORT"]), user=settings["USER"], password=settings["PASSWORD"],
        database=settings["NAME"], autocommit=True, charset="utf8mb4",
    )  # fmt: skip
    yield plain
    plain.close()


@pytest.fixture
def project_one():
    return Project.objects.create(id=1, name="Shop", slug="shop")


def run_all(client) -> list:
    answers = []
    with client.cursor() as cursor:
        for statement in STATEMENTS:
            cursor.execute(statement)
            if statement.startswith("SELECT"):
                answers.append(cursor.fetchall())
    return answers


def test_every_statement_runs_unchanged_and_answers(client, project_one):
    decisions, patterns, pitfalls, contexts = run_all(client)
    assert [row[:3] for row in decisions] == [("Use FastAPI", "Serve the API with FastAPI.", "Async first.")]
    assert patterns == ()
    assert [row[0] for row in pitfalls] == ["Stampede on expiry"]
    assert contexts == ((None,),)


def test_defaults_come_from_the_database_in_utc_whatever_the_servers_zone(client, project_one):
    before = datetime.now(UTC) - timedelta(seconds=2)
    run_all(client)
    after = datetime.now(UTC) + timedelta(seconds=2)
    decision, run = Decision.objects.get(), Run.objects.get()
    times = [
        decision.decided_at, decision.created_at, decision.sort_at, decision.row_changed_at, run.started_at,
        WorkSession.objects.get().started_at, Pitfall.objects.get().created_at, Pattern.objects.get().created_at,
        Pattern.objects.get().updated_at, Memory.objects.get().created_at,
    ]  # fmt: skip
    assert all(before <= time <= after for time in times), times
    assert (decision.status, decision.review_state, decision.source_kind) == ("accepted", "unreviewed", "sql")
    assert Pattern.objects.get().confidence_score == 0.5
    assert (len(run.pk), run.project_id, run.escalated_to_human) == (32, None, False)
    assert run.trigger_payload == {"alert": "replica lag", "host": "db-2"}


def test_the_sweep_gives_all_of_it_history_and_sees_a_later_update(client, project_one):
    run_all(client)
    assert sweep() == 6
    assert Revision.objects.filter(channel="sql", verb="create").count() == 6
    with client.cursor() as cursor:
        cursor.execute("UPDATE architecture_decisions SET status = 'deprecated' WHERE title = 'Use FastAPI'")
    assert sweep() == 1
    revision = Revision.objects.get(channel="sql", verb="edit")
    assert (revision.changed, revision.version) == (["status"], 2)
    assert ProjectionMark.objects.get(node_id=revision.node_id).wanted_version == 2
    assert sweep() == 0


@pytest.mark.parametrize(
    "statement",
    [
        "INSERT INTO architecture_decisions (project_id, title, decision, status) VALUES (1, 'x', 'x', 'Accepted')",
        "INSERT INTO architecture_decisions (project_id, title, decision, status) VALUES (1, 'x', 'x', 'maybe')",
        "INSERT INTO architecture_decisions (project_id, title, decision) VALUES (99, 'x', 'x')",
        "INSERT INTO code_patterns (project_id, category, name, confidence_score) VALUES (1, 'x', 'x', 1.5)",
        "INSERT INTO pitfalls (project_id, category, title, severity) VALUES (1, 'x', 'x', 'terrible')",
        "INSERT INTO agent_runs (agent_name, confidence) VALUES ('x', 7)",
        "INSERT INTO agent_memory (agent_name, summary, source_run_id) VALUES ('x', 'x', 'nowhere')",
        "INSERT INTO outcomes (project_id, decision_id, type) VALUES (1, 4711, 'success')",
    ],
)
def test_foreign_keys_and_checks_are_the_databases(client, project_one, statement):
    with client.cursor() as cursor, pytest.raises(pymysql.err.MySQLError):
        cursor.execute(statement)


def test_the_active_views_hide_what_every_page_hides(client, project_one):
    run_all(client)
    with client.cursor() as cursor:
        cursor.execute("UPDATE pitfalls SET review_state = 'rejected'")
        cursor.execute("SELECT COUNT(*) FROM active_pitfalls")
        assert cursor.fetchone() == (0,)
        for table in (
            "architecture_decisions",
            "code_patterns",
            "work_sessions",
            "agent_runs",
            "agent_memory",
        ):
            cursor.execute(f"SELECT COUNT(*) FROM active_{table}")
            assert cursor.fetchone() == (1,), table
        cursor.execute("SELECT COUNT(*) FROM active_outcomes")
        assert cursor.fetchone() == (0,)


EXPLAINED = [
    (STATEMENTS[7], {"decisions_project_decided"}),
    (STATEMENTS[8], {"patterns_confidence", "patterns_project_confidence", "patterns_project_category"}),
    (STATEMENTS[9], {"pitfalls_project_category", "pitfalls_project_severity"}),
    (STATEMENTS[10], {"session_id"}),
    ("SELECT id FROM architecture_decisions WHERE status = 'pending'", {"decisions_status"}),
    ("SELECT id FROM code_patterns WHERE confidence_score > 0.99", {"patterns_confidence"}),
    ("SELECT id FROM code_patterns WHERE project_id = 1 AND category = 'c3'", {"patterns_project_category"}),
    ("SELECT id FROM work_sessions WHERE project_id = 1 ORDER BY started_at DESC LIMIT 5", {"sessions_project_started", "sessions_project_sort"}),
    ("SELECT id FROM pitfalls WHERE project_id = 1 AND severity = 'critical'", {"pitfalls_project_severity"}),
    ("SELECT id FROM agent_runs WHERE agent_name = 'bot-1' ORDER BY started_at DESC LIMIT 5", {"runs_agent_started"}),
]  # fmt: skip


def test_the_named_indexes_are_used(client, project_one):
    other = Project.objects.create(name="Bank", slug="bank")
    run_all(client)
    with client.cursor() as cursor:
        fill(cursor, other.pk)
        if not connection.mysql_is_mariadb:
            cursor.execute("SET explain_format = 'TRADITIONAL'")
        for statement, allowed in EXPLAINED:
            cursor.execute(f"EXPLAIN {statement}")
            names = [column[0] for column in cursor.description]
            plan = dict(zip(names, cursor.fetchone(), strict=True))
            used = plan["key"] or ""
            assert used in allowed or (allowed == {"session_id"} and used), (statement, plan)


def fill(cursor, other_project: int) -> None:
    """Enough rows, mostly of other values, that an optimiser without the index would have to scan them."""
    rows = range(400)
    for project in (1, other_project):
        cursor.executemany(
            "INSERT INTO architecture_decisions (project_id, title, decision, status, decided_at) VALUES (%s, 't', 'd', %s, %s)",
            [
                (project, "pending" if n % 97 == 0 else "accepted", datetime(2020, 1, 1) + timedelta(days=n))
                for n in rows
            ],
        )
        cursor.executemany(
            "INSERT INTO code_patterns (project_id, category, name, confidence_score) VALUES (%s, %s, 'n', %s)",
            [(project, f"c{n % 40}", (n % 100) / 100) for n in rows],
        )
        cursor.executemany(
            "INSERT INTO work_sessions (session_id, project_id) VALUES (%s, %s)",
            [(f"s{project}-{n}", project) for n in rows],
        )
        cursor.executemany(
            "INSERT INTO pitfalls (project_id, category, title, severity) VALUES (%s, %s, 't', %s)",
            [(project, f"c{n % 40}", "critical" if n % 50 == 0 else "low") for n in rows],
        )
    cursor.executemany(
        "INSERT INTO agent_runs (agent_name) VALUES (%s)", [(f"bot-{n % 400}",) for n in range(4000)]
    )
    for table in ("architecture_decisions", "code_patterns", "work_sessions", "pitfalls", "agent_runs"):
        cursor.execute(f"ANALYZE TABLE {table}")
        cursor.fetchall()
