"""SQLite's test database, migrated once: later runs begin with a copy of it, as long as no migration changed.

`migrate` still runs on the copy, and finds nothing left to do.
"""

from __future__ import annotations

import hashlib
import os
import sqlite3
import sys
from contextlib import closing
from pathlib import Path
from typing import Any

import django
from django.conf import settings
from django.db import connection
from django.db.backends.signals import connection_created

TOP = Path(__file__).resolve().parent.parent


def template() -> Path:
    """Named after all that a migrated database depends on."""
    parts = [*TOP.glob("*/migrations/*.py"), *TOP.glob("database/*.py"), TOP / "constraints.txt"]
    digest = hashlib.sha256(f"{django.__version__} {sqlite3.sqlite_version} {sys.version}".encode())
    for part in sorted(parts):
        digest.update(str(part.relative_to(TOP)).encode() + part.read_bytes())
    return Path(settings.DATA_DIR) / f"migrated-{digest.hexdigest()[:16]}.sqlite3"


class Migrated:
    """Fills the first, empty connection from the template; `keep` makes the template where there is none."""

    def __init__(self) -> None:
        self.template = template()
        if connection.vendor == "sqlite" and self.template.exists():
            connection_created.connect(self._fill)

    def _fill(self, connection: Any, **_signal: Any) -> None:
        database = connection.connection
        if not database.execute("SELECT COUNT(*) FROM sqlite_master").fetchone()[0]:
            with closing(sqlite3.connect(self.template)) as kept:
                kept.backup(database)

    def keep(self) -> None:
        connection_created.disconnect(self._fill)
        if connection.vendor != "sqlite" or self.template.exists():
            return
        for old in self.template.parent.glob("migrated-*.sqlite3"):
            old.unlink(missing_ok=True)
        own = self.template.with_suffix(f".{os.getpid()}")
        connection.ensure_connection()
        with closing(sqlite3.connect(own)) as kept:
            connection.connection.backup(kept)
        own.replace(self.template)
