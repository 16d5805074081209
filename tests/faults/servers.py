"""A MySQL and a Neo4j of the drills' own, to be killed, paused and started again."""

from __future__ import annotations

import os
import re
import shlex
import signal
import socket
import subprocess
import sys
import time
from contextlib import closing
from pathlib import Path

import MySQLdb
from neo4j import GraphDatabase, NotificationMinimumSeverity

TOP = Path(__file__).resolve().parents[2]
SERVICES = [sys.executable, str(TOP / "deploy/services/services")]
INSTANCE = "faults"
MACHINE_LACKS_IT = 3  # exit code of `services`
DATABASE = "memory_desk_faults"
CANNOT_CONVERT = 3854
ACCOUNT = {"host": "127.0.0.1", "user": "desk", "passwd": "desk"}


class Lacking(RuntimeError):
    """This machine cannot have such a server; the message says why."""


def until(condition, what, seconds=60.0, every=0.05):
    """The first true answer of `condition`; AssertionError after so many seconds."""
    give_up_at = time.monotonic() + seconds
    while not (answer := condition()):
        assert time.monotonic() < give_up_at, f"not within {seconds:g} s: {what}"
        time.sleep(every)
    return answer


class Server:
    """An instance named `faults` of a server that `deploy/services` installs."""

    service = ""

    def __init__(self, port):
        self.port = port
        self.pid = 0
        self.was_there = None  # before the first start

    def start(self):
        """Start it, or find it running; returns once it answers."""
        asked = ["--instance", INSTANCE, "--port", str(self.port)]
        done = subprocess.run(
            [*SERVICES, "start", self.service, *asked],
            stdin=subprocess.DEVNULL,
            capture_output=True,
            text=True,
        )
        if done.returncode == MACHINE_LACKS_IT:
            raise Lacking(done.stderr.strip())
        found = re.findall(r"pid (\d+)", done.stderr)
        assert done.returncode == 0, done.stderr
        self.pid = int(found[-1])
        if self.was_there is None:
            self.was_there = "runs on" in done.stderr

    def is_running(self):
        try:
            state = Path(f"/proc/{self.pid}/stat").read_text().rpartition(")")[2].split()[0]
        except (OSError, IndexError):
            return False
        return state != "Z"

    def kill(self):
        os.kill(self.pid, signal.SIGKILL)
        until(lambda: not self.is_running(), f"{self.service} is dead")
        # Its first thread is a zombie before the last has closed the port, which a new server would find taken.
        until(lambda: not self._listens(), f"{self.service} has left its port")

    def _listens(self):
        with socket.socket() as probe:
            return probe.connect_ex(("127.0.0.1", self.port)) == 0

    def pause(self):
        """Its sockets stay open and silent, as when a host hangs."""
        os.kill(self.pid, signal.SIGSTOP)

    def resume(self):
        os.kill(self.pid, signal.SIGCONT)

    def leave(self):
        """Stop it, unless somebody had started it before."""
        if self.is_running():
            self.resume()
        if self.was_there:
            return
        subprocess.run(
            [*SERVICES, "stop", self.service, "--instance", INSTANCE],
            stdin=subprocess.DEVNULL,
            capture_output=True,
        )


class MySQL(Server):
    service = "mysql"

    @property
    def url(self):
        return f"mysql://desk:desk@127.0.0.1:{self.port}/{DATABASE}"

    def connect(self, database=DATABASE):
        """A connection of the ordinary account that commits each statement; each reads what is there now."""
        named = {"db": database} if database else {}
        return MySQLdb.connect(**ACCOUNT, **named, port=self.port, autocommit=True, charset="utf8mb4")

    def ask(self, sql, *parameters):
        """The rows of a statement, in a connection of its own."""
        with closing(self.connect()) as connection, closing(connection.cursor()) as cursor:
            cursor.execute(sql, parameters)
            return cursor.fetchall()

    def create(self):
        with closing(self.connect("")) as connection, closing(connection.cursor()) as cursor:
            cursor.execute(f"CREATE DATABASE IF NOT EXISTS {DATABASE} CHARACTER SET utf8mb4")

    def as_root(self, sql):
        """Rows as text, for what an ordinary account may not ask."""
        printed = subprocess.run(
            [*SERVICES, "env", "mysql"], capture_output=True, text=True, check=True
        ).stdout
        exports = (shlex.split(line)[1].partition("=") for line in printed.splitlines())
        client = {name: value for name, _, value in exports}["MYSQL_CLIENT"]
        asked = [client, "--no-defaults", "-uroot", f"--socket=/run/mysql-{INSTANCE}.sock", "--batch", "-N"]
        done = subprocess.run([*asked, "-e", sql], capture_output=True, text=True)
        assert done.returncode == 0, done.stderr
        return [line.split("\t") for line in done.stdout.splitlines()]

    @staticmethod
    def _lists_connections(cursor):
        try:
            cursor.execute("SELECT id FROM information_schema.processlist WHERE id <> CONNECTION_ID()")
        except MySQLdb.OperationalError as error:
            # The server cannot show a statement that holds a vector's bytes; soon another one runs.
            if error.args[0] != CANNOT_CONVERT:
                raise
            return False
        return True

    def kill_connections(self):
        """KILL every connection of the desk's; how many there were."""
        killed = 0
        with closing(self.connect()) as connection, closing(connection.cursor()) as cursor:
            until(lambda: self._lists_connections(cursor), "the connections can be listed")
            for (number,) in cursor.fetchall():
                try:
                    cursor.execute(f"KILL {number}")
                    killed += 1
                except MySQLdb.OperationalError:  # it ended by itself
                    pass
        return killed


class Neo4j(Server):
    service = "neo4j"

    @property
    def url(self):
        return f"bolt://127.0.0.1:{self.port}"

    def ask(self, statement, **parameters):
        quiet = NotificationMinimumSeverity.OFF
        with (
            GraphDatabase.driver(self.url, notifications_min_severity=quiet) as driver,
            driver.session() as session,
        ):
            return [tuple(row.values()) for row in session.run(statement, parameters)]


def own_servers():
    """The two, not started yet."""
    return (
        MySQL(int(os.environ.get("MYSQL_FAULTS_PORT") or 3390)),
        Neo4j(int(os.environ.get("NEO4J_FAULTS_PORT") or 7689)),
    )
