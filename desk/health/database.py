"""The database as it is set up: what the desk counts on, checked, and how large it is."""

from __future__ import annotations

import shutil
from dataclasses import dataclass
from datetime import UTC
from pathlib import Path
from typing import Any

from django.conf import settings
from django.db import connection
from django.utils import timezone
from django.utils.translation import gettext as _

from desk.health.findings import Finding, Level, judged

MIB = 1024 * 1024
# A revision is a whole record as JSON, and a record may have several texts of 1 MiB.
LEAST_PACKET = 16 * MIB
LEAST_MYSQL, LEAST_MARIADB = (8, 0), (10, 11)
CLOCK_SECONDS = 5.0
LEAST_FREE, LEAST_FREE_SHARE = 1024 * MIB, 0.05


@dataclass(frozen=True)
class Server:
    """`mode`: how it treats a value that does not fit, and what it does at a commit."""

    name: str
    version: str
    mode: str
    place: str
    bytes: int


def server() -> Server:
    database = settings.DATABASES["default"]
    if connection.vendor == "sqlite":
        (version,) = _row("SELECT sqlite_version()")
        (journal,) = _row("PRAGMA journal_mode")
        (pages,), (size,) = _row("PRAGMA page_count"), _row("PRAGMA page_size")
        return Server("SQLite", version, f"journal {journal}", str(database["NAME"]), pages * size)
    version, mode = _row("SELECT VERSION(), @@session.sql_mode")
    (size,) = _row(
        "SELECT COALESCE(SUM(data_length + index_length), 0) FROM information_schema.tables WHERE table_schema = DATABASE()"
    )
    name = "MariaDB" if connection.mysql_is_mariadb else "MySQL"  # type: ignore[attr-defined]
    place = f"{database['NAME']} on {database['HOST'] or 'localhost'}"
    return Server(name, version, mode, place, int(size))


def check_database() -> list[Finding]:
    """Session and server as this process sees them; one finding each, the good ones too."""
    return _check_sqlite() if connection.vendor == "sqlite" else _check_mysql()


def _check_sqlite() -> list[Finding]:
    (journal,) = _row("PRAGMA journal_mode")
    area = _("database")
    text = _("SQLite, journal %s") % journal
    fix = _("Close whatever else has the file open, then restart the desk: it asks for WAL itself.")
    return [judged(journal in ("wal", "memory"), area, text, fix)]


def _check_mysql() -> list[Finding]:
    mariadb: bool = connection.mysql_is_mariadb  # type: ignore[attr-defined]
    least = LEAST_MARIADB if mariadb else LEAST_MYSQL
    found: dict[str, str] = _variables()
    name, version = "MariaDB" if mariadb else "MySQL", connection.mysql_version  # type: ignore[attr-defined]
    needed = ".".join(map(str, least))
    isolation = found.get("transaction_isolation") or found.get("tx_isolation") or "?"
    packet = int(found["max_allowed_packet"])
    logs = found["log_bin"] != "OFF"
    durable = found["innodb_flush_log_at_trx_commit"] == "1" and (found["sync_binlog"] == "1" or not logs)
    return [
        judged(version[:2] >= least, _("database"), f"{name} {'.'.join(map(str, version))}",
               _("Move to %(name)s %(least)s or newer.") % {"name": name, "least": needed}),
        judged("STRICT_" in found["sql_mode"], _("sql_mode"), found["sql_mode"] or _("empty"),
               _("Values that do not fit are cut off silently: set sql_mode=STRICT_TRANS_TABLES in the server's configuration.")),
        judged(isolation == "READ-COMMITTED", _("isolation"), isolation,
               _("The desk asks for READ COMMITTED when it connects: a proxy in between must pass that on.")),
        judged(found["time_zone"] == "+00:00", _("session time zone"), found["time_zone"],
               _("The desk asks for UTC when it connects: a proxy in between must pass that on.")),
        _clock(),
        judged(packet >= LEAST_PACKET, _("max_allowed_packet"), f"{packet // MIB} MiB",
               _("Set max_allowed_packet=64M: a record of several long texts would be refused.")),
        *_collations(),
        judged(durable, _("durability"),
               f"innodb_flush_log_at_trx_commit={found['innodb_flush_log_at_trx_commit']}, sync_binlog={found['sync_binlog']}",
               _("A write that was answered may be lost when the machine fails: set both to 1."), otherwise=Level.WARN),
        judged(not logs or found["binlog_format"] != "STATEMENT", _("binary log"),
               found["binlog_format"] if logs else _("off"),
               _("READ COMMITTED cannot be logged by statement: set binlog_format=ROW.")),
        judged(int(found["max_connections"]) >= _connections_wanted(), _("max_connections"), found["max_connections"],
               _("The web processes alone may open %s: raise it, or lower WEB_PROCESSES × WEB_THREADS.") % _connections_wanted(),
               otherwise=Level.WARN),
    ]  # fmt: skip


