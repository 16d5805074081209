"""Keyset paging on (sort key, id): a page costs the same wherever it lies; the sort key is never NULL."""

from __future__ import annotations

import base64
import binascii
import json
from collections.abc import Iterable
from contextlib import suppress
from dataclasses import dataclass
from datetime import datetime
from math import isfinite
from typing import Any

from django.core.exceptions import EmptyResultSet, ValidationError
from django.db import connection
from django.db.models import Model, Q, QuerySet
from django.utils.dateparse import parse_datetime
from django.utils.translation import gettext as _

from records.errors import InvalidInput
from records.validation import check_text, check_time

COUNT_EXACT_TO = 10_000
PAGE_SIZE = 50


@dataclass(frozen=True)
class Sort:
    """An order on offer: `key` is an indexed column, unique only together with the primary key."""

    name: str
    label: Any
    key: str
    descending: bool = True


@dataclass(frozen=True)
class Page:
    items: list[Any]
    next_cursor: str | None
    previous_cursor: str | None


def paginate(rows: QuerySet[Any], sort: Sort, cursor: str | None = None, size: int = PAGE_SIZE) -> Page:
    """One page of `rows`. Raises InvalidInput for a cursor that this order did not make."""
    backwards, after = _decode(cursor, sort, rows.model) if cursor else (False, None)
    descending = sort.descending != backwards
    if after is not None:
        key, pk = after
        compare = "lt" if descending else "gt"
        rows = rows.filter(Q(**{f"{sort.key}__{compare}": key}) | Q(**{sort.key: key, f"pk__{compare}": pk}))
        # The plain bound beside the OR lets the servers start the index range at the cursor.
        rows = rows.filter(**{f"{sort.key}__{compare}e": key})
    sign = "-" if descending else ""
    found = list(rows.order_by(f"{sign}{sort.key}", f"{sign}pk")[: size + 1])
    more, items = len(found) > size, found[:size]
    if backwards:
        items.reverse()
    has_next, has_previous = (bool(items), more) if backwards else (more, after is not None and bool(items))
    return Page(
        items,
        _encode(items[-1], sort, "n") if has_next else None,
        _encode(items[0], sort, "p") if has_previous else None,
    )


def end_cursor(sort: Sort, least: Any) -> str:
    """The cursor of the last page of a descending order whose keys are all above `least`."""
    return _encoded([sort.name, "p", least, 0])


def capped_count(rows: QuerySet[Any]) -> int:
    """The count, exact up to COUNT_EXACT_TO; one more means "more than that"."""
    return rows.order_by()[: COUNT_EXACT_TO + 1].count()


def capped_counts(several: Iterable[QuerySet[Any]]) -> list[int]:
    """The same of several; one statement, none where none of them can have rows."""
    return counts_up_to((rows, COUNT_EXACT_TO + 1) for rows in several)


def counts_up_to(several: Iterable[tuple[QuerySet[Any], int]], index: str | None = None) -> list[int]:
    """The same, each up to a number of its own. `index`: of their table, for MySQL to read, which takes one that holds
    less of what is asked for the cheaper one where rows are long; other databases see a comment."""
    counts: list[int] = []
    parts: list[str] = []
    parameters: list[Any] = []
    for place, (rows, most) in enumerate(several):
        counts.append(0)
        with suppress(EmptyResultSet):
            sql, values = rows.order_by().values("pk")[:most].query.sql_with_params()
            if index is not None:
                hint = f"SELECT /*+ INDEX({rows.model._meta.db_table} {index}) */"
                sql = sql.replace("SELECT", hint, 1)
            parts.append(f"SELECT {place} AS place, COUNT(*) AS number FROM ({sql}) AS capped")
            parameters += values
    if parts:
        with connection.cursor() as cursor:
            cursor.execute(" UNION ALL ".join(parts), parameters)
            for place, number in cursor.fetchall():
                counts[place] = number
    return counts


def shown_of(whole: int, hidden: int) -> int:
    """What is shown, capped, of `whole` rows, counted to one more than are told and are hidden: both counts are read off
    indexes, where the rows that are shown would each be looked up. `hidden` is at most COUNT_EXACT_TO."""
    return max(0, min(whole - hidden, COUNT_EXACT_TO + 1))


def count_label(count: int) -> str:
    return f"{COUNT_EXACT_TO:,}+" if count > COUNT_EXACT_TO else f"{count:,}"


def short_label(count: int) -> str:
    """The same where there is little room."""
    return f"{COUNT_EXACT_TO // 1000}k+" if count > COUNT_EXACT_TO else f"{count:,}"


def _encode(item: Any, sort: Sort, direction: str) -> str:
    key = getattr(item, sort.key)
    plain = key.isoformat() if isinstance(key, datetime) else key
    return _encoded([sort.name, direction, plain, item.pk])


def _encoded(told: list[Any]) -> str:
    return base64.urlsafe_b64encode(json.dumps(told).encode()).decode().rstrip("=")


def _decode(cursor: str, sort: Sort, model: type[Model]) -> tuple[bool, tuple[Any, Any]]:
    try:
        text = base64.b64decode(
            cursor.encode("ascii") + b"=" * (-len(cursor) % 4), altchars=b"-_", validate=True
        )
        name, direction, key, pk = json.loads(text)
        if name != sort.name or direction not in ("n", "p"):
            raise ValueError
        column = model._meta.get_field(sort.key)
        if column.get_internal_type() in ("DateTimeField", "GeneratedField", "RowChangedField"):
            key = parse_datetime(key)
        if (
            key is None
            or isinstance(key, bool | list | dict)
            or isinstance(pk, bool | float | list | dict | None)
        ):
            raise ValueError
        key, pk = column.to_python(key), model._meta.pk.to_python(pk)  # type: ignore[union-attr]
        if isinstance(pk, int) and not 0 <= pk < 2**63:
            raise ValueError
        for part in (key, pk):
            _check_part(part)
        return direction == "p", (key, pk)
    except (
        ValueError,
        TypeError,
        KeyError,
        binascii.Error,
        UnicodeError,
        RecursionError,
        OverflowError,
        ValidationError,
    ) as error:
        raise InvalidInput(
            {"cursor": [_("This page link is not of this list; start from its first page.")]}
        ) from error


def _check_part(part: Any) -> None:
    """Refuse what a database driver could not send: a cursor is the reader's own text."""
    if isinstance(part, datetime):
        check_time(part)
    elif isinstance(part, str):
        check_text(part)
    elif isinstance(part, float) and not isfinite(part):
        raise ValueError
