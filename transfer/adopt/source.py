"""Reading plain MySQL tables, never writing: a read-only snapshot, raw bytes, some rows at a time."""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from datetime import UTC, timedelta, timezone, tzinfo
from importlib import import_module
from types import ModuleType
from typing import Any
from zoneinfo import ZoneInfo, ZoneInfoNotFoundError

import dj_database_url
from django.conf import settings

DRIVERS = ("MySQLdb", "pymysql")
ROWS_A_BATCH = 400
BYTES_A_BATCH = 2 * 1024 * 1024
TABLES = ("architecture_decisions", "code_patterns", "work_sessions", "pitfalls")
OF_A_DESK = {"django_migrations", "projection_marks"}
TEXTS = {"char", "varchar", "tinytext", "text", "mediumtext", "longtext", "enum", "set"}
WHOLE = {"tinyint", "smallint", "mediumint", "int", "bigint"}
BYTES = {"binary", "varbinary", "tinyblob", "blob", "mediumblob", "longblob"}
Row = dict[str, bytes | None]


class SourceProblem(Exception):
    """The source cannot be read, or must not be; the text says what to do."""


@dataclass
class Table:
    """One of the four, as the source has it: its columns with their types."""

    name: str
    columns: dict[str, str] = field(default_factory=dict)


def driver() -> ModuleType:
    """mysqlclient, or PyMySQL where that is not installed: both answer raw bytes."""
    for name in DRIVERS:
        try:
            return import_module(name)
        except ImportError:
            continue
    raise SourceProblem(
        "Reading MySQL needs a driver: `pip install mysqlclient` (as requirements.txt does), or, without a"
        " compiler, `pip install pymysql cryptography`."
    )


