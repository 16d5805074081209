"""MariaDB from Debian, with a data folder of its own beside any that the machine already has."""

import os
import shlex
import shutil

import machine
import sql_accounts
from service import Server

HOME = machine.STATE / "mariadb"
PROGRAMS = {
    "mariadbd": "mariadb-server-core",
    "mariadb-install-db": "mariadb-server-core",
    "mariadb": "mariadb-client-core",
    "mariadb-dump": "mariadb-client",
}

# The character set is that of Debian's own configuration file, the binary log that of a replicated production.
OPTIONS = """
    --bind-address=127.0.0.1 --skip-name-resolve
    --character-set-server=utf8mb4 --collation-server=utf8mb4_general_ci --max-connections=100
    --innodb-buffer-pool-size=128M --innodb-log-file-size=48M
    --log-bin=binlog --max-binlog-size=16M --binlog-expire-logs-seconds=600
"""


class MariaDB(Server):
    name = "mariadb"
    port_variable = "MARIADB_PORT"

    def __init__(self) -> None:
        self.port = int(os.environ.get("MARIADB_PORT") or 3397)
        self.time_zone = os.environ.get("MARIADB_TIME_ZONE") or "+00:00"
        self.data = HOME / "data"
        self.socket = HOME / "socket"

    def missing_packages(self) -> list[str]:
        return sorted({package for program, package in PROGRAMS.items() if not machine.executable(program)})

    def program(self, name: str) -> str:
        return machine.executable(name) or name

    def as_user(self) -> list[str]:
        """mariadbd refuses to run as root unless told; another user's folder could not hold its data."""
        return ["--user=root"] if os.geteuid() == 0 else []

    def prepare(self) -> None:
        if self.data.exists():
            return
        partial = HOME / "data.partial"
        shutil.rmtree(partial, ignore_errors=True)
        HOME.mkdir(parents=True, exist_ok=True)
        machine.run(
            "mariadb-initialize",
            [
                self.program("mariadb-install-db"),
                "--no-defaults",
                f"--datadir={partial}",
                "--auth-root-authentication-method=normal",
                "--skip-test-db",  # and no anonymous account, which would shadow the tests' own
                *self.as_user(),
            ],
        )
        partial.rename(self.data)

    def command(self) -> list[str]:
        return [
            self.program("mariadbd"),
            "--no-defaults",
            *self.as_user(),
            f"--datadir={self.data}",
            f"--port={self.port}",
            f"--socket={self.socket}",
            f"--pid-file={HOME / 'pid'}",
            f"--default-time-zone={self.time_zone}",
            *shlex.split(OPTIONS),
            *shlex.split(os.environ.get("MARIADB_OPTIONS", "")),
        ]

    def answers(self) -> bool:
        """Asks as the tests' account through the port, having made the account where it is missing."""
        client = [self.program("mariadb"), "--no-defaults", "--batch", "--connect-timeout=5"]
        return sql_accounts.answers(client, port=self.port, socket=str(self.socket))

    def environment(self) -> dict[str, str]:
        if not self.is_installed():
            return {}
        if running := self.running():
            self.port = running.port
        return {"TEST_MARIADB_URL": sql_accounts.url(self.port), "MARIADB_DUMP": self.program("mariadb-dump")}
