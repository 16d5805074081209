"""Workers as processes and as the server's thread, on a SQLite file: started, killed, stopped, one elected."""

import os
import shutil
import signal
import sqlite3
import subprocess
import sys
import time
from pathlib import Path

import pytest

TOP = Path(__file__).resolve().parents[2]

SETUP = """
import django; django.setup()
from django.core.management import call_command
call_command("migrate", verbosity=0)
from projects.models import Project
Project.objects.create(name="Shop", slug="shop")
"""

WRITE = """
import sys, time
import django; django.setup()
from decisions.actions import create_decision
from projects.models import Project
from records.actor import Actor
project = Project.objects.get()
for n in range(int(sys.argv[1])):
    create_decision(actor=Actor.command("test"), project=project, title=f"Use Redis {n}", decision="Cache totals.")
"""

SERVE = """
import sys, time
import django; django.setup()
from graph.worker_thread import start_worker_thread, due_count
thread = start_worker_thread()
assert start_worker_thread() is thread
print("started", flush=True)
exec(sys.stdin.read())
"""

SEARCHABLE_AT_ONCE = """
from decisions.actions import create_decision
from projects.models import Project
from records.actor import Actor
from records.models import ProjectionMark
import os
ours = os.getpriority(os.PRIO_PROCESS, thread.native_id), os.getpriority(os.PRIO_PROCESS, 0)
print("gives way by", ours[0] - ours[1])
project = Project.objects.get()
create_decision(actor=Actor.command("test"), project=project, title="Warm", decision="up")
while due_count():
    time.sleep(0.05)
began = time.monotonic()
create_decision(actor=Actor.command("test"), project=project, title="Use Redis", decision="Cache totals.")
while ProjectionMark.objects.exclude(next_try_at=None).exists():
    time.sleep(0.01)
print("seconds", time.monotonic() - began)
"""


class Desk:
    """A SQLite desk in a folder, and the processes that work on it."""

    def __init__(self, folder):
        self.file = folder / "desk.sqlite3"
        self.started = []
        self.environment = {
            **os.environ,
            "DATABASE_URL": f"sqlite:///{self.file}",
            "DATA_DIR": str(folder),
            "SWEEP_SECONDS": "1",
            "PYTHONPATH": os.pathsep.join(filter(None, [str(TOP), os.environ.get("PYTHONPATH")])),
        }
        self.environment.setdefault("DJANGO_SETTINGS_MODULE", "memory_site.settings")

    def run(self, script, *arguments):
        done = subprocess.run(
            [sys.executable, "-c", script, *arguments], cwd=TOP, env=self.environment, text=True,
            capture_output=True, timeout=120,
        )  # fmt: skip
        assert done.returncode == 0, done.stderr

    def start(self, *arguments):
        process = subprocess.Popen(
            [sys.executable, *arguments], cwd=TOP, env=self.environment, text=True,
            stdin=subprocess.PIPE, stdout=subprocess.PIPE, stderr=subprocess.STDOUT,
        )  # fmt: skip
        self.started.append(process)
        return process

    def ask(self, sql):
        connection = sqlite3.connect(self.file, timeout=20)
        try:
            with connection:
                return [value for row in connection.execute(sql) for value in row]
        finally:
            connection.close()

    def state(self):
        """How many marks are done, how many are due."""
        return self.ask("SELECT SUM(projected_version), COUNT(next_try_at) FROM projection_marks")


@pytest.fixture(scope="module")
def migrated(tmp_path_factory):
    made = Desk(tmp_path_factory.mktemp("migrated"))
    made.run(SETUP)
    return made


@pytest.fixture
def desk(tmp_path, migrated):
    made = Desk(tmp_path)
    shutil.copy(migrated.file, made.file)
    yield made
    for process in made.started:
        if process.poll() is None:
            process.kill()
        process.communicate()


def until(condition, seconds=60):
    give_up_at = time.monotonic() + seconds
    while not condition():
        assert time.monotonic() < give_up_at
        time.sleep(0.3)


def test_two_workers_one_killed_one_stopped_lose_nothing(desk):
    desk.run(WRITE, "150")
    killed = desk.start("manage.py", "run_worker")
    stopped = desk.start("manage.py", "run_worker")
    until(lambda: desk.state()[0] > 0)
    killed.kill()
    # What it had claimed is due again once its lease has run out; here the minute is cut short.
    desk.ask("UPDATE projection_marks SET lease_until = '2020-01-01 00:00:00' WHERE lease_until IS NOT NULL")
    until(lambda: desk.state() == [150, 0], 90)
    stopped.send_signal(signal.SIGTERM)
    said, _ = stopped.communicate(timeout=20)
    assert stopped.returncode == 0, said
    assert "nothing is left half done" in said
    assert "Traceback" not in said


def test_the_servers_thread_makes_a_write_searchable_at_once_and_ends_with_it(desk):
    server = desk.start("-c", SERVE)
    said, _ = server.communicate(SEARCHABLE_AT_ONCE, timeout=90)
    assert server.returncode == 0, said
    assert "Traceback" not in said
    if sys.platform == "linux":
        assert "gives way by 10" in said
    assert float(said.rpartition("seconds")[2]) < 2
    assert desk.state() == [2, 0]
    assert desk.ask("SELECT name FROM worker_leases WHERE name LIKE 'worker %:%'") == []


def test_one_of_several_server_processes_is_elected_and_another_takes_over(desk):
    first = desk.start("-c", SERVE)
    assert first.stdout.readline() == "started\n"
    elected = "SELECT holder FROM worker_leases WHERE name = 'worker of the server' AND until IS NOT NULL"
    until(lambda: desk.ask(elected))
    [holder] = desk.ask(elected)
    second = desk.start("-c", SERVE)
    assert second.stdout.readline() == "started\n"
    desk.run(WRITE, "3")
    until(lambda: desk.state() == [3, 0])
    assert desk.ask(elected) == [holder]
    first.communicate("", timeout=30)
    desk.run(WRITE, "2")
    until(lambda: desk.state() == [5, 0])
    assert desk.ask(elected) != [holder]
    second.communicate("", timeout=30)
    assert second.returncode == 0
