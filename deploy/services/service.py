"""A service of the tests, and a server: a service with a process and a port."""

import contextlib
import json
import os
import signal
import socket
import subprocess
import time
from dataclasses import asdict, dataclass
from pathlib import Path

import machine

SECONDS_TO_ANSWER = 120
SECONDS_TO_STOP = 60


class Service:
    """Something a test suite needs; the subclasses say how to install it and what to tell the tests."""

    name: str
    # True: its installation needs apt only for `missing_packages()`, then works by itself beside other apt calls.
    installs_beside_apt = False

    def missing_packages(self) -> list[str]:
        """The Debian packages that are still to be installed."""
        return []

    def is_installed(self) -> bool:
        return not self.missing_packages()

    def install(self) -> str:
        """What is left to do once the Debian packages are there; returns what was done, "" for nothing."""
        return ""

    def start(self) -> str:
        return ""

    def stop(self) -> str:
        return ""

    def status(self) -> str:
        return "installed" if self.is_installed() else "not installed"

    def environment(self) -> dict[str, str]:
        """Environment variables that lead the tests to it; none when it is not installed."""
        return {}


@dataclass
class Running:
    """A server's process, as written down when it was started."""

    pid: int
    born: str  # start time of the process: a number that a later process with the same pid does not have
    port: int
    time_zone: str

    @classmethod
    def read(cls, record: Path) -> "Running | None":
        """The process of a record, or None when it has ended."""
        try:
            process = cls(**json.loads(record.read_text()))
        except (OSError, ValueError, TypeError):
            return None
        return process if birth(process.pid) == process.born else None


def birth(pid: int) -> str | None:
    """When a living process started, in clock ticks since boot; None for one that has ended."""
    try:
        fields = Path(f"/proc/{pid}/stat").read_text().rpartition(")")[2].split()
    except OSError:
        return None
    state, started = fields[0], fields[19]
    return None if state == "Z" else started


def resident_megabytes(pid: int) -> int:
    with contextlib.suppress(OSError, StopIteration, ValueError):
        lines = Path(f"/proc/{pid}/status").read_text().splitlines()
        return int(next(line for line in lines if line.startswith("VmRSS")).split()[1]) // 1024
    return 0


def port_is_taken(port: int) -> bool:
    with socket.socket() as probe:
        probe.settimeout(1)
        return probe.connect_ex(("127.0.0.1", port)) == 0


class Server(Service):
    """A service with a process of its own, which listens on 127.0.0.1."""

    port_variable: str
    port: int
    time_zone = "+00:00"

    def prepare(self) -> None:
        """Make the data folder where there is none."""

    def command(self) -> list[str]:
        raise NotImplementedError

    def answers(self) -> bool:
        """Whether a client gets an answer through the port, as a test would."""
        raise NotImplementedError

    # -- asking for another port or zone than the usual ones

    asked: dict[str, object] = {}

    def ask_for(self, *, port: int | None = None, time_zone: str | None = None) -> None:
        self.asked = {name: value for name, value in (("port", port), ("time_zone", time_zone)) if value}
        for name, value in self.asked.items():
            setattr(self, name, value)

    # -- the process

    @property
    def record(self) -> Path:
        return machine.STATE / "run" / f"{self.name}.json"

    @property
    def log(self) -> Path:
        return machine.LOGS / f"{self.name}.log"

    def running(self) -> Running | None:
        return Running.read(self.record)

    def start(self) -> str:
        """Start and wait until it answers; one that runs is left alone unless another port or zone is asked for."""
        if running := self.running():
            if all(getattr(running, name) == value for name, value in self.asked.items()):
                self.port, self.time_zone = running.port, running.time_zone
                self.wait(running.pid)
                return f"runs on port {self.port}, pid {running.pid}"
            self.stop()
        if port_is_taken(self.port):
            raise machine.Failure(
                f"port {self.port} is taken by another program; choose one with {self.port_variable}=…"
            )
        self.prepare()
        machine.LOGS.mkdir(parents=True, exist_ok=True)
        if self.log.exists():
            self.log.replace(self.log.with_suffix(".log.1"))
        with open(self.log, "w") as log:
            # A session of its own: Ctrl-C in a terminal of the tests must not reach the server.
            process = subprocess.Popen(
                self.command(),
                stdin=subprocess.DEVNULL,
                stdout=log,
                stderr=log,
                start_new_session=True,
                cwd="/",
            )
        self.record.parent.mkdir(parents=True, exist_ok=True)
        running = Running(process.pid, birth(process.pid) or "", self.port, self.time_zone)
        self.record.write_text(json.dumps(asdict(running)))
        self.wait(process.pid, process)
        return f"started on port {self.port}, pid {process.pid}"

    def wait(self, pid: int, process: subprocess.Popen | None = None) -> None:
        """Until it answers; raises Failure when it ends or SECONDS_TO_ANSWER have passed."""
        deadline = time.monotonic() + SECONDS_TO_ANSWER
        while not self.answers():
            # poll() also collects an ended child, which would look alive in /proc otherwise.
            if (process and process.poll() is not None) or birth(pid) is None:
                raise machine.Failure(
                    f"the server ended at once; the end of {self.log}:\n{machine.tail(self.log)}"
                )
            if time.monotonic() > deadline:
                raise machine.Failure(
                    f"no answer on port {self.port} after {SECONDS_TO_ANSWER} s;"
                    f" the end of {self.log}:\n{machine.tail(self.log)}"
                )
            time.sleep(0.2)

    def stop(self) -> str:
        running = self.running()
        if running is None:
            self.record.unlink(missing_ok=True)
            return ""
        os.kill(running.pid, signal.SIGTERM)
        deadline = time.monotonic() + SECONDS_TO_STOP
        outcome = "stopped"
        while birth(running.pid) == running.born:
            if time.monotonic() > deadline:
                os.kill(running.pid, signal.SIGKILL)
                outcome = f"killed, for it had not stopped within {SECONDS_TO_STOP} s"
                deadline += SECONDS_TO_STOP
            time.sleep(0.1)
        self.record.unlink(missing_ok=True)
        return outcome

    def status(self) -> str:
        if running := self.running():
            self.port = running.port
            state = "answers" if self.answers() else "does not answer"
            return (
                f"{state} on port {running.port}, pid {running.pid}, time zone {running.time_zone},"
                f" {resident_megabytes(running.pid)} MB"
            )
        return super().status() + (", stopped" if self.is_installed() else "")
