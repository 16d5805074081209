"""MySQL itself, not its relative: Debian carries it in sid only, so it lives in a chroot of sid."""

import os
import shlex
import shutil
import threading
from pathlib import Path

import machine
import sql_accounts
from service import Server

HOME = machine.STATE / "mysql"
ROOT = HOME / "root"
INCLUDED = "mysql-server-core,mysql-client-core,libaio1t64,libnuma1"  # the second brings mysql and mysqldump

# Small, for two cores and several servers beside the tests. Durability stays as in production
# (a flush at each commit, the binary log on): fault tests count on it.
OPTIONS = """
    --bind-address=127.0.0.1 --mysqlx=OFF --skip-name-resolve --secure-file-priv=NULL
    --character-set-server=utf8mb4 --max-connections=100
    --performance-schema=OFF --innodb-buffer-pool-size=128M --innodb-redo-log-capacity=64M
    --table-open-cache=400 --temptable-max-ram=32M
    --max-binlog-size=16M --binlog-expire-logs-seconds=600
"""

# An option file (which holds a password) lies outside the chroot: the program reads a copy, gone when it has ended.
WRAPPER = """#!/bin/sh
case "$1" in
--defaults-extra-file=*|--defaults-file=*)
    copy=$(mktemp {root}/tmp/options.XXXXXXXX) || exit 1
    trap 'rm -f "$copy"' EXIT
    trap 'exit 143' HUP INT TERM
    cat "${{1#*=}}" >"$copy" || exit 1
    option="${{1%%=*}}=/tmp/${{copy##*/}}"
    shift
    chroot {root} {name} "$option" "$@"
    exit $? ;;
esac
exec chroot {root} {name} "$@"
"""

_installing = threading.Lock()  # two instances share one chroot


class MySQL(Server):
    """One server of the install: the usual one, or a further instance with data, port and zone of its own."""

    installs_beside_apt = True

    def __init__(self, instance: str = "") -> None:
        machine.check_instance(instance)
        self.instance = instance
        self.name = f"mysql-{instance}" if instance else "mysql"
        self.port_variable = f"MYSQL_{instance.upper()}_PORT" if instance else "MYSQL_PORT"
        self.port = int(os.environ.get(self.port_variable) or {"": 3399, "tz": 3398}.get(instance, 3396))
        zone_variable = f"MYSQL_{instance.upper()}_TIME_ZONE" if instance else "MYSQL_TIME_ZONE"
        self.time_zone = os.environ.get(zone_variable) or {"tz": "+05:30"}.get(instance, "+00:00")
        # Paths as the server sees them, inside the chroot.
        self.data = f"/var/lib/{self.name}"
        self.socket = f"/run/{self.name}.sock"

    def missing_packages(self) -> list[str]:
        return [] if self.is_installed() or machine.executable("debootstrap") else ["debootstrap"]

    def is_installed(self) -> bool:
        return ROOT.exists()

    def install(self) -> str:
        if os.geteuid() != 0:
            raise machine.Lacking(
                "it lives in a chroot, which only root can make. Without root, set TEST_MYSQL_URL"
                " (and TEST_MYSQL_TZ_URL) to a MySQL server of your own"
            )
        with _installing:
            if self.is_installed():
                return "installed with the other instance"
            machine.say("mysql: making a chroot of Debian sid")
            partial = HOME / "root.partial"
            shutil.rmtree(partial, ignore_errors=True)
            HOME.mkdir(parents=True, exist_ok=True)
            debootstrap = machine.executable("debootstrap") or "debootstrap"
            machine.run(
                "mysql-install",
                [
                    debootstrap,
                    "--variant=minbase",
                    f"--include={INCLUDED}",
                    "sid",
                    str(partial),
                    machine.debian_mirror(),
                ],
                environment=machine.apt_proxy(),
            )
            shutil.rmtree(partial / "var/cache/apt", ignore_errors=True)
            partial.rename(ROOT)
        return "installed"

    def in_chroot(self, *command: str) -> list[str]:
        return [machine.executable("chroot") or "chroot", str(ROOT), *command]

    def prepare(self) -> None:
        # A killed server leaves it, with a pid that may be another program's by now: the next would not start.
        (ROOT / f"{self.socket}.lock".lstrip("/")).unlink(missing_ok=True)
        data = ROOT / self.data.lstrip("/")
        if data.exists():
            return
        partial = f"{self.data}.partial"
        shutil.rmtree(ROOT / partial.lstrip("/"), ignore_errors=True)
        machine.run(
            f"{self.name}-initialize",
            self.in_chroot(
                "mysqld", "--no-defaults", "--initialize-insecure", "--user=root", f"--datadir={partial}"
            ),
        )
        (ROOT / partial.lstrip("/")).rename(data)

    def command(self) -> list[str]:
        return self.in_chroot(
            "mysqld",
            "--no-defaults",
            "--user=root",  # the chroot has no other user, and its data lie in root's own cache folder
            f"--datadir={self.data}",
            f"--port={self.port}",
            f"--socket={self.socket}",
            f"--pid-file=/run/{self.name}.pid",
            f"--default-time-zone={self.time_zone}",
            *shlex.split(OPTIONS),
            *shlex.split(os.environ.get("MYSQL_OPTIONS", "")),
        )

    def answers(self) -> bool:
        """Asks as the tests' account through the port, having made the account where it is missing.

        A first login by password also fills the server's cache of verified passwords: until it is
        full, clients without TLS (PyMySQL as it comes) need a public-key exchange to log in.
        """
        client = self.in_chroot("mysql", "--no-defaults", "--batch", "--connect-timeout=5")
        return sql_accounts.answers(client, port=self.port, socket=self.socket)

    def environment(self) -> dict[str, str]:
        if not self.is_installed():
            return {}
        if running := self.running():
            self.port = running.port
        variable = f"TEST_MYSQL_{self.instance.upper()}_URL" if self.instance else "TEST_MYSQL_URL"
        tools = {"MYSQLDUMP": str(tool("mysqldump")), "MYSQL_CLIENT": str(tool("mysql"))}
        return {variable: sql_accounts.url(self.port), **({} if self.instance else tools)}


def tool(name: str) -> Path:
    """A program of the chroot as one of this machine; the dump tool must match its server."""
    wrapper = HOME / "bin" / name
    text = WRAPPER.format(root=shlex.quote(str(ROOT)), name=name)
    if not wrapper.exists() or wrapper.read_text() != text:
        wrapper.parent.mkdir(parents=True, exist_ok=True)
        wrapper.write_text(text)
        wrapper.chmod(0o755)
    return wrapper
