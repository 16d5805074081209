"""The servers' own tools: mysqldump or mariadb-dump, and the client that reads what they write.

The password goes through an option file that only we can read: neither the command line nor the environment of
another process shows it.
"""

from __future__ import annotations

import os
import shutil
import subprocess
import tempfile
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import IO, Any

from django.db import OperationalError
from django.db.backends.base.base import BaseDatabaseWrapper

from transfer.backup.problem import BackupProblem

LOCK_SECONDS = 30
FIRST_TABLE = b"-- Table structure for table"
COMPLETE = b"-- Dump completed"
CHUNK = 1024 * 1024
# (variable, names on the PATH) of the dump tool and of the client
TOOLS = {
    ("mysql", "dump"): ("MYSQLDUMP", ("mysqldump",)),
    ("mysql", "client"): ("MYSQL_CLIENT", ("mysql",)),
    ("mariadb", "dump"): ("MARIADB_DUMP", ("mariadb-dump", "mysqldump")),
    ("mariadb", "client"): ("MARIADB_CLIENT", ("mariadb", "mysql")),
}
NAMES = {"mysql": "MySQL", "mariadb": "MariaDB"}


def find_tool(vendor: str, purpose: str) -> str:
    """The path of the tool that belongs to the server; that of the other vendor is none."""
    variable, names = TOOLS[vendor, purpose]
    given = os.environ.get(variable)
    found = [given] if given else [path for name in names if (path := shutil.which(name))]
    for path in found:
        try:
            said = subprocess.run(
                [path, "--version"],
                capture_output=True,
                text=True,
                stdin=subprocess.DEVNULL,
                timeout=30,
                check=True,
            ).stdout
        except (OSError, subprocess.SubprocessError) as error:
            raise BackupProblem(f"{variable}={path} cannot be run: {error}") from error
        if ("MariaDB" in said) == (vendor == "mariadb"):
            return path
    wrong = f" {found[0]} is of the other." if found else ""
    raise BackupProblem(
        f"The server is {NAMES[vendor]}, and its {names[0]} was not found.{wrong} Install {NAMES[vendor]}'s client"
        f" programs, or name the program in {variable}."
    )


@contextmanager
def option_file(settings: dict[str, Any]) -> Iterator[str]:
    """How to connect, in a file of mode 0600 that is gone afterwards; the argument that names it."""
    options = {"user": settings["USER"], "password": settings["PASSWORD"], "port": settings["PORT"]}
    host = str(settings["HOST"] or "127.0.0.1")
    options |= {"socket": host} if host.startswith("/") else {"host": host}
    if host[:1].isdigit():
        options["protocol"] = "tcp"
    tls = settings.get("OPTIONS", {}).get("ssl") or {}
    options |= {f"ssl-{name}": tls[name] for name in ("ca", "cert", "key") if name in tls}
    lines = [f"{name}={_quoted(str(value))}" for name, value in options.items() if value not in ("", None)]
    with tempfile.TemporaryDirectory(prefix="memory-desk-") as folder:  # of mode 0700
        path = Path(folder) / "client.cnf"
        path.touch(mode=0o600)
        path.write_text("\n".join(["[client]", *lines, ""]), encoding="utf-8")
        yield f"--defaults-extra-file={path}"


def _quoted(value: str) -> str:
    """As an option file takes it: a # or a quote inside means nothing there."""
    escaped = value.replace("\\", "\\\\").replace('"', '\\"')
    for plain, written in (("\n", "\\n"), ("\r", "\\r"), ("\t", "\\t")):
        escaped = escaped.replace(plain, written)
    return f'"{escaped}"'


@contextmanager
def snapshot(connection: BaseDatabaseWrapper) -> Iterator[BaseDatabaseWrapper]:
    """A connection of its own that sees everything as at one moment."""
    reader = connection.copy()
    try:
        with reader.cursor() as cursor:
            cursor.execute("SET SESSION TRANSACTION ISOLATION LEVEL REPEATABLE READ")
            cursor.execute("START TRANSACTION WITH CONSISTENT SNAPSHOT")
        yield reader
    finally:
        reader.close()


