"""What one session or run wrote, for its review: part by part, whatever it wrote."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from typing import Any

from django.db.models import Q

from projects.models import Project
from records.kinds import Kind, all_kinds, parse_node_id
from records.models import ReviewState, Revision
from records.queries import records_by_node_id

PART = 50


@dataclass(frozen=True)
class Source:
    """A session by its own name, or a run by its node id: one of the two is empty."""

    project: Project
    session: str = ""
    run: str = ""

    @property
    def columns(self) -> dict[str, str]:
        return {"source_run": self.run} if self.run else {"source_session": self.session}

    @property
    def of_revision(self) -> dict[str, str]:
        return {"run": self.run} if self.run else {"session": self.session}


def written_part(source: Source, after: str = "") -> tuple[list[Any], str]:
    """PART records in the order in which they were written, as far as they still are in the project, then those that
    plain SQL wrote in its name; and behind what the next part begins ("" at the end): a row of the history by its
    number, or one that SQL wrote by its node id."""
    found: list[tuple[int, str]] = []
    behind = parse_node_id(after)
    if behind is None:
        rows = Revision.objects.filter(project=source.project, version=1, **source.of_revision)
        if after.isascii() and after.isdecimal() and len(after) < 19:
            rows = rows.filter(pk__gt=int(after))
        found = list(rows.order_by("pk").values_list("pk", "node_id")[: PART + 1])
    node_ids = [node_id for _pk, node_id in found[:PART]]
    rest = str(found[PART - 1][0]) if len(found) > PART else ""
    if not rest:
        room = PART - len(node_ids)
        by_sql = _by_sql(source, behind, room + 1)
        node_ids += by_sql[:room]
        if len(by_sql) > room:
            rest = by_sql[room - 1] if room else str(found[-1][0])
    records = records_by_node_id(node_ids, [source.project.pk], brief=True)
    listed = [records[node_id] for node_id in dict.fromkeys(node_ids) if node_id in records]
    return [each for each in listed if not _is_itself(each, source)], rest


def _is_itself(record: Any, source: Source) -> bool:
    if source.run:
        return bool(record.node_id == source.run)
    return getattr(record, "session_id", None) == source.session


def _by_sql(source: Source, behind: tuple[Kind, Any] | None, most: int) -> list[str]:
    """By their columns, kind by kind: a row that plain SQL wrote names a session or run that its history does not."""
    found: list[str] = []
    kinds = list(all_kinds())
    for kind in kinds[kinds.index(behind[0]) if behind else 0 :]:
        rows = kind.model.objects.filter(Q(**source.columns), project=source.project, source_kind="sql")  # type: ignore[attr-defined]
        if behind is not None and kind is behind[0]:
            rows = rows.filter(pk__gt=behind[1])
        keys = rows.order_by("pk").values_list("pk", flat=True)[: most - len(found)]
        found += [kind.node_id(pk) for pk in keys]
        if len(found) == most:
            break
    return found


def all_waiting(source: Source, most: int) -> tuple[list[Any], bool]:
    """Every record of it that nobody has reviewed yet, and whether there were more than `most`."""
    waiting: list[Any] = []
    for part in _parts(source):
        waiting += [record for record in part if is_waiting(record)]
        if len(waiting) > most:
            return waiting[:most], True
    return waiting, False


def _parts(source: Source) -> Iterator[Sequence[Any]]:
    after = ""
    while True:
        part, after = written_part(source, after)
        yield part
        if not after:
            return


def is_waiting(record: Any) -> bool:
    """Nobody has said yet what they think of it; what is archived or merged asks nothing any more."""
    present = record.archived_at is None and record.merged_into is None
    return bool(present and record.review_state == ReviewState.UNREVIEWED)
