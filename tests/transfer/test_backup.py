"""Backup and restore: equal checksums, never half-written, refused with the reason."""

from __future__ import annotations

import json
import os
import shutil
import subprocess
import sys
import threading
import time
from datetime import UTC, datetime
from pathlib import Path

import pytest
from django.core.management import CommandError, call_command
from django.db import connection

from decisions.actions import create_decision, record_outcome, supersede
from decisions.kind import DECISION
from patterns.actions import create_pattern, record_evidence
from pitfalls.actions import create_pitfall, meet_again
from projects.models import Project
from records import verbs
from records.links import link
from runs.actions import record_run, remember
from tests.transfer.test_adopt import ACTOR_OF_TESTS
from transfer.backup import servers, sqlite_files
from transfer.backup.checksums import base_tables, sum_table, sum_tables
from transfer.backup.manifest import NAME
from transfer.backup.problem import BackupProblem
from transfer.backup.writing import back_up, vendor
from work_sessions.actions import start_session

TOP = Path(__file__).resolve().parent.parent.parent
WHEN = datetime(2025, 3, 4, 5, 6, 7, 123456, tzinfo=UTC)


@pytest.fixture
def tools():
    """The tools that match the server, or nothing to test with."""
    if connection.vendor == "mysql":
        try:
            servers.find_tool(vendor(), "dump"), servers.find_tool(vendor(), "client")
        except BackupProblem as error:
            if os.environ.get("CI"):
                raise
            pytest.skip(str(error))


def fill(project):
    """Some of every kind, with history, links and awkward values."""
    act = {"actor": ACTOR_OF_TESTS}
    first = create_decision(**act, project=project, title="Größe 🚀", decision="x\n'\"\\ %s", tags=["a", "b"])
    second = create_decision(**act, project=project, title="Second", decision="y", decided_at=None)
    supersede(**act, decision=first, by=second, reason="newer")
    record_outcome(**act, decision=second, type="success", success_rate=0.1)
    pattern = create_pattern(**act, project=project, category="c", name="p", confidence=0.9)
    record_evidence(**act, pattern=pattern, worked=True)
    pitfall = create_pitfall(**act, project=project, category="c", title="t")
    meet_again(**act, pitfall=pitfall)
    link(first, "RELATES_TO", pitfall, **act)
    start_session(**act, project=project, session_id="ses-1", context={"b": [1.5, None], "a": "é"})
    run = record_run(
        **act, project=project, agent_name="dba", trigger_payload={"host": "db-2"}, confidence=0.87
    )
    remember(**act, project=project, agent_name="dba", summary="Lag.", run=run)


def manage(*arguments, url, tmp_path):
    return subprocess.run(
        [sys.executable, "manage.py", *arguments], cwd=TOP, text=True, capture_output=True, check=False,
        env={**os.environ, "DATABASE_URL": url, "DATA_DIR": str(tmp_path / "data"), "GRAPH_URL": ""},
    )  # fmt: skip


@pytest.fixture
def empty_database(tmp_path):
    """(url, a way to look into it) of a database with nothing in it, beside that of the test."""
    if connection.vendor == "sqlite":
        path = tmp_path / "restored.sqlite3"
        yield f"sqlite:///{path}", lambda: sqlite_files.opened(connection, path)
        return
    kept = connection.settings_dict
    name = f"{kept['NAME']}_restored"
    with connection.cursor() as cursor:
        cursor.execute(f"DROP DATABASE IF EXISTS {name}")
        cursor.execute(f"CREATE DATABASE {name}")
    url = f"mysql://{kept['USER']}:{kept['PASSWORD']}@{kept['HOST']}:{kept['PORT']}/{name}"
    other = connection.copy()
    other.settings_dict = {**kept, "NAME": name}

    class Looking:
        def __enter__(self):
            return other

        def __exit__(self, *error):
            other.close()

    yield url, Looking
    with connection.cursor() as cursor:
        cursor.execute(f"DROP DATABASE {name}")