class Source:
    """A connection that can only read, with everything seen as at one moment."""

    def __init__(self, url: str) -> None:
        try:
            parsed = dj_database_url.parse(url)
            if parsed["ENGINE"] != "django.db.backends.mysql" or not parsed["NAME"]:
                raise ValueError
        except (ValueError, KeyError) as error:
            raise SourceProblem("--mysql must look like mysql://user:password@host:3306/name.") from error
        self.database = str(parsed["NAME"])
        self.host = str(parsed.get("HOST") or "127.0.0.1").lower().replace("localhost", "127.0.0.1")
        self.port = int(parsed.get("PORT") or 3306)
        self.module = driver()
        options: dict[str, Any] = dict(parsed.get("OPTIONS") or {})
        # No converters of values that are read; PyMySQL wants some for what it sends.
        options["conv"] = dict(getattr(import_module(f"{self.module.__name__}.converters"), "encoders", {}))
        options |= {"unix_socket": self.host} if self.host.startswith("/") else {"host": self.host}
        try:
            self._connection = self.module.connect(
                user=str(parsed.get("USER") or ""), password=str(parsed.get("PASSWORD") or ""), port=self.port,
                database=self.database, charset="utf8mb4", use_unicode=False, connect_timeout=10, **options,
            )  # fmt: skip
        except (self.module.Error, RuntimeError) as error:
            raise SourceProblem(f"{self.name} cannot be opened: {_said(error)}") from error
        self._begin()

    @property
    def name(self) -> str:
        """Without credentials: what the source is known by."""
        return f"{self.host}:{self.port}/{self.database}"

    def _begin(self) -> None:
        for statement in (
            "SET SESSION TRANSACTION READ ONLY",
            "SET SESSION TRANSACTION ISOLATION LEVEL REPEATABLE READ",
            "SET SESSION sql_mode = '', time_zone = '+00:00', wait_timeout = 28800",
            "START TRANSACTION WITH CONSISTENT SNAPSHOT, READ ONLY",
        ):
            self.ask(statement)

    def close(self) -> None:
        self._connection.close()

    def ask(self, statement: str, arguments: Sequence[Any] = ()) -> list[tuple[bytes | None, ...]]:
        """The rows of one statement, each value as the server sent it."""
        cursor = self._connection.cursor()
        try:
            cursor.execute(statement, tuple(arguments) or None)
            return list(cursor.fetchall()) if cursor.description else []
        except self.module.Error as error:
            raise SourceProblem(f"{self.name}: {_said(error)}") from error
        finally:
            cursor.close()

    def who(self) -> tuple[str, ...]:
        """Which server and database this is, as itself says."""
        return tuple(
            (value or b"").decode() for value in self.ask("SELECT @@hostname, @@port, DATABASE()")[0]
        )

    def tables(self) -> dict[str, Table]:
        """Those of the four that are there. Refuses a database that is a desk's own."""
        found: dict[str, Table] = {}
        names: set[str] = set()
        rows = self.ask(
            "SELECT table_name AS t, column_name AS c, data_type AS d FROM information_schema.columns"
            " WHERE table_schema = DATABASE() ORDER BY table_name, ordinal_position"
        )
        for table, column, data_type in rows:
            name = (table or b"").decode()
            names.add(name)
            if name in TABLES:
                made = found.setdefault(name, Table(name))
                made.columns[(column or b"").decode()] = (data_type or b"").decode().lower()
        if names >= OF_A_DESK:
            raise SourceProblem(
                f"{self.name} is a Memory Desk's own database: move it with backup and restore, or a project of it"
                " with export and import_jsonl."
            )
        return found

    def count(self, table: Table) -> int:
        return int(self.ask(f"SELECT COUNT(*) FROM {_quoted(table.name)}")[0][0] or 0)

    def greatest(self, table: Table, column: str = "id") -> int:
        """The greatest number in the column that could name something here."""
        if table.columns.get(column) not in WHOLE:
            return 0
        where = f"WHERE {_quoted(column)} < {2**31}"
        return int(self.ask(f"SELECT MAX({_quoted(column)}) FROM {_quoted(table.name)} {where}")[0][0] or 0)

    def batches(self, table: Table, wanted: Sequence[str]) -> Iterator[list[Row]]:
        """Rows in the order of their ids; a batch has at most so many rows and, but for a single one, bytes."""
        columns = [name for name in wanted if name in table.columns]
        reads = ", ".join(f"{self._reading(table, name)} AS {_quoted(name)}" for name in columns)
        sizes = " + ".join(f"COALESCE(LENGTH({_quoted(name)}), 0)" for name in columns)
        after: int | None = None
        while True:
            where = "" if after is None else f" WHERE id > {after}"
            page = self.ask(
                f"SELECT id, {sizes} FROM {_quoted(table.name)}{where} ORDER BY id LIMIT {ROWS_A_BATCH}"
            )
            ids = [(int(key), int(size or 0)) for key, size in page if key is not None]
            for first, last in _portions(ids):
                rows = self.ask(
                    f"SELECT {reads} FROM {_quoted(table.name)} WHERE id BETWEEN {first} AND {last} ORDER BY id"
                )
                yield [dict(zip(columns, row, strict=True)) for row in rows]
            if len(page) < ROWS_A_BATCH or not ids:
                return
            after = ids[-1][0]

    def _reading(self, table: Table, name: str) -> str:
        kind, quoted = table.columns[name], _quoted(name)
        if kind == "float":
            return f"{quoted} + 0e0"  # all its digits; as a FLOAT the server shows six
        if kind in TEXTS or kind in BYTES:
            return f"LEFT({quoted}, {settings.TEXT_MAX_BYTES + 1})"
        return quoted

    def zone(self, named: str | None) -> tzinfo:
        """In which zone its DATETIMEs were written: as named, or as the server's own clock goes where that is plain."""
        server, system = (
            (value or b"").decode() for value in self.ask("SELECT @@global.time_zone, @@system_time_zone")[0]
        )
        said = named or (system if server.upper() == "SYSTEM" else server)
        if said[:1] in "+-" and said[1:].replace(":", "").isdigit():
            hours, _, minutes = said[1:].partition(":")
            offset = timedelta(hours=int(hours), minutes=int(minutes or 0))
            return timezone(offset if said[0] == "+" else -offset)
        if said.upper() in ("UTC", "GMT", "Z"):
            return UTC
        if named or "/" in said:
            try:
                return ZoneInfo(said)
            except (ZoneInfoNotFoundError, ValueError) as error:
                raise SourceProblem(
                    f"There is no time zone {said!r}; write it like Europe/Berlin or +05:30."
                ) from error
        raise SourceProblem(
            f"{self.name} keeps its times in the zone of its machine, which it calls {said!r}: say which one that is"
            " with --time-zone, like --time-zone Europe/Berlin."
        )


def _portions(ids: Sequence[tuple[int, int]]) -> Iterator[tuple[int, int]]:
    """Ranges of ids whose rows have so many bytes together."""
    start: int | None = None
    last, total = 0, 0
    for key, size in ids:
        size = min(size, 5 * settings.TEXT_MAX_BYTES)
        if start is not None and key != last and total + size > BYTES_A_BATCH:
            yield start, last
            start = None
        if start is None:
            start, total = key, 0
        last, total = key, total + size
    if start is not None:
        yield start, last


def _quoted(name: str) -> str:
    return "`" + name.replace("`", "``") + "`"


def _said(error: Exception) -> str:
    """The server's own words."""
    return str(error.args[-1] if error.args else error)


def row_keys(rows: Sequence[Mapping[str, Any]]) -> list[str]:
    return [_plain(row.get("id")) for row in rows]


def _plain(value: Any) -> str:
    return value.decode("ascii", "replace") if isinstance(value, bytes) else str(value)
