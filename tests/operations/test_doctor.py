"""`doctor`: each thing that is not well is found and said with its fix; the exit code tells."""

from datetime import timedelta
from io import StringIO

import pytest
from django.core.management import CommandError, call_command
from django.db import OperationalError, connection
from django.db.migrations.recorder import MigrationRecorder
from django.utils import timezone

from decisions.actions import create_decision
from desk.health import database, projection
from desk.health.findings import Level
from recall.encoders import EncoderUnavailable
from records import leases
from records.leases import WORKER, Lease
from records.models import ProjectionMark

pytestmark = [pytest.mark.database, pytest.mark.django_db]
GOOD = {
    "sql_mode": "STRICT_TRANS_TABLES", "transaction_isolation": "READ-COMMITTED", "time_zone": "+00:00",
    "max_allowed_packet": str(64 * 1024 * 1024), "log_bin": "ON", "innodb_flush_log_at_trx_commit": "1",
    "sync_binlog": "1", "binlog_format": "ROW", "max_connections": "500",
}  # fmt: skip


def doctor(*areas, quiet=False):
    """(what it said, whether it ended with a failure)."""
    out = StringIO()
    only = {"only": list(areas)} if areas else {}
    try:
        call_command("doctor", stdout=out, quiet=quiet, **only)
    except CommandError as error:
        return out.getvalue() + str(error), True
    return out.getvalue(), False


def a_worker(holder, **state):
    assert leases.take(WORKER + holder, holder, 60)
    Lease.objects.filter(holder=holder).update(state=state)


def test_a_good_desk_is_well(agent, project, monkeypatch):
    monkeypatch.setattr(database, "check_disk", list)
    a_worker("box:1")
    said, failed = doctor("schema", "graph", "worker", "queue", "orphans")
    assert not failed
    assert said.rstrip().endswith("All is well.")
    assert doctor("worker", quiet=True) == ("", False)


def test_a_desk_without_a_worker_fails_and_says_the_command():
    said, failed = doctor("worker")
    assert failed
    assert "FAIL worker: no worker is at work\n     -> Start one: manage.py run_worker." in said


def test_a_worker_that_is_hindered_and_a_sweep_that_stands_still():
    a_worker("box:1", problem="no model")
    Lease.objects.create(name="sweep", state={"swept_at": (timezone.now() - timedelta(hours=1)).isoformat()})
    said, failed = doctor("worker")
    assert failed
    assert "FAIL worker: box:1: no model" in said
    assert "WARN sweep" in said


def test_late_and_given_up_records(agent, project):
    for n in range(2):
        create_decision(actor=agent, project=project, title=f"Use {n}", decision="x")
    first, second = ProjectionMark.objects.order_by("pk")
    ProjectionMark.objects.filter(pk=first.pk).update(wanted_at=timezone.now() - timedelta(hours=1))
    said, failed = doctor("queue")
    assert not failed
    assert "WARN embedding: behind by 2 since" in said
    ProjectionMark.objects.filter(pk=second.pk).update(dead=True)
    said, failed = doctor("queue")
    assert failed
    assert "FAIL given up: 1 record was given up" in said


def test_a_graph_that_is_away(settings):
    from graph.connection import forget_connection

    settings.GRAPH_URL = "bolt://user:secret@127.0.0.1:9"
    try:
        said, failed = doctor("graph")
    finally:
        forget_connection()
    assert failed
    assert "FAIL graph store: bolt://127.0.0.1:9" in said
    assert "secret" not in said
    assert "\n     -> Pages answer from the database meanwhile." in said


def test_a_database_of_another_version_or_none(monkeypatch):
    MigrationRecorder(connection).record_unapplied("records", "0003_links_by_target")
    said, failed = doctor()
    assert failed
    assert "manage.py migrate" in said
    assert "worker" not in said  # its tables may not be there

    def away():
        raise OperationalError(2002, "Can't connect to MySQL server on 'db'")

    monkeypatch.setattr("desk.management.commands.doctor.check_schema", away)
    said, failed = doctor()
    assert failed
    assert "FAIL database" in said
    assert "mend DATABASE_URL" in said


def test_the_heartbeat_of_this_machine_alone(monkeypatch):
    a_worker("another:1")
    assert doctor("heartbeat")[1]
    a_worker(leases.new_holder(), problem="the database does not answer")
    assert not doctor("heartbeat")[1]
    assert "heartbeat" not in doctor("disk", "worker")[0]


def test_an_encoder_that_does_not_load(monkeypatch):
    def missing():
        raise EncoderUnavailable("install onnxruntime")

    monkeypatch.setattr("recall.vectors.configured_encoder", missing)
    said, failed = doctor("encoder")
    assert failed
    assert "FAIL encoder: onnx: install onnxruntime" in said


def test_a_full_disk(monkeypatch):
    usage = type("Usage", (), {"total": 100 * 1024**3, "free": 200 * 1024**2})
    monkeypatch.setattr(database.shutil, "disk_usage", lambda place: usage)
    assert "FAIL disk: 0.2 GiB free (0 %)" in doctor("disk")[0]
    usage.free = 3 * 1024**3
    assert "WARN disk" in doctor("disk")[0]
    usage.free = 60 * 1024**3
    assert doctor("disk")[1] is False


# --- The server's variables --------------------------------------------------------------------------------------
on_a_server = pytest.mark.skipif("connection.vendor == 'sqlite'", reason="of MySQL and MariaDB")


@on_a_server
def test_the_real_server_is_set_up_as_the_desk_needs_it():
    wrong = [finding for finding in database.check_database() if finding.level == Level.BAD]
    assert wrong == []


@on_a_server
@pytest.mark.parametrize(
    ("variable", "value", "area"),
    [
        ("sql_mode", "", "sql_mode"), ("sql_mode", "ONLY_FULL_GROUP_BY", "sql_mode"),
        ("transaction_isolation", "REPEATABLE-READ", "isolation"), ("time_zone", "SYSTEM", "session time zone"),
        ("max_allowed_packet", "4194304", "max_allowed_packet"), ("sync_binlog", "0", "durability"),
        ("innodb_flush_log_at_trx_commit", "2", "durability"), ("binlog_format", "STATEMENT", "binary log"),
        ("max_connections", "10", "max_connections"),
    ],
)  # fmt: skip
def test_each_variable_that_is_wrong_is_named_with_its_fix(monkeypatch, variable, value, area):
    monkeypatch.setattr(database, "_variables", lambda: {**GOOD, variable: value})
    wrong = [finding for finding in database.check_database() if finding.level != Level.OK]
    assert [(finding.area, bool(finding.fix)) for finding in wrong] == [(area, True)]


@on_a_server
def test_a_clock_that_is_off(monkeypatch):
    monkeypatch.setattr(database.timezone, "now", lambda: projection.timezone.datetime.now(tz=database.UTC))
    assert database._clock().level == Level.OK
    from datetime import datetime

    monkeypatch.setattr(
        database.timezone, "now", lambda: datetime.now(tz=database.UTC) + timedelta(minutes=3)
    )
    assert database._clock().level == Level.BAD


@on_a_server
def test_tables_of_another_engine_or_alphabet_are_counted():
    with connection.cursor() as cursor:
        cursor.execute("CREATE TABLE strange_one (id INT) ENGINE=MyISAM CHARACTER SET latin1")
        try:
            found = {finding.area: finding for finding in database.check_database()}
        finally:
            cursor.execute("DROP TABLE strange_one")
    assert found["tables"].text.startswith("1 ")