@pytest.mark.database
@pytest.mark.django_db
def test_equal_rows_have_equal_checksums_on_every_database():
    """The numbers are the same in the suites of SQLite, MySQL and MariaDB."""
    project = Project.objects.create(pk=700, name="Shop", slug="shop", created_at=WHEN)
    values = {
        "id": 701, "title": "Größe 🚀", "decision": "x\n'\\", "tags": ["b", "a"], "decided_at": WHEN, "sort_at": WHEN,
        "created_at": WHEN.replace(microsecond=0), "trust": 0.1, "origin": {"b": 1.5, "a": [None, True, "é", 2**63]},
    }  # fmt: skip
    verbs.create(DECISION, [values], actor=ACTOR_OF_TESTS, project=project)
    with connection.cursor() as cursor:
        cursor.execute("UPDATE architecture_decisions SET row_changed_at = %s", [WHEN.replace(tzinfo=None)])
    assert sum_table(connection, "projects").checksum[:16] == "6dcb142acc90827c"
    assert sum_table(connection, "architecture_decisions").checksum[:16] == "c5c4530301c36e51"
    assert sum_table(connection, "architecture_decisions").rows == 1
    with connection.cursor() as cursor:
        cursor.execute(
            "UPDATE architecture_decisions SET row_changed_at = %s, trust = 0.3", [WHEN.replace(tzinfo=None)]
        )
    assert sum_table(connection, "architecture_decisions").checksum[:16] != "c5c4530301c36e51"


@pytest.mark.database
@pytest.mark.django_db(transaction=True)
def test_a_backup_is_restored_with_equal_checksums_also_from_an_older_schema(tmp_path, tools, empty_database):
    url, looking = empty_database
    call_command("migrate", "transfer", "zero", verbosity=0)
    try:
        fill(Project.objects.create(name="Shop", slug="shop"))
        old = back_up(tmp_path / "old")
    finally:
        call_command("migrate", "transfer", verbosity=0)
    assert ("transfer", "0001_initial") not in old.migrations
    assert "arrivals" not in old.tables
    assert (old.tables["revisions"].rows, old.tables["agent_memory"].rows) == (15, 1)

    done = manage("restore", str(tmp_path / "old"), url=url, tmp_path=tmp_path)
    assert "every checksum is equal" in done.stdout, done.stderr
    with looking() as restored:
        changed = {
            "django_migrations",
            "projection_marks",
            "django_content_type",
            "auth_permission",
            "worker_leases",
        }
        kept = {table: said for table, said in old.tables.items() if table not in changed}
        assert sum_tables(restored, list(kept)) == kept
        assert "arrivals" in base_tables(restored)  # brought up to this version
        with restored.cursor() as cursor:
            cursor.execute("SELECT COUNT(*) FROM active_architecture_decisions")
            assert cursor.fetchone()[0] == 2
            cursor.execute(
                "SELECT MAX(projected_version), COUNT(*) FROM projection_marks WHERE next_try_at IS NOT NULL"
            )
            assert tuple(cursor.fetchone()) == (0, 8)  # everything is to be shown in the graph again


@pytest.mark.slow
@pytest.mark.database
@pytest.mark.django_db(transaction=True)
def test_a_database_with_records_is_replaced_only_when_told(tmp_path, tools, empty_database):
    url, _ = empty_database
    fill(Project.objects.create(name="Shop", slug="shop"))
    folder = str(tmp_path / "backup")
    back_up(tmp_path / "backup")
    assert manage("restore", folder, url=url, tmp_path=tmp_path).returncode == 0
    refused = manage("restore", folder, url=url, tmp_path=tmp_path)
    assert (refused.returncode, "--replace" in refused.stderr) == (1, True)
    done = manage("restore", folder, "--replace", url=url, tmp_path=tmp_path)
    assert "every checksum is equal" in done.stdout, done.stderr


