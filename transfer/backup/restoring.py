"""Restoring a backup: checked before anything is touched, and again after; then brought up to this version."""

from __future__ import annotations

from collections.abc import Callable
from pathlib import Path

from django.apps import apps
from django.conf import settings
from django.core.management import call_command
from django.db import connection
from django.db.migrations.loader import MigrationLoader

from database.operations import ActiveView
from records import marks
from records.models import Lease
from transfer.backup import servers, sqlite_files
from transfer.backup.checksums import TableSum, base_tables, sum_tables
from transfer.backup.manifest import Manifest, check_file, read_manifest
from transfer.backup.problem import BackupProblem
from transfer.backup.writing import VIEWS, vendor

# What an empty desk has: its schema's own rows, and what its worker notes of itself.
OF_AN_EMPTY_DESK = {
    "django_migrations", "django_content_type", "auth_permission", "sweep_watermarks", "worker_leases",
    "arrival_places", "mcp_catalogue",
}  # fmt: skip


def restore(folder: Path, *, replace: bool, say: Callable[[str], None] = lambda line: None) -> Manifest:
    """The backup into this desk's database. A database that holds records is only replaced when told so."""
    manifest = read_manifest(folder)
    _refuse_other_database(manifest)
    _refuse_newer(manifest)
    held = _held(manifest)
    if held and not replace:
        raise BackupProblem(
            f"The database is not empty ({', '.join(held[:5])} hold rows). With --replace all of it is thrown away."
        )
    say("checking the backup")
    path = check_file(manifest, folder)
    say("loading")
    if manifest.vendor == "sqlite":
        with sqlite_files.opened(connection, path) as copy:
            _verify(manifest, sum_tables(copy, base_tables(copy)), "Nothing was restored.")
        sqlite_files.copy_in(connection, path)
    else:
        servers.find_tool(manifest.vendor, "client")
        _drop(manifest)
        servers.load(connection, manifest.vendor, path)
        with connection.schema_editor() as editor:
            for view in manifest.views:
                ActiveView(view.removeprefix(VIEWS)).database_forwards("", editor, None, None)
    say("comparing checksums")
    _verify(manifest, sum_tables(connection, list(manifest.tables)), "The database is not to be used.")
    say("bringing the schema up to this version")
    call_command("migrate", interactive=False, verbosity=0)
    Lease.objects.all().delete()  # of processes that ran when the backup was made
    marks.forget_projected()
    return manifest


def _refuse_other_database(manifest: Manifest) -> None:
    if manifest.vendor != vendor():
        raise BackupProblem(
            f"This is a backup of {manifest.vendor}, and the desk's database is {vendor()}. To move from one to the"
            " other: `manage.py export FILE --project SLUG` there, `manage.py import_jsonl FILE` here, for each project."
        )


def _refuse_newer(manifest: Manifest) -> None:
    loader = MigrationLoader(None)
    unknown = [f"{app}.{name}" for app, name in manifest.migrations if not _knows(loader, app, name)]
    if unknown or _numbers(manifest.program) > _numbers(settings.VERSION):
        why = f" (unknown here: {', '.join(unknown[:3])})" if unknown else ""
        raise BackupProblem(
            f"The backup was made by version {manifest.program}, and this is {settings.VERSION}{why}. Restore it with a"
            " program at least as new."
        )


def _knows(loader: MigrationLoader, app: str, name: str) -> bool:
    """Migrations that were squashed since are known by what replaced them."""
    replaced = {key for migration in loader.disk_migrations.values() for key in migration.replaces}  # type: ignore[union-attr]
    return (app, name) in loader.disk_migrations or (app, name) in replaced  # type: ignore[operator]


def _numbers(version: str) -> tuple[int, ...]:
    return tuple(int(part) for part in version.split(".") if part.isdigit())


def _ours(manifest: Manifest) -> set[str]:
    known = {model._meta.db_table for model in apps.get_models(include_auto_created=True)}
    return (known | set(manifest.tables) | {"django_migrations"}) & set(base_tables(connection))


def _held(manifest: Manifest) -> list[str]:
    """Tables with rows that an empty desk does not have."""
    quote = connection.ops.quote_name
    held = []
    with connection.cursor() as cursor:
        for table in sorted(_ours(manifest) - OF_AN_EMPTY_DESK):
            cursor.execute(f"SELECT 1 FROM {quote(table)} LIMIT 1")
            if cursor.fetchone():
                held.append(table)
    return held


def _drop(manifest: Manifest) -> None:
    quote = connection.ops.quote_name
    with connection.cursor() as cursor:
        found = connection.introspection.get_table_list(cursor)
        cursor.execute("SET FOREIGN_KEY_CHECKS = 0")
        for view in found:
            if view.type == "v" and view.name.startswith(VIEWS):
                cursor.execute(f"DROP VIEW {quote(view.name)}")
        # First what says that this is a desk: should all end here, nothing takes the rest for one.
        for table in sorted(_ours(manifest), key=lambda name: (name != "django_migrations", name)):
            cursor.execute(f"DROP TABLE {quote(table)}")
        cursor.execute("SET FOREIGN_KEY_CHECKS = 1")


def _verify(manifest: Manifest, found: dict[str, TableSum], otherwise: str) -> None:
    wrong = [table for table, said in manifest.tables.items() if found.get(table) != said]
    if wrong:
        raise BackupProblem(f"Rows are not as they were backed up: {', '.join(wrong)}. {otherwise}")
