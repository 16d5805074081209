"""Inserts of many plain rows: as one statement each, without an instance and its checks for every row."""

from __future__ import annotations

import json
from collections.abc import Iterable, Sequence
from datetime import datetime
from itertools import islice
from typing import Any

from django.db import connection, models

ROWS_A_STATEMENT = 400


def insert_rows(model: type[models.Model], columns: Sequence[str], rows: Iterable[Sequence[Any]]) -> None:
    """Rows of these columns (attribute names), in their order; the others take the database's defaults."""
    quote = connection.ops.quote_name
    names = ", ".join(quote(str(_field(model, column).column)) for column in columns)
    one = f"({', '.join(['%s'] * len(columns))})"
    with connection.cursor() as cursor:
        left = iter(rows)
        while some := list(islice(left, ROWS_A_STATEMENT)):
            sql = f"INSERT INTO {quote(model._meta.db_table)} ({names}) VALUES {', '.join([one] * len(some))}"
            cursor.execute(sql, [_stored(value) for row in some for value in row])


def _field(model: type[models.Model], attribute: str) -> models.Field[Any, Any]:
    return next(field for field in model._meta.concrete_fields if field.attname == attribute)


def _stored(value: Any) -> Any:
    if isinstance(value, datetime):
        return connection.ops.adapt_datetimefield_value(value)
    if isinstance(value, dict | list):
        return json.dumps(value)
    return value
