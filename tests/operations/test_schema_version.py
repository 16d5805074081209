"""An older program refuses a newer schema; a database that was not brought up to date says the command."""

import os
import subprocess
import sys
from io import StringIO
from pathlib import Path

import pytest
from django.core.management import CommandError, call_command
from django.db import OperationalError, connection
from django.db.migrations.recorder import MigrationRecorder

from database import schema
from database.schema import NewerSchema, OlderSchema, OtherSchema, await_schema, check_schema

TOP = Path(__file__).resolve().parents[2]
GUNICORN = ["-c", "deploy/gunicorn.conf.py", "memory_site.wsgi"]


@pytest.fixture
def of_a_newer_version(db):
    MigrationRecorder(connection).record_applied("records", "9001_from_tomorrow")


@pytest.fixture
def of_an_older_version(db):
    MigrationRecorder(connection).record_unapplied("records", "0003_links_by_target")


@pytest.mark.database
def test_the_own_schema_is_accepted(db):
    check_schema()


@pytest.mark.database
def test_a_newer_schema_is_refused_by_name(of_a_newer_version):
    with pytest.raises(NewerSchema, match=r"newer version of Memory Desk.*records\.9001_from_tomorrow"):
        check_schema()


@pytest.mark.database
def test_an_older_one_names_the_command(of_an_older_version):
    with pytest.raises(OlderSchema, match=r"lacks 1 changes.*0003_links_by_target.*manage\.py migrate"):
        check_schema()


def test_what_a_library_added_is_no_business_of_ours(db):
    MigrationRecorder(connection).record_applied("axes", "9001_from_tomorrow")
    MigrationRecorder(connection).record_applied("an_app_that_left", "0001_initial")
    check_schema()


def test_the_worker_and_the_desk_refuse(of_a_newer_version):
    for command in ("run_worker", "run_desk"):
        with pytest.raises(CommandError, match="newer version of Memory Desk"):
            call_command(command, stdout=StringIO(), stderr=StringIO())


def test_a_database_that_is_not_up_yet_is_waited_for(monkeypatch):
    tries, said = [], []

    def away():
        tries.append(1)
        if len(tries) < 3:
            raise OperationalError(2002, "Can't connect")

    monkeypatch.setattr(schema, "check_schema", away)
    monkeypatch.setattr(schema, "ASK_EVERY_SECONDS", 0.01)
    await_schema(said.append, seconds=5)
    assert (len(tries), len(said)) == (3, 1)
    tries[:] = [-1000]
    monkeypatch.setattr(schema, "check_schema", lambda: (_ for _ in ()).throw(OperationalError(2002, "no")))
    with pytest.raises(OtherSchema, match="does not answer"):
        await_schema(said.append, seconds=0)


@pytest.mark.parametrize(
    ("command", "words"),
    [
        ([sys.executable, "-m", "gunicorn", *GUNICORN], "manage.py migrate"),
        ([sys.executable, "manage.py", "run_worker"], "manage.py migrate"),
    ],
)
def test_server_and_worker_end_with_the_command_on_an_empty_database(command, words, tmp_path):
    environment = {
        **os.environ, "DATA_DIR": str(tmp_path), "DATABASE_URL": f"sqlite:///{tmp_path}/empty.sqlite3",
        "GRAPH_URL": "", "PORT": "8391",
    }  # fmt: skip
    done = subprocess.run(command, cwd=TOP, env=environment, capture_output=True, text=True, timeout=60)
    assert done.returncode not in (0, None)
    assert words in done.stderr
    assert "Traceback" not in done.stderr
