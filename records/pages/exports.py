"""CSV and JSON of the very rows that a list shows, in its order, streamed page by page: a driver may hold all the rows
of one query in memory."""

from __future__ import annotations

import csv
import json
from collections.abc import Iterator
from typing import Any

from django.db.models import QuerySet
from django.http import StreamingHttpResponse
from django.utils import timezone

from records.images import image_of, plain
from records.kinds import Kind
from records.paging import Sort, paginate

FORMATS = ("csv", "json")
ROWS_A_QUERY = 200
# A cell that a spreadsheet would run as a formula is agents' text: it is quoted as text.
FORMULA_STARTS = ("=", "+", "-", "@", "\t", "\r")


class Echo:
    """A file that hands back what is written to it."""

    def write(self, value: str) -> str:
        return value


def export(rows: QuerySet[Any], sort: Sort, kind: Kind, form: str, name: str) -> StreamingHttpResponse:
    """All columns of all rows, in the order of the list. `form` is one of FORMATS."""
    records = _in_order(rows, sort)
    content_type, lines = (
        ("text/csv", _csv(records, kind)) if form == "csv" else ("application/json", _json(records))
    )
    response = StreamingHttpResponse(lines, content_type=f"{content_type}; charset=utf-8")
    stamp = timezone.now().strftime("%Y%m%d-%H%M")
    response["Content-Disposition"] = f'attachment; filename="{name}-{kind.name}-{stamp}.{form}"'
    return response


def _in_order(rows: QuerySet[Any], sort: Sort) -> Iterator[Any]:
    cursor = None
    while True:
        page = paginate(rows, sort, cursor, size=ROWS_A_QUERY)
        yield from page.items
        cursor = page.next_cursor
        if cursor is None:
            return


def _plain(record: Any) -> dict[str, Any]:
    counters = {name: plain(getattr(record, name)) for name in record.counters}
    return {"node_id": record.node_id, **image_of(record), **counters, "version": record.version}


def _csv(records: Iterator[Any], kind: Kind) -> Iterator[str]:
    columns = [
        "node_id",
        *[f.attname for f in kind.model.versioned_fields()],
        *kind.model.counters,
        "version",
    ]
    writer = csv.writer(Echo())
    yield "\ufeff" + writer.writerow(columns)
    for record in records:
        row = _plain(record)
        yield writer.writerow([cell(row[column]) for column in columns])


def cell(value: Any) -> Any:
    """A value as a spreadsheet may have it: JSON as text, and no formula."""
    if isinstance(value, list | dict):
        value = json.dumps(value, ensure_ascii=False)
    if isinstance(value, str) and value.startswith(FORMULA_STARTS):
        return f"'{value}"
    return value


def _json(records: Iterator[Any]) -> Iterator[str]:
    yield "["
    for position, record in enumerate(records):
        yield (",\n" if position else "\n") + json.dumps(_plain(record), ensure_ascii=False)
    yield "\n]\n"
