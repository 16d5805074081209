"""The desk under test: web server, workers and a console as real processes, and what the databases say of it."""

from __future__ import annotations

import json
import os
import secrets
import signal
import socket
import subprocess
import sys
from contextlib import contextmanager
from pathlib import Path

from tests.faults.calls import Agent, call
from tests.faults.servers import TOP, until

# The settings of whoever runs the tests must not reach the desk.
NOT_OURS = {
    "MEMORY_DESK_FAILPOINT",
    "DEBUG",
    "SITE_URL",
    "ALLOWED_HOSTS",
    "ENCODER",
    "LOG_FORMAT",
    "LOG_LEVEL",
}
KEPT_TABLES = (
    "django_",
    "auth_",
    "axes_",
    "users",
    "projects",
    "memberships",
    "tokens",
    "agent_token",
    "sweep_",
)
SECONDS_TO_START = 60.0

CONSOLE = """
import json, sys, traceback
import django; django.setup()
from django.db import close_old_connections
names = {}
for line in sys.stdin:
    close_old_connections()
    try:
        exec(json.loads(line), names)
        said = {"answer": names.pop("answer", None)}
    except BaseException:
        said = {"error": traceback.format_exc()}
    print(json.dumps(said, default=str), flush=True)
"""

MAKE_PROJECT = """
from django.contrib.auth import BACKEND_SESSION_KEY, HASH_SESSION_KEY, SESSION_KEY
from django.contrib.sessions.backends.db import SessionStore
from patterns.actions import create_pattern
from projects.models import AgentToken, Membership, Project, Role, User
from projects.tokens import digest_of, new_token_text
from records.actor import Actor
project = Project.objects.create(name=slug, slug=slug)
user, _ = User.objects.get_or_create(username="ada")
Membership.objects.create(user=user, project=project, role=Role.ADMIN)
session = SessionStore()
session[SESSION_KEY], session[HASH_SESSION_KEY] = str(user.pk), user.get_session_auth_hash()
session[BACKEND_SESSION_KEY] = "django.contrib.auth.backends.ModelBackend"
session.create()
text = new_token_text()
token = AgentToken.objects.create(name="bot", agent_name="bot", digest=digest_of(text), hint="", scopes=["read", "write", "review"])
token.projects.add(project)
pattern = create_pattern(actor=Actor.command("faults"), project=project, category="cache", name="Cache-aside")
answer = [project.pk, text, pattern.node_id, session.session_key]
"""


class Process:
    """A process of the desk, its output in a file."""

    def __init__(self, name, arguments, environment, folder):
        self.name = name
        self.log = folder / f"{name}-{secrets.token_hex(3)}.log"
        with open(self.log, "w") as output:
            self.popen = subprocess.Popen(
                [sys.executable, *arguments], cwd=TOP, env=environment, text=True,
                stdin=subprocess.DEVNULL, stdout=output, stderr=subprocess.STDOUT,
            )  # fmt: skip

    @property
    def said(self):
        return self.log.read_text(errors="replace")

    @property
    def is_paused(self):
        return Path(f"/proc/{self.popen.pid}/stat").read_text().rpartition(")")[2].split()[0] == "T"

    def send(self, number):
        self.popen.send_signal(number)

    def pause(self):
        self.send(signal.SIGSTOP)

    def resume(self):
        self.send(signal.SIGCONT)

    @contextmanager
    def held(self):
        """It and its children stand still for the block."""
        children = Path(f"/proc/{self.popen.pid}/task/{self.popen.pid}/children").read_text().split()
        family = [self.popen.pid, *map(int, children)]
        for pid in family:
            os.kill(pid, signal.SIGSTOP)
        try:
            yield
        finally:
            for pid in family:
                os.kill(pid, signal.SIGCONT)

    def killed_itself(self, seconds=SECONDS_TO_START):
        """Wait until it has died of SIGKILL."""
        code = self.popen.wait(seconds)
        assert code == -signal.SIGKILL, f"{self.name} ended with {code}:\n{self.said[-3000:]}"

    def holds_still(self, seconds=SECONDS_TO_START):
        """Wait until it has paused itself."""
        until(
            lambda: self.is_paused or self.popen.poll() is not None, f"{self.name} has paused itself", seconds
        )
        assert self.popen.poll() is None, self.said[-3000:]

    def end(self, seconds=20.0):
        """SIGTERM, then the exit code."""
        self.send(signal.SIGTERM)
        return self.popen.wait(seconds)

    def destroy(self):
        if self.popen.poll() is None:
            self.popen.kill()
        self.popen.wait(30)