@pytest.mark.slow
@pytest.mark.database
@pytest.mark.django_db(transaction=True)
@pytest.mark.skipif(connection.vendor == "sqlite", reason="its online backup is one copy")
def test_dump_and_checksums_are_of_one_moment_while_others_write(tmp_path, tools, empty_database):
    url, _ = empty_database
    fill(Project.objects.create(name="Shop", slug="shop"))
    ended = threading.Event()
    written = []

    def write_on():
        other = connection.copy()
        with other.cursor() as cursor:
            while not ended.is_set():
                cursor.execute(
                    "INSERT INTO record_tags (node_id, kind, tag) VALUES (%s, 'x', 'x')",
                    [f"x_{len(written)}"],
                )
                written.append(1)
        other.close()

    thread = threading.Thread(target=write_on)
    thread.start()
    try:
        while len(written) < 50:
            time.sleep(0.01)
        manifest = back_up(tmp_path / "busy")
    finally:
        ended.set()
        thread.join()
    assert 50 <= manifest.tables["record_tags"].rows < len(written)
    done = manage("restore", str(tmp_path / "busy"), url=url, tmp_path=tmp_path)
    assert "every checksum is equal" in done.stdout, done.stderr


@pytest.mark.database
@pytest.mark.django_db(transaction=True)
def test_a_backup_is_whole_or_not_there(tmp_path, tools, monkeypatch):
    partial = tmp_path / "b.partial"
    partial.mkdir()
    (partial / "desk.sql").write_text("left by a killed one")
    back_up(tmp_path / "b")
    assert sorted(path.name for path in tmp_path.iterdir()) == ["b"]
    assert {oct(path.stat().st_mode)[-3:] for path in (tmp_path / "b").iterdir()} <= {"600", "644"}
    assert oct((tmp_path / "b").stat().st_mode)[-3:] == "700"
    with pytest.raises(CommandError, match="is there already"):
        call_command("backup", str(tmp_path / "b"))

    def fails(*args):
        raise OSError(28, "No space left on device", "x")

    monkeypatch.setattr("transfer.backup.writing.sum_tables", fails)
    with pytest.raises(CommandError, match=r"No space left on device\. Make room"):
        call_command("backup", str(tmp_path / "c"))
    assert sorted(path.name for path in tmp_path.iterdir()) == ["b"]


@pytest.mark.database
@pytest.mark.django_db(transaction=True)
def test_a_full_disk_is_said_and_leaves_nothing(tmp_path, tools):
    disk = tmp_path / "disk"
    disk.mkdir()
    mount = shutil.which("mount")
    if (
        not mount
        or subprocess.run([mount, "-t", "tmpfs", "-o", "size=40k", "none", str(disk)], check=False).returncode
    ):
        pytest.skip("a small disk can only be made by root")
    try:
        with pytest.raises(CommandError, match=r"(?i)no space left|disk is full"):
            call_command("backup", str(disk / "b"))
        assert list(disk.iterdir()) == []
    finally:
        subprocess.run(["umount", str(disk)], check=True)


@pytest.fixture
def made(tmp_path, tools, transactional_db):
    back_up(tmp_path / "made")

    def change(**said):
        path = tmp_path / "made" / NAME
        path.write_text(json.dumps({**json.loads(path.read_text()), **said}))
        return str(tmp_path / "made")

    return change


@pytest.mark.database
def test_a_backup_that_is_not_for_this_desk_is_refused(made, tmp_path):
    other = "mysql" if connection.vendor == "sqlite" else "sqlite"
    with pytest.raises(CommandError, match=rf"backup of {other}.*manage.py export FILE"):
        call_command("restore", made(vendor=other))
    with pytest.raises(CommandError, match=r"made by version 99.1.*at least as new"):
        call_command("restore", made(vendor=vendor(), program="99.1"))
    with pytest.raises(CommandError, match=r"unknown here: records.9999_future"):
        call_command("restore", made(program="0.1.0", migrations=[["records", "9999_future"]]))
    folder = Path(made(migrations=[]))
    file = next(path for path in folder.iterdir() if path.name != NAME)
    with file.open("ab") as data:
        data.write(b"x")
    with pytest.raises(CommandError, match="not as it was written"):
        call_command("restore", str(folder))
    file.unlink()
    with pytest.raises(CommandError, match="is missing"):
        call_command("restore", str(folder))
    with pytest.raises(CommandError, match="holds no backup"):
        call_command("restore", str(tmp_path))
    (folder / NAME).write_text("{")
    with pytest.raises(CommandError, match="cannot be read"):
        call_command("restore", str(folder))


