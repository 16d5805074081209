"""Row counts and checksums of tables that do not depend on the database: equal rows give equal sums on each.

The sum of the digests of its rows, so that no order is needed (each server's collation has its own).
"""

from __future__ import annotations

import hashlib
import json
from collections.abc import Callable, Iterator
from dataclasses import dataclass
from datetime import UTC, date, datetime
from decimal import Decimal
from typing import Any

from django.apps import apps
from django.db import models
from django.db.backends.base.base import BaseDatabaseWrapper
from django.db.migrations.recorder import MigrationRecorder
from django.utils.dateparse import parse_datetime

from records.foreign_json import read_json

ROWS_A_PAGE = 200
SUM_BITS = 256


@dataclass(frozen=True)
class TableSum:
    rows: int
    checksum: str


def base_tables(connection: BaseDatabaseWrapper) -> list[str]:
    """Every table of the database, views and SQLite's full-text indexes left out; migrations' history comes last."""
    with connection.cursor() as cursor:
        names = {table.name for table in connection.introspection.get_table_list(cursor) if table.type == "t"}
        if connection.vendor == "sqlite":
            cursor.execute("SELECT name FROM pragma_table_list WHERE type IN ('virtual', 'shadow')")
            names -= {name for (name,) in cursor.fetchall()}
    return sorted(names, key=lambda name: (name == "django_migrations", name))


def sum_tables(
    connection: BaseDatabaseWrapper, tables: list[str], say: Callable[[str], None] = lambda table: None
) -> dict[str, TableSum]:
    """Of each table. Within one snapshot, if the connection is in one."""
    sums = {}
    for table in tables:
        say(table)
        sums[table] = sum_table(connection, table)
    return sums


def sum_table(connection: BaseDatabaseWrapper, table: str) -> TableSum:
    total = rows = 0
    for digest in _row_digests(connection, table):
        total += digest
        rows += 1
    return TableSum(rows, f"{total % 2**SUM_BITS:064x}")


def _row_digests(connection: BaseDatabaseWrapper, table: str) -> Iterator[int]:
    with connection.cursor() as cursor:
        columns = [column.name for column in connection.introspection.get_table_description(cursor, table)]
        key = connection.introspection.get_primary_key_column(cursor, table)
    fields = _fields_of(table)
    readers = [_reader(fields.get(column)) for column in columns]
    for row in _rows(connection, table, columns, key):
        said = {
            column: read(value)
            for column, read, value in zip(columns, readers, row, strict=True)
            if value is not None
        }
        text = json.dumps(said, sort_keys=True, ensure_ascii=True, separators=(",", ":"))
        yield int.from_bytes(hashlib.sha256(text.encode("ascii")).digest(), "big")


def _rows(
    connection: BaseDatabaseWrapper, table: str, columns: list[str], key: str | None
) -> Iterator[tuple[Any, ...]]:
    """By pages of the primary key, since the servers' drivers hold a whole answer in memory."""
    quote = connection.ops.quote_name
    select = f"SELECT {', '.join(map(quote, columns))} FROM {quote(table)}"
    with connection.cursor() as cursor:
        if key is None:
            cursor.execute(select)
            yield from cursor.fetchall()
            return
        position = columns.index(key)
        order = f" ORDER BY {quote(key)} LIMIT {ROWS_A_PAGE}"
        cursor.execute(select + order)
        while page := cursor.fetchall():
            yield from page
            if len(page) < ROWS_A_PAGE:
                return
            cursor.execute(f"{select} WHERE {quote(key)} > %s{order}", [page[-1][position]])


def _fields_of(table: str) -> dict[str, models.Field[Any, Any]]:
    """The columns that this version of the program knows, by name."""
    known: list[Any] = [*apps.get_models(include_auto_created=True), MigrationRecorder.Migration]
    for model in known:
        if model._meta.db_table == table:
            return {field.column: field for field in model._meta.concrete_fields}
    return {}


def _reader(field: models.Field[Any, Any] | None) -> Callable[[Any], Any]:
    """How a raw value is said alike for every database."""
    while isinstance(field, models.ForeignKey):
        field = field.target_field
    if isinstance(field, models.JSONField):
        return lambda value: read_json(_text(value)) if isinstance(value, str | bytes) else value
    if isinstance(field, models.DateTimeField):
        return _time
    if isinstance(field, models.DecimalField):
        places = Decimal(1).scaleb(-field.decimal_places)
        return lambda value: str(Decimal(str(value)).quantize(places))
    if isinstance(field, models.BooleanField):
        return bool
    if isinstance(field, models.FloatField):
        return lambda value: repr(float(value))
    return _plain


def _text(value: str | bytes) -> str:
    return value.decode("utf-8", "surrogateescape") if isinstance(value, bytes) else value


def _time(value: Any) -> str:
    when = parse_datetime(value) if isinstance(value, str) else value
    if not isinstance(when, datetime):
        return str(value)
    if when.tzinfo is not None:
        when = when.astimezone(UTC).replace(tzinfo=None)
    return when.isoformat(timespec="microseconds")


def _plain(value: Any) -> Any:
    if isinstance(value, datetime):
        return _time(value)
    if isinstance(value, date | Decimal):
        return str(value)
    if isinstance(value, bytes | bytearray | memoryview):
        return bytes(value).hex()
    return repr(value) if isinstance(value, float) else value