class Desk:
    """Everything on the drills' own MySQL and Neo4j. `mutant` names a patch for all processes that it starts."""

    def __init__(self, mysql, neo4j, folder, *, mutant="", **settings):
        self.mysql, self.neo4j, self.folder, self.mutant = mysql, neo4j, folder, mutant
        with socket.create_server(("127.0.0.1", 0)) as probe:
            self.port = probe.getsockname()[1]
        self.environment = {name: value for name, value in os.environ.items() if name not in NOT_OURS} | {
            "DJANGO_SETTINGS_MODULE": "tests.faults.settings" if mutant else "memory_site.settings",
            "FAULTS_MUTANT": mutant,
            "DATABASE_URL": mysql.url,
            "GRAPH_URL": neo4j.url,
            "DATA_DIR": str(folder),
            "SECRET_KEY": "of the fault drills, and of nothing else whatever",
            "TOKEN_PEPPER": "of the fault drills, and of nothing else whatever",
            "HOST": "127.0.0.1",
            "PORT": str(self.port),
            "SWEEP_SECONDS": "1",
            "PYTHONUNBUFFERED": "1",
            **settings,
        }
        self.processes = []
        self._console = None

    # --- Processes -----------------------------------------------------------------------------------------------
    def start(self, name, *arguments, **environment):
        process = Process(name, arguments, {**self.environment, **environment}, self.folder)
        self.processes.append(process)
        return process

    def start_web(self, **environment):
        """gunicorn as in production; returns once it answers."""
        asked = ["-m", "gunicorn", "-c", "deploy/gunicorn.conf.py", "memory_site.wsgi"]
        process = self.start("web", *asked, **environment)
        until(
            lambda: call(self.port, "GET", "/healthz").status == 200 or process.popen.poll() is not None,
            "the web server answers",
        )
        assert process.popen.poll() is None, process.said
        self.web = process
        return process

    def start_worker(self, failpoint="", **environment):
        """`manage.py run_worker`; returns at once."""
        armed = {"MEMORY_DESK_FAILPOINT": failpoint} if failpoint else {}
        return self.start("worker", "manage.py", "run_worker", **armed, **environment)

    def manage(self, *arguments):
        """Run a command to its end."""
        done = subprocess.run(
            [sys.executable, "manage.py", *arguments], cwd=TOP, env=self.environment, text=True,
            capture_output=True, timeout=180, stdin=subprocess.DEVNULL,
        )  # fmt: skip
        assert done.returncode == 0, done.stderr
        return done.stdout

    def run(self, script, **names):
        """Run a script in a process that is kept for it, never a mutant; what it calls `answer`."""
        if self._console is None:
            self._console = subprocess.Popen(
                [sys.executable, "-c", CONSOLE], cwd=TOP, text=True,
                env={**self.environment, "PYTHONPATH": str(TOP), "DJANGO_SETTINGS_MODULE": "memory_site.settings"},
                stdin=subprocess.PIPE, stdout=subprocess.PIPE,
            )  # fmt: skip
        given = "".join(f"{name} = {value!r}\n" for name, value in names.items())
        self._console.stdin.write(json.dumps(given + script) + "\n")
        self._console.stdin.flush()
        said = json.loads(self._console.stdout.readline())
        assert "error" not in said, said["error"]
        return said["answer"]

    def end(self):
        for process in self.processes:
            process.destroy()
        if self._console is not None:
            self._console.kill()
            self._console.communicate()

    # --- Data ----------------------------------------------------------------------------------------------------
    def new_project(self):
        """An agent of a project that is empty but for one pattern; `cookie` is of a person who may see its pages."""
        slug = f"drill-{secrets.token_hex(4)}"
        project_id, token, pattern, session = self.run(MAKE_PROJECT, slug=slug)
        agent = Agent(self.port, project_id, slug, token, pattern)
        agent.cookie = {"Cookie": f"memory_desk_session={session}"}
        return agent

    def forget_everything(self):
        """No record in either database; of a drill that left them apart on purpose."""
        self.mysql.create()
        tables = [name for name, _ in self.mysql.ask("SHOW FULL TABLES WHERE Table_type = 'BASE TABLE'")]
        connection = self.mysql.connect()
        cursor = connection.cursor()
        cursor.execute("SET foreign_key_checks = 0")
        for table in tables:
            if not table.startswith(KEPT_TABLES):
                cursor.execute(f"DELETE FROM `{table}`")
        connection.close()
        self.neo4j.ask("MATCH (n:Record) DETACH DELETE n")

    def cut_leases(self):
        """As if a minute had passed: what a dead or paused worker holds is anybody's."""
        self.mysql.ask("UPDATE projection_marks SET lease_until = '2020-01-01' WHERE lease_until IS NOT NULL")
        self.mysql.ask("UPDATE worker_leases SET until = '2020-01-01' WHERE until IS NOT NULL")

    def open_transactions(self):
        """What the server lists of them; an idle connection has none."""
        return self.mysql.as_root(
            "SELECT trx_id, trx_state, trx_rows_locked FROM information_schema.innodb_trx"
        )

    def leased(self):
        ((count,),) = self.mysql.ask("SELECT COUNT(*) FROM projection_marks WHERE lease_token IS NOT NULL")
        return count

    def waiting(self):
        """Marks that are not done and not given up."""
        ((count,),) = self.mysql.ask(
            "SELECT COUNT(*) FROM projection_marks WHERE next_try_at IS NOT NULL AND NOT dead"
        )
        return count

    def drained(self, seconds=90.0):
        until(lambda: not self.waiting(), f"all marks are done; {self.waiting()} wait", seconds, every=0.1)