def test_rows_that_differ_from_their_checksum_are_refused_before_anything_is_touched(made):
    if connection.vendor != "sqlite":
        pytest.skip("a server's file is compared byte by byte")
    tables = {"users": {"rows": 7, "checksum": "00"}}
    with pytest.raises(CommandError, match=r"not as they were backed up: users\. Nothing was restored"):
        call_command("restore", made(tables=tables))


class FakeServer:
    settings_dict = {
        "NAME": "desk", "USER": "ada", "PASSWORD": 'p"a\\s#s = w', "HOST": "127.0.0.1", "PORT": 3306, "OPTIONS": {},
    }  # fmt: skip


@pytest.fixture
def fake_tool(tmp_path, monkeypatch):
    """A dump tool that notes how it was called."""
    script, notes = tmp_path / "tool", tmp_path / "notes"
    script.write_text(
        "#!/bin/sh\n"
        f'[ "$1" = --version ] && echo "mysqldump  Ver 9.7" && exit 0\n'
        f'{{ echo "$@"; env; cat "${{1#*=}}"; stat -c %a "${{1#*=}}"; }} > {notes}\n'
        "echo '-- Table structure for table'; echo '-- Dump completed'\n"
    )
    script.chmod(0o755)
    monkeypatch.setenv("MYSQLDUMP", str(script))
    return notes


def test_the_password_is_in_a_file_of_our_own_and_nowhere_else(fake_tool, tmp_path):
    taken = []
    servers.dump(FakeServer, "mysql", ["a"], tmp_path / "out", lambda: taken.append(1))
    called, *rest = fake_tool.read_text().splitlines()
    assert (taken, "password" in called, 'p"a' in called) == ([1], False, False)
    file = rest[rest.index("[client]") :]
    assert 'password="p\\"a\\\\s#s = w"' in file
    assert file[-1] == "600"
    assert not [line for line in rest[: rest.index("[client]")] if "MYSQL_PWD" in line or "s#s" in line]
    assert not list(Path(called.split()[0].partition("=")[2]).parent.glob("*"))  # gone afterwards


def test_servers_read_the_option_file_as_it_is_meant():
    program = shutil.which("my_print_defaults")
    if not program:
        pytest.skip("needs my_print_defaults")
    with servers.option_file(FakeServer.settings_dict) as option:
        path = option.partition("=")[2]
        said = subprocess.run(
            [program, f"--defaults-file={path}", "client"], capture_output=True, text=True, check=True
        ).stdout
    assert '--password=p"a\\s#s = w' in said.splitlines()


def test_a_tool_of_the_other_server_or_none_is_said(fake_tool, monkeypatch):
    monkeypatch.setenv("MARIADB_DUMP", os.environ["MYSQLDUMP"])
    with pytest.raises(BackupProblem, match=r"The server is MariaDB.*name the program in MARIADB_DUMP"):
        servers.find_tool("mariadb", "dump")
    monkeypatch.setenv("MYSQLDUMP", "/nowhere/mysqldump")
    with pytest.raises(BackupProblem, match="cannot be run"):
        servers.find_tool("mysql", "dump")
    monkeypatch.delenv("MYSQLDUMP")
    monkeypatch.setenv("PATH", "/nowhere")
    with pytest.raises(BackupProblem, match="Install MySQL's client"):
        servers.find_tool("mysql", "dump")


def test_a_dump_that_fails_or_is_cut_off_is_no_dump(tmp_path, monkeypatch):
    script = tmp_path / "tool"
    script.write_text(
        '#!/bin/sh\n[ "$1" = --version ] && echo mysqldump && exit 0\necho cut off; echo why not >&2; exit 0\n'
    )
    script.chmod(0o755)
    monkeypatch.setenv("MYSQLDUMP", str(script))
    with pytest.raises(BackupProblem, match="why not"):
        servers.dump(FakeServer, "mysql", ["a"], tmp_path / "out", lambda: None)
