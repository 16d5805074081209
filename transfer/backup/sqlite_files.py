"""SQLite's online backup: the whole file as at one moment, while the desk goes on writing."""

from __future__ import annotations

import sqlite3
from collections.abc import Iterator
from contextlib import closing, contextmanager
from pathlib import Path

from django.db.backends.base.base import BaseDatabaseWrapper
from django.db.backends.sqlite3.base import DatabaseWrapper

from transfer.backup.problem import BackupProblem


def copy_out(connection: BaseDatabaseWrapper, path: Path) -> None:
    """The database into a file that is whole by itself (no WAL beside it)."""
    connection.ensure_connection()
    with closing(sqlite3.connect(path)) as copy, _in_words(path):
        connection.connection.backup(copy)
        copy.execute("PRAGMA journal_mode=DELETE")
        copy.commit()


def copy_in(connection: BaseDatabaseWrapper, path: Path) -> None:
    """The file into the database, in one transaction: readers see the old one or the new one."""
    connection.ensure_connection()
    with closing(sqlite3.connect(f"file:{path}?mode=ro", uri=True)) as source, _in_words(path):
        source.backup(connection.connection)
    connection.close()
    connection.ensure_connection()  # its init command sets the WAL mode again


@contextmanager
def opened(connection: BaseDatabaseWrapper, path: Path) -> Iterator[BaseDatabaseWrapper]:
    """A file beside the desk's database, read only."""
    settings = {
        **connection.settings_dict,
        "NAME": f"file:{path}?mode=ro",
        "OPTIONS": {"uri": True},
        "CONN_HEALTH_CHECKS": False,
    }
    wrapper = DatabaseWrapper(settings, alias="backup")
    # Else it would be looked up by the alias, which no router knows.
    wrapper.features.supports_json_field = connection.features.supports_json_field
    try:
        yield wrapper
    finally:
        wrapper.close()


@contextmanager
def _in_words(path: Path) -> Iterator[None]:
    try:
        yield
    except sqlite3.OperationalError as error:
        hint = "; is a desk or a worker writing?" if "locked" in str(error) else ""
        raise BackupProblem(f"{path}: {error}{hint}") from error