@contextmanager
def writers_waiting(connection: BaseDatabaseWrapper, tables: list[str]) -> Iterator[Callable[[], None]]:
    """Nobody writes to the tables until the function is called: two snapshots taken meanwhile are the same."""
    locker = connection.copy()
    quote = connection.ops.quote_name
    try:
        with locker.cursor() as cursor:
            cursor.execute(f"SET SESSION lock_wait_timeout = {LOCK_SECONDS}")
            cursor.execute("LOCK TABLES " + ", ".join(f"{quote(table)} READ" for table in tables))
        yield locker.close
    except OperationalError as error:
        if error.args[0] == 1205:
            raise BackupProblem(
                f"A transaction has held some table for {LOCK_SECONDS} seconds; back up when it has ended."
            ) from error
        if error.args[0] in (1044, 1142):
            raise BackupProblem(
                f"The database account may not lock tables for a moment: {error.args[1]}"
            ) from error
        raise
    finally:
        locker.close()


def dump(
    connection: BaseDatabaseWrapper,
    vendor: str,
    tables: list[str],
    path: Path,
    snapshot_taken: Callable[[], None],
) -> None:
    """Write the tables into the file; `snapshot_taken` is called once the tool has its snapshot."""
    tool = find_tool(vendor, "dump")
    settings = connection.settings_dict
    extra = ["--set-gtid-purged=OFF", "--column-statistics=0"] if vendor == "mysql" else []
    with option_file(settings) as options, path.open("wb") as file, tempfile.TemporaryFile() as errors:
        command = [
            tool, options, "--single-transaction", "--skip-lock-tables", "--quick", "--hex-blob", "--no-tablespaces",
            "--skip-triggers", "--skip-add-drop-table", "--default-character-set=utf8mb4", *extra,
            str(settings["NAME"]), *tables,
        ]  # fmt: skip
        process = subprocess.Popen(
            command, stdin=subprocess.DEVNULL, stdout=subprocess.PIPE, stderr=errors, start_new_session=True
        )
        try:
            assert process.stdout is not None
            end = _copy(process.stdout, file, snapshot_taken)
        except BaseException:
            process.kill()
            raise
        finally:
            process.wait()
        if process.returncode or COMPLETE not in end:
            raise BackupProblem(f"{tool} failed: {_said(errors) or f'it ended with {process.returncode}'}")


def _copy(source: IO[bytes], target: IO[bytes], snapshot_taken: Callable[[], None]) -> bytes:
    """Copies all of it and answers its end."""
    begun, end = b"", b""
    taken = False
    while chunk := source.read1(CHUNK):  # type: ignore[attr-defined]
        target.write(chunk)
        end = (end + chunk)[-400:]
        if not taken:
            begun = (begun + chunk)[-100_000:]
            if FIRST_TABLE in begun:
                taken = True
                snapshot_taken()
    return end


def load(connection: BaseDatabaseWrapper, vendor: str, path: Path) -> None:
    """Run the statements of a dump in the connection's database."""
    tool = find_tool(vendor, "client")
    settings = connection.settings_dict
    with option_file(settings) as options, path.open("rb") as file, tempfile.TemporaryFile() as errors:
        command = [tool, options, "--batch", "--default-character-set=utf8mb4", str(settings["NAME"])]
        done = subprocess.run(command, stdin=file, stdout=subprocess.DEVNULL, stderr=errors, check=False)
        if done.returncode:
            raise BackupProblem(
                f"{tool} failed: {_said(errors) or f'it ended with {done.returncode}'}. The database is half restored:"
                " mend what it says and run restore again with --replace."
            )


def _said(errors: IO[bytes]) -> str:
    errors.seek(0)
    return errors.read().decode("utf-8", "replace").strip()[-2000:]
