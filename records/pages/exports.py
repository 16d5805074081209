"""CSV and JSON of the very rows that a list shows, streamed."""

from __future__ import annotations

import csv
import json
from collections.abc import Iterator
from typing import Any

from django.db.models import QuerySet
from django.http import StreamingHttpResponse
from django.utils import timezone

from records.images import image_of
from records.kinds import Kind

FORMATS = ("csv", "json")
# A cell that a spreadsheet would run as a formula is agents' text: it is quoted as text.
FORMULA_STARTS = ("=", "+", "-", "@", "\t", "\r")


class _Echo:
    def write(self, value: str) -> str:
        return value


def export(rows: QuerySet[Any], kind: Kind, form: str, name: str) -> StreamingHttpResponse:
    """All columns of all rows, in the order of the list. `form` is one of FORMATS."""
    content_type, lines = (
        ("text/csv", _csv(rows, kind)) if form == "csv" else ("application/json", _json(rows, kind))
    )
    response = StreamingHttpResponse(lines, content_type=f"{content_type}; charset=utf-8")
    stamp = timezone.now().strftime("%Y%m%d-%H%M")
    response["Content-Disposition"] = f'attachment; filename="{name}-{kind.name}-{stamp}.{form}"'
    return response


def _plain(record: Any) -> dict[str, Any]:
    counters = {name: getattr(record, name) for name in record.counters}
    return {"node_id": record.node_id, **image_of(record), **counters, "version": record.version}


def _csv(rows: QuerySet[Any], kind: Kind) -> Iterator[str]:
    columns = [
        "node_id",
        *[f.attname for f in kind.model.versioned_fields()],
        *kind.model.counters,
        "version",
    ]
    writer = csv.writer(_Echo())
    yield "\ufeff" + writer.writerow(columns)
    for record in rows.iterator(chunk_size=500):
        plain = _plain(record)
        yield writer.writerow([_cell(plain[column]) for column in columns])


def _cell(value: Any) -> Any:
    if isinstance(value, list | dict):
        value = json.dumps(value, ensure_ascii=False)
    if isinstance(value, str) and value.startswith(FORMULA_STARTS):
        return f"'{value}"
    return value


def _json(rows: QuerySet[Any], kind: Kind) -> Iterator[str]:
    yield "["
    for position, record in enumerate(rows.iterator(chunk_size=500)):
        yield (",\n" if position else "\n") + json.dumps(_plain(record), ensure_ascii=False, default=str)
    yield "\n]\n"