def _variables() -> dict[str, str]:
    names = (
        "sql_mode", "transaction_isolation", "tx_isolation", "time_zone", "max_allowed_packet", "log_bin",
        "innodb_flush_log_at_trx_commit", "sync_binlog", "binlog_format", "max_connections",
    )  # fmt: skip
    with connection.cursor() as cursor:
        cursor.execute(
            f"SHOW SESSION VARIABLES WHERE Variable_name IN ({', '.join(['%s'] * len(names))})", names
        )
        return {
            "binlog_format": "ROW",
            **{str(name).lower(): str(value) for name, value in cursor.fetchall()},
        }


def _clock() -> Finding:
    """Leases compare times of several machines."""
    asked_at = timezone.now()
    (told,) = _row("SELECT UTC_TIMESTAMP(6)")
    off = abs((told.replace(tzinfo=UTC) - asked_at).total_seconds())
    return judged(off < CLOCK_SECONDS, _("clock"), _("%.1f s apart from this machine's") % off,
                  _("Run a time service on both machines: leases and times of records go by the clock."))  # fmt: skip


def _collations() -> list[Finding]:
    (collation,) = _row(
        "SELECT default_collation_name FROM information_schema.schemata WHERE schema_name = DATABASE()"
    )
    (strange,) = _row(
        "SELECT COUNT(*) FROM information_schema.tables WHERE table_schema = DATABASE() AND table_type = 'BASE TABLE'"
        " AND (table_collation NOT LIKE 'utf8mb4%%' OR engine <> 'InnoDB')"
    )
    name = connection.settings_dict["NAME"]
    return [
        judged(collation.startswith("utf8mb4"), _("collation"), collation,
               f"ALTER DATABASE `{name}` CHARACTER SET utf8mb4"),
        judged(not strange, _("tables"), _("%d are not InnoDB in utf8mb4") % strange if strange else _("all InnoDB, utf8mb4"),
               "ALTER TABLE … ENGINE=InnoDB, CONVERT TO CHARACTER SET utf8mb4"),
    ]  # fmt: skip


def _connections_wanted() -> int:
    return settings.WEB_PROCESSES * (settings.WEB_THREADS + 2)


def check_disk() -> list[Finding]:
    """Of this machine: where DATA_DIR and, with SQLite, the database lie."""
    usage = shutil.disk_usage(_existing(Path(settings.DATA_DIR)))
    free = usage.free / max(usage.total, 1)
    text = _("%(free)s GiB free (%(share)s %%) at %(place)s") % {
        "free": f"{usage.free / 1024**3:.1f}", "share": round(100 * free), "place": settings.DATA_DIR,
    }  # fmt: skip
    good = usage.free >= LEAST_FREE and (free >= LEAST_FREE_SHARE or usage.free >= 20 * LEAST_FREE)
    fix = _("Make room, or move DATA_DIR: SQLite and backups fail on a full disk.")
    return [
        judged(good, _("disk"), text, fix, otherwise=Level.BAD if usage.free < LEAST_FREE else Level.WARN)
    ]


def _existing(path: Path) -> Path:
    return next(one for one in (path, *path.parents) if one.exists())


def table_names() -> list[str]:
    with connection.cursor() as cursor:
        return sorted(
            table.name for table in connection.introspection.get_table_list(cursor) if table.type == "t"
        )


def rows_of(table: str) -> int:
    (count,) = _row(f"SELECT COUNT(*) FROM {connection.ops.quote_name(table)}")
    return int(count)


def _row(statement: str) -> tuple[Any, ...]:
    with connection.cursor() as cursor:
        cursor.execute(statement, [])
        row: tuple[Any, ...] = cursor.fetchone()
        return row
