"""One row of a post-mortem: made, brought up to its document, or left because people edited it."""

from __future__ import annotations

import hashlib
from collections.abc import Callable, Mapping
from dataclasses import dataclass
from typing import Any

from projects.models import Project
from records import checks
from records.images import digest_of, plain
from records.kinds import Kind, parse_node_id
from transfer.importing.report import Outcome, RecordLine
from transfer.models import Arrival


@dataclass(frozen=True)
class Row:
    """What a document says of one record; `create` and `edit` are the kind's own actions."""

    kind: Kind
    source_key: str
    columns: Mapping[str, Any]
    create: Callable[[Mapping[str, Any]], Any]
    edit: Callable[[Any, Mapping[str, Any]], Any]
    title: str = ""


def key_of(*parts: str) -> str:
    return hashlib.sha256("\0".join(parts).encode("utf-8", "replace")).hexdigest()


class Arrivals:
    """What came here before from the post-mortems of one source, and what it was then."""

    def __init__(self, project: Project | None, source: str, *, dry_run: bool) -> None:
        self.dry_run = dry_run or project is None
        self._origin = key_of("post-mortems", str(project.pk if project else ""), source)

    def bring(self, row: Row) -> tuple[RecordLine, Any]:
        """The line of the report, and the record (None in a dry run of a new one, or where it is gone)."""
        came = Arrival.objects.filter(
            origin=self._origin, kind=row.kind.name, source_key=row.source_key
        ).first()
        if came is None:
            return self._new(row)
        _kind, key = parse_node_id(came.node_id) or (row.kind, None)
        record = row.kind.model.objects.select_related("project").filter(pk=key).first()
        line = RecordLine(row.kind.name, "unchanged", came.node_id, row.title)
        if record is None:
            line.said.append("erased here: not made again")
            return line, None
        if record.merged_into:
            line.said.append(f"merged into {record.merged_into}: not read in again")
            return line, record
        return self._again(row, came, record, line)

    def _new(self, row: Row) -> tuple[RecordLine, Any]:
        line = RecordLine(row.kind.name, "imported", title=row.title)
        if self.dry_run:
            return line, None
        record = row.create(row.columns)
        line.node_id = record.node_id
        Arrival.objects.create(
            origin=self._origin,
            kind=row.kind.name,
            source_key=row.source_key,
            node_id=record.node_id,
            digest=_digest(row.kind, row.columns),
        )
        return line, record

    def _again(self, row: Row, came: Arrival, record: Any, line: RecordLine) -> tuple[RecordLine, Any]:
        now = _digest(row.kind, row.columns)
        here = _digest(row.kind, {name: getattr(record, name) for name in row.columns})
        if now == came.digest:
            line.said += ["edited here, which is kept"] if here != now else []
            return line, record
        if here not in (came.digest, now):
            named = ", ".join(_differing(row, record))
            line.outcome = "conflict"
            line.said.append(
                f"edited here since it was imported, and changed in the document: not overwritten ({named})"
            )
            return line, record
        line.outcome = "updated"
        if not self.dry_run:
            record = row.edit(record, row.columns) if here != now else record
            Arrival.objects.filter(pk=came.pk).update(digest=now)
        return line, record


def _digest(kind: Kind, columns: Mapping[str, Any]) -> str:
    return digest_of({name: plain(value) for name, value in checks.as_kept(kind, columns).items()})


def _differing(row: Row, record: Any) -> list[str]:
    kept = checks.as_kept(row.kind, row.columns)
    return [name for name, value in kept.items() if plain(getattr(record, name)) != plain(value)]


def worst(lines: list[RecordLine], order: tuple[Outcome, ...]) -> Outcome:
    return min((line.outcome for line in lines), key=order.index)
