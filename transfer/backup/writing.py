"""Making a backup: everything into a folder beside its place, which gets its name only once it is whole."""

from __future__ import annotations

import errno
import fcntl
import os
import shutil
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from pathlib import Path

from django.conf import settings
from django.db import connection
from django.db.migrations.recorder import MigrationRecorder
from django.utils import timezone

from transfer.backup import servers, sqlite_files
from transfer.backup.checksums import TableSum, base_tables, sum_tables
from transfer.backup.manifest import Manifest, digest_of
from transfer.backup.problem import BackupProblem

VIEWS = "active_"
Say = Callable[[str], None]


def vendor() -> str:
    """sqlite, mysql or mariadb."""
    if connection.vendor == "mysql" and connection.mysql_is_mariadb:  # type: ignore[attr-defined]
        return "mariadb"
    return connection.vendor


def back_up(folder: Path, say: Say = lambda line: None) -> Manifest:
    """The whole database into a new folder, with its manifest."""
    if folder.exists() and not (folder.is_dir() and not any(folder.iterdir())):
        raise BackupProblem(f"{folder} is there already: give each backup a folder of its own.")
    tables = base_tables(connection)
    if "django_migrations" not in tables:
        raise BackupProblem("The database holds no desk: it has no tables yet.")
    try:
        with _partial(folder) as partial:
            manifest = _write(partial, tables, say)
            for path in partial.iterdir():
                _sync(path)
            _sync(partial)
            if folder.exists():
                folder.rmdir()
            partial.rename(folder)
            _sync(folder.parent)
    except OSError as error:
        room = " Make room, or choose another disk." if error.errno == errno.ENOSPC else ""
        raise BackupProblem(
            f"{error.filename or folder}: {error.strerror}.{room} Nothing was kept."
        ) from error
    return manifest


@contextmanager
def _partial(folder: Path) -> Iterator[Path]:
    """A folder that only one process fills, and that is gone when it fails; what a killed one left is cleared."""
    partial = folder.with_name(folder.name + ".partial")
    partial.mkdir(mode=0o700, parents=True, exist_ok=True)
    partial.chmod(0o700)
    handle = os.open(partial, os.O_RDONLY | os.O_DIRECTORY)
    try:
        try:
            fcntl.flock(handle, fcntl.LOCK_EX | fcntl.LOCK_NB)
        except BlockingIOError as error:
            raise BackupProblem(f"Another backup is being written into {partial}.") from error
        for path in partial.iterdir():
            path.unlink()
        try:
            yield partial
        except BaseException:
            shutil.rmtree(partial, ignore_errors=True)
            raise
    finally:
        os.close(handle)


def _write(partial: Path, tables: list[str], say: Say) -> Manifest:
    kind = vendor()
    path = partial / ("desk.sqlite3" if kind == "sqlite" else "desk.sql")
    path.touch(mode=0o600)
    sums = _write_sqlite(path, say) if kind == "sqlite" else _write_server(path, kind, tables, say)
    manifest = Manifest(
        program=settings.VERSION,
        made_at=timezone.now().isoformat(),
        vendor=kind,
        server=".".join(str(part) for part in connection.get_database_version()),
        file=path.name,
        bytes=path.stat().st_size,
        sha256=digest_of(path),
        migrations=sorted(MigrationRecorder(connection).applied_migrations()),
        tables=sums,
        views=_views(),
    )
    manifest.write(partial)
    return manifest


def _write_sqlite(path: Path, say: Say) -> dict[str, TableSum]:
    say("copying the database")
    sqlite_files.copy_out(connection, path)
    with sqlite_files.opened(connection, path) as copy:
        return sum_tables(copy, base_tables(copy), lambda table: say(f"checksum of {table}"))


def _write_server(path: Path, kind: str, tables: list[str], say: Say) -> dict[str, TableSum]:
    servers.find_tool(kind, "dump")
    say("dumping the database")
    with servers.writers_waiting(connection, tables) as go_on, servers.snapshot(connection) as reader:
        servers.dump(connection, kind, tables, path, go_on)
        return sum_tables(reader, tables, lambda table: say(f"checksum of {table}"))


def _views() -> list[str]:
    """Ours. A dump would hold them with the name of an account that another server does not know."""
    with connection.cursor() as cursor:
        found = connection.introspection.get_table_list(cursor)
    return sorted(view.name for view in found if view.type == "v" and view.name.startswith(VIEWS))


def _sync(path: Path) -> None:
    handle = os.open(path, os.O_RDONLY)
    try:
        os.fsync(handle)
    finally:
        os.close(handle)
