"""Whether the tables of the database are those that this program was written for."""

from __future__ import annotations

import time
from collections.abc import Callable
from pathlib import Path

from django.apps import apps
from django.conf import settings
from django.db import InterfaceError, OperationalError, connection
from django.db.migrations.loader import MigrationLoader

NAMED = 3
ASK_EVERY_SECONDS = 2.0


class OtherSchema(RuntimeError):
    """The database was made by another version of the program; the message says what to do."""


class NewerSchema(OtherSchema):
    pass


class OlderSchema(OtherSchema):
    pass


def check_schema() -> None:
    """Raises NewerSchema where a later version has changed the tables, OlderSchema where they must be brought up to date.

    A later version may have given a column another meaning: an older one that goes on writing spoils what it made of it.
    """
    loader = MigrationLoader(connection)
    if unknown := _unknown(loader):
        raise NewerSchema(
            "The database was changed by a newer version of Memory Desk, which this one does not know"
            f" ({_named(unknown)}). Install that version again, or restore the backup made before the upgrade."
        )
    if missing := sorted(key for key in loader.graph.nodes if key not in loader.applied_migrations):
        raise OlderSchema(
            f"The database lacks {len(missing)} changes of this version ({_named(missing)})."
            " Make a backup, then run: manage.py migrate"
        )


def await_schema(say: Callable[[str], object], seconds: float) -> None:
    """check_schema at the start of a process, which may come up before its database does."""
    give_up_at, told = time.monotonic() + seconds, False
    while True:
        try:
            return check_schema()
        except (OperationalError, InterfaceError) as error:
            connection.close()
            if time.monotonic() > give_up_at:
                raise OtherSchema(f"The database does not answer: {error}") from error
            if not told:
                say(f"Waiting for the database: {error}")
                told = True
            time.sleep(ASK_EVERY_SECONDS)
        finally:
            if not connection.in_atomic_block:
                connection.close()  # whoever starts may fork next


def _unknown(loader: MigrationLoader) -> list[tuple[str, str]]:
    """Migrations of our own apps that the database has and this program does not; what libraries add is theirs."""
    ours = {
        config.label for config in apps.get_app_configs() if Path(config.path).parent == settings.BASE_DIR
    }
    known = set(loader.disk_migrations)
    known |= {old for migration in loader.disk_migrations.values() for old in migration.replaces}
    return sorted(key for key in loader.applied_migrations if key[0] in ours and key not in known)


def _named(keys: list[tuple[str, str]]) -> str:
    shown = [".".join(key) for key in keys[:NAMED]]
    return ", ".join(shown) + (", …" if len(keys) > NAMED else "")
