"""Plain-SQL writers are first-class: the sweep finds what they inserted, changed and deleted, and gives it history.

It reads each table from a watermark less a few minutes (a transaction may commit late), by the indexed
row_changed_at that the database itself keeps. Once a minute it also looks for rows that are gone, and for those that
brought an old time along (a restored dump).
"""

from __future__ import annotations

import logging
from datetime import timedelta
from typing import Any

from django.db import DatabaseError, OperationalError
from django.db.models import Q
from django.utils import timezone

from database.transactions import transactional
from records import attention, marks
from records.actor import SQL_WRITER
from records.acts import new_act_id
from records.guard import writing
from records.hygiene import kept
from records.images import changed_between, digest_of, image_of, seen_digest_of
from records.kinds import Kind, all_kinds
from records.models import ProjectionMark, RecordTag, Revision, SweepWatermark
from records.queries import records_by_node_id
from records.revisions import revision_fields
from records.same_text import text_hash_of
from records.verbs import mirror_tags

log = logging.getLogger("memory_desk.sweep")
OVERLAP = timedelta(minutes=5)
CHUNK = 500
MISSING_EVERY = timedelta(minutes=1)


def sweep() -> int:
    """Take in every plain-SQL write since the last sweep. Returns how many records were taken in."""
    return sum(_sweep_changes(kind) + _sweep_strays(kind) for kind in all_kinds())


def _sweep_changes(kind: Kind) -> int:
    watermark, _ = SweepWatermark.objects.get_or_create(kind=kind.name)
    rows = kind.model.objects.order_by("row_changed_at", "pk").values_list("row_changed_at", "pk")
    if watermark.read_to:
        # A row may claim a time to come: it must not hide those that are written until then.
        rows = rows.filter(row_changed_at__gte=min(watermark.read_to, timezone.now()) - OVERLAP)
    taken, after = 0, None
    while True:
        page = (
            rows.filter(Q(row_changed_at__gt=after[0]) | Q(row_changed_at=after[0], pk__gt=after[1]))
            if after
            else rows
        )
        chunk = list(page[:CHUNK])
        if not chunk:
            break
        node_ids = {kind.node_id(key): (changed_at, key) for changed_at, key in chunk}
        seen = dict(
            ProjectionMark.objects.filter(node_id__in=node_ids, gone=False).values_list(
                "node_id", "seen_changed_at"
            )
        )
        unseen = [key for node_id, (changed_at, key) in node_ids.items() if seen.get(node_id) != changed_at]
        if unseen:
            taken += _take_in_or_part(kind, unseen)
        after = chunk[-1]
    if after:
        SweepWatermark.objects.filter(kind=kind.name).update(read_to=min(after[0], timezone.now()))
    return taken


def _take_in_or_part(kind: Kind, keys: list[Any]) -> int:
    """Take in all of these; where one of them is refused, halve until it is alone, so that it stops no other."""
    try:
        return len(take_in(kind, keys))
    except OperationalError:  # the database is away or busy: no row's fault
        raise
    except (DatabaseError, ValueError, TypeError):
        if len(keys) == 1:
            log.exception("%s, written by SQL, cannot be taken in", kind.node_id(keys[0]))
            return 0
    half = len(keys) // 2
    return _take_in_or_part(kind, keys[:half]) + _take_in_or_part(kind, keys[half:])


@transactional
def take_in(kind: Kind, keys: list[Any]) -> list[Any]:
    """Give rows written by plain SQL what a verb would have given them: revision, version, tags, mark."""
    records = list(kind.model.objects.select_for_update().filter(pk__in=keys).order_by("pk"))
    node_ids = [record.node_id for record in records]
    known = {mark.node_id: mark for mark in ProjectionMark.objects.filter(node_id__in=node_ids)}
    suspect = [
        record
        for record in records
        if (mark := known.get(record.node_id)) is None
        or mark.gone
        or mark.seen_digest != seen_digest_of(record)
        or kind.is_foreign(record)
    ]
    last = _last_revisions([record.node_id for record in suspect])
    taken = [
        _take_in_one(kind, record, last.get(record.node_id), known.get(record.node_id))
        for record in suspect
        if not _is_in_history(kind, record, last.get(record.node_id), known.get(record.node_id))
    ]
    taken_keys = {record.pk for record in taken}
    marks.want([r for r in taken if r.node_id not in known], new=True)
    marks.want([r for r in taken if r.node_id in known])
    marks.note_seen([record for record in records if record.pk not in taken_keys])
    mirror_tags(taken)
    look_again(taken)
    attention.touch([record.node_id for record in taken])
    befores = [last[record.node_id][1] for record in taken if record.node_id in last]
    led = [*map(kind.leads_to, taken), *map(kind.led_to, befores)]
    attention.look_around([record.node_id for record in taken], led)
    if taken:
        marks.disinter(record.node_id for record in taken)
        log.info("took in %d %s written by SQL", len(taken), kind.name)
    return taken


@transactional
def look_again(records: list[Any]) -> kept.Found:
    """What is in their texts, secrets too, kept anew. No policy rules over these: they are marked for a person, and stay
    as they were written."""
    found = {record.node_id: kept.look_at(record, past_the_door=True) for record in records}
    kept.keep(records, found)
    attention.look_again([record.node_id for record in records])
    return found


def _is_in_history(
    kind: Kind, record: Any, last: tuple[int, dict[str, Any]] | None, mark: ProjectionMark | None
) -> bool:
    """Nothing was written but what the last version says: only how a row is known may have changed."""
    if last is None or mark is None or mark.gone or kind.is_foreign(record):
        return False
    version, after = last
    return version == record.version and digest_of(after) == digest_of(image_of(record))


