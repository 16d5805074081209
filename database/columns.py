"""Columns that mean the same on MySQL, MariaDB and SQLite, for our ORM and for plain-SQL writers alike."""

import uuid
from typing import Any

from django.core.exceptions import EmptyResultSet
from django.db import models
from django.db.backends.base.base import BaseDatabaseWrapper
from django.db.models import lookups

# Written exactly as Django writes a datetime (six digits, or none where they are all zero): SQLite compares text.
SQLITE_NOW = "REPLACE(STRFTIME('%Y-%m-%d %H:%M:%f', 'NOW') || '000', '.000000', '')"


class UtcNow(models.Func):
    """The server's clock in UTC to the microsecond, whatever zone the server or the writer's session is in."""

    arity = 0
    output_field = models.DateTimeField()

    def as_mysql(self, compiler: Any, connection: Any, **extra: Any) -> Any:
        return self.as_sql(compiler, connection, template="UTC_TIMESTAMP(6)", **extra)

    def as_sqlite(self, compiler: Any, connection: Any, **extra: Any) -> Any:
        return self.as_sql(compiler, connection, template=SQLITE_NOW.replace("%", "%%%%"), **extra)


class NewHexId(models.Func):
    """A random 32-digit hexadecimal id, made by the database for writers that name none."""

    arity = 0
    output_field = models.CharField(max_length=32)

    def as_mysql(self, compiler: Any, connection: Any, **extra: Any) -> Any:
        return self.as_sql(compiler, connection, template="REPLACE(UUID(), '-', '')", **extra)

    def as_sqlite(self, compiler: Any, connection: Any, **extra: Any) -> Any:
        return self.as_sql(compiler, connection, template="LOWER(HEX(RANDOMBLOB(16)))", **extra)


def new_hex_id() -> str:
    return uuid.uuid4().hex


class ExactCharField(models.CharField):
    """ASCII text compared byte by byte. The servers' usual collations hold 'Accepted' = 'accepted' and é = e."""

    mysql_collation = "ascii_bin"

    @property
    def is_ascii(self) -> bool:
        return self.mysql_collation.startswith("ascii")

    def db_parameters(self, connection: BaseDatabaseWrapper) -> dict[str, Any]:
        parameters = super().db_parameters(connection)
        if connection.vendor == "mysql":
            parameters["collation"] = self.mysql_collation
        return parameters


def _cannot_hold(column: Any, value: Any) -> bool:
    return isinstance(value, str) and not value.isascii() and getattr(column, "is_ascii", False)


@ExactCharField.register_lookup
class ExactOfAscii(lookups.Exact):
    """MySQL refuses to compare an ASCII column with any other text (1267). No row has it: that is the answer."""

    def as_sql(self, compiler: Any, connection: Any) -> Any:
        if _cannot_hold(self.lhs.output_field, self.rhs):
            raise EmptyResultSet
        return super().as_sql(compiler, connection)


@ExactCharField.register_lookup
class InOfAscii(lookups.In):
    def get_prep_lookup(self) -> Any:
        column = self.lhs.output_field
        if self.rhs_is_direct_value():
            self.rhs = [value for value in self.rhs if not _cannot_hold(column, value)]
        return super().get_prep_lookup()


class ExactTextField(ExactCharField):
    """Like ExactCharField for any language: tags, session ids, agents' names."""

    mysql_collation = "utf8mb4_bin"


class ChoiceField(ExactCharField):
    """An enumeration: exact, with its default in the database too. Its table adds the CHECK."""

    def __init__(self, *args: Any, **kwargs: Any) -> None:
        kwargs.setdefault("max_length", 24)
        if "default" in kwargs:
            kwargs.setdefault("db_default", models.Value(str(kwargs["default"])))
        super().__init__(*args, **kwargs)


class NodeIdField(ExactCharField):
    """The name of a record of any kind: dec_123, run_<32 hex>."""

    def __init__(self, *args: Any, **kwargs: Any) -> None:
        kwargs["max_length"] = 40
        super().__init__(*args, **kwargs)


class HexIdField(ExactCharField):
    """A primary key of 32 hex digits with a default in the database."""

    def __init__(self, *args: Any, **kwargs: Any) -> None:
        kwargs.update(max_length=32, default=new_hex_id, db_default=NewHexId())
        super().__init__(*args, **kwargs)

    def deconstruct(self) -> Any:
        name, path, args, kwargs = super().deconstruct()
        for fixed in ("max_length", "default", "db_default"):
            kwargs.pop(fixed, None)
        return name, path, args, kwargs


class RowChangedField(models.DateTimeField):
    """When the row last changed, kept by the database, so that the sweep sees plain-SQL writers.

    TIMESTAMP, not DATETIME: it is stored in UTC whatever the writer's session zone. On SQLite a trigger keeps it.
    """

    def __init__(self, *args: Any, **kwargs: Any) -> None:
        kwargs.update(editable=False, db_default=UtcNow())
        super().__init__(*args, **kwargs)

    def deconstruct(self) -> Any:
        name, path, args, kwargs = super().deconstruct()
        kwargs.pop("editable", None)
        kwargs.pop("db_default", None)
        return name, path, args, kwargs

    def db_type(self, connection: BaseDatabaseWrapper) -> str | None:
        if connection.vendor != "mysql":
            return super().db_type(connection)
        return "timestamp(6)"


class VectorField(models.BinaryField):
    """float32 little-endian bytes of one unit vector."""

    def db_type(self, connection: BaseDatabaseWrapper) -> str | None:
        return "varbinary(8192)" if connection.vendor == "mysql" else super().db_type(connection)