def _take_in_one(
    kind: Kind, record: Any, last: tuple[int, dict[str, Any]] | None, mark: ProjectionMark | None
) -> Any:
    is_there_again = last is None or mark is None or mark.gone
    version, before = last if last is not None else (0, None)
    with writing():
        plan = {**_normalised(record), **kind.absorb(record, before is None)}
        rows = kind.model.objects.filter(pk=record.pk)
        if before is not None:
            # Never a number that history holds already: REPLACE starts a row's count anew.
            plan["version"] = max(version, record.version) + 1
        if plan:
            rows.update(**plan)
        record = rows.select_related(*kind.select).get()
        after = image_of(record)
        told = revision_fields(record, SQL_WRITER, "create" if is_there_again else "edit", "")
        Revision.objects.create(
            # Found while another's act runs, perhaps; and no two rows were written by one.
            **{**told, "act": new_act_id()},
            version=record.version,
            after=after,
            changed=changed_between(before, after) if before else [],
        )
    return record


def _normalised(record: Any) -> dict[str, Any]:
    """Enumerations without the padding that a server's comparison lets in."""
    return {
        column.attname: value.strip()
        for column in record.versioned_fields()
        if column.choices
        and isinstance(value := getattr(record, column.attname), str)
        and value != value.strip()
    }


def _last_revisions(node_ids: list[str]) -> dict[str, tuple[int, dict[str, Any]]]:
    """The last version of each node, and how the row was then."""
    rows = Revision.objects.filter(node_id__in=node_ids, version__isnull=False).order_by("node_id", "version")
    return {
        node_id: (version, after)
        for node_id, version, after in rows.values_list("node_id", "version", "after")
        if version is not None and after is not None
    }


def _sweep_strays(kind: Kind) -> int:
    """Once a minute: rows that are gone, and rows that no time told of."""
    now = timezone.now()
    due = Q(missing_checked_at=None) | Q(missing_checked_at__lt=now - MISSING_EVERY)
    if not SweepWatermark.objects.filter(due, kind=kind.name).update(missing_checked_at=now):
        return 0
    look_at_unseen(kind, CHUNK)
    attention.keep_missing(kind)
    return _sweep_deletions(kind) + _sweep_unmarked(kind)


@transactional
def look_at_unseen(kind: Kind, limit: int) -> int:
    """Findings and text hashes of records that were written before there were any: some a minute, until all have them."""
    unseen = list(ProjectionMark.objects.filter(kind=kind.name, gone=False, text_hash=None)[:limit])
    records = records_by_node_id([mark.node_id for mark in unseen])
    marked = [mark for mark in unseen if mark.node_id in records]
    for mark in marked:
        mark.text_hash = text_hash_of(records[mark.node_id])
    ProjectionMark.objects.bulk_update(marked, ["text_hash"])
    look_again(list(records.values()))
    return len(records)


def _sweep_unmarked(kind: Kind) -> int:
    """Rows without a mark. Looked for only where there are more rows than marks."""
    rows = kind.model.objects.order_by("pk").values_list("pk", flat=True)
    if rows.count() <= ProjectionMark.objects.filter(kind=kind.name, gone=False).count():
        return 0
    taken, after = 0, None
    while chunk := list((rows.filter(pk__gt=after) if after is not None else rows)[: CHUNK * 4]):
        after = chunk[-1]
        node_ids = {kind.node_id(key): key for key in chunk}
        marked = ProjectionMark.objects.filter(node_id__in=node_ids, gone=False)
        unmarked = sorted(set(node_ids) - set(marked.values_list("node_id", flat=True)))
        for start in range(0, len(unmarked), CHUNK):
            taken += _take_in_or_part(
                kind, [node_ids[node_id] for node_id in unmarked[start : start + CHUNK]]
            )
    return taken


def _sweep_deletions(kind: Kind) -> int:
    """An anti-join on ids: marks whose row is gone become tombstones."""
    gone, after = 0, 0
    while True:
        page = list(
            ProjectionMark.objects.filter(kind=kind.name, gone=False, id__gt=after)
            .order_by("id")
            .values_list("id", "node_id", "project_id")[: CHUNK * 4]
        )
        if not page:
            return gone
        after = page[-1][0]
        by_key = {node_id.split("_", 1)[1]: (node_id, project_id) for _, node_id, project_id in page}
        kept = {
            str(key) for key in kind.model.objects.filter(pk__in=list(by_key)).values_list("pk", flat=True)
        }
        missing = [pair for key, pair in by_key.items() if key not in kept]
        if missing:
            _entomb(kind, missing)
            gone += len(missing)


@transactional
def _entomb(kind: Kind, missing: list[tuple[str, int | None]]) -> None:
    with writing():
        Revision.objects.bulk_create(
            [
                Revision(
                    node_id=node_id, kind=kind.name, project_id=project_id, verb="delete", channel=SQL_WRITER.channel,
                    actor_name=SQL_WRITER.name, act=new_act_id(), created_at=timezone.now(),
                )
                for node_id, project_id in missing
            ]
        )  # fmt: skip
    node_ids = [node_id for node_id, _ in missing]
    led = [kind.led_to(image) for _version, image in _last_revisions(node_ids).values()]
    RecordTag.objects.filter(node_id__in=node_ids).delete()
    kept.forget(node_ids)
    attention.forget(node_ids)
    attention.look_around(node_ids, led)
    marks.entomb(node_ids)
