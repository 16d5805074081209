"""Records that come whole from elsewhere: their ids, times and, from another desk, their history are kept."""

from __future__ import annotations

from collections.abc import Callable, Collection, Iterable, Mapping, Sequence
from typing import Any

from django.db.models import Count, Max

from database.transactions import transactional
from records import attention, marks
from records.actor import Actor
from records.arriving import Written
from records.guard import writing
from records.hygiene import kept
from records.hygiene.findings import SECRET
from records.images import image_of
from records.kinds import Kind
from records.models import Attention, ProjectionMark, Read, Record, Revision
from records.revisions import revision_fields
from records.verbs import mirror_tags, reload

IDS_SAID = 50


def taken_keys(kind: Kind, keys: Collection[Any]) -> set[Any]:
    """Those of the keys that a record has, or had: a tombstone keeps its name, and so does a history."""
    node_ids = {kind.node_id(key): key for key in keys}
    taken = set(kind.model.objects.filter(pk__in=keys).values_list("pk", flat=True))
    for model in (ProjectionMark, Revision):
        found = model._default_manager.filter(node_id__in=node_ids).values_list("node_id", flat=True)
        taken |= {node_ids[node_id] for node_id in found.distinct().order_by()}
    return taken


def greatest_key(kind: Kind) -> int:
    """The greatest whole number that names a record of the kind, or named one."""
    greatest = kind.model.objects.aggregate(most=Max("pk"))["most"] or 0
    gone = ProjectionMark.objects.filter(kind=kind.name, gone=True).values_list("node_id", flat=True)
    return max([greatest, *(int(node_id.partition("_")[2]) for node_id in gone.iterator())])


@transactional
def bring_in(
    kind: Kind, instances: Sequence[Record], *, tell: Callable[[Any], Revision] | None = None
) -> list[Any]:
    """Insert records of which each names its key; `tell` gives the revision of each, where its history does not follow."""
    with writing():
        kind.model.objects.bulk_create(instances)
    records = reload(kind, [instance.pk for instance in instances])
    marks.want(records, new=True)
    if tell is not None:
        write_history([tell(record) for record in records])
    mirror_tags([record for record in records if record.tags], new=True)
    found = {record.node_id: kept.look_at(record, past_the_door=True) for record in records}
    kept.keep(records, found, new=True)
    for record in records:
        record.written = Written(findings=tuple(found[record.node_id]))
    attention.keep_new(records)
    return records


def holding_secrets(records: Iterable[Any]) -> list[str]:
    """Node ids of those brought in that hold what looks like a secret. They came whole and stay as they were."""
    return [
        record.node_id
        for record in records
        if record.written and any(finding.code == SECRET for finding in record.written.findings or ())
    ]


def said_of_secrets(node_ids: Collection[str]) -> list[str]:
    """The lines of a report; none where nothing looks like a secret."""
    if not node_ids:
        return []
    ids = sorted(node_ids)
    more = f" and {len(ids) - IDS_SAID:,} more (search for findings:secret)" if len(ids) > IDS_SAID else ""
    what = "record holds" if len(ids) == 1 else "records hold"
    return [
        f"{len(ids):,} {what} what looks like a secret, kept as it came: {', '.join(ids[:IDS_SAID])}{more}."
        " Edit it out there, and revoke it where it is valid."
    ]


def first_revision(
    record: Record, *, actor: Actor, reason: str, detail: Mapping[str, Any] | None = None
) -> Revision:
    """The one with which a record begins here; `detail` says what of it could not be kept as it was written."""
    return Revision(
        **revision_fields(record, actor, "create", reason),
        version=record.version,
        after=image_of(record),
        changed=[],
        detail=dict(detail) if detail else None,
    )


def write_history(revisions: Iterable[Revision]) -> None:
    """Insert revisions in this order. Call inside the transaction of what they tell of."""
    with writing():
        Revision.objects.bulk_create(list(revisions))


@transactional
def bring_in_tombstones(kind: Kind, keys: Sequence[Any], project_id: int | None) -> None:
    """Names of records that are gone and whose history is kept: no record here gets one of them again."""
    node_ids = [kind.node_id(key) for key in keys]
    ProjectionMark.objects.bulk_create(
        [ProjectionMark(node_id=node_id, kind=kind.name, project_id=project_id) for node_id in node_ids]
    )
    marks.entomb(node_ids)


@transactional
def keep_arrived(node_ids: Collection[str]) -> None:
    """After records came whole from elsewhere, with what belongs to them (links, history, reads): as these say."""
    acts = Revision.objects.filter(node_id__in=node_ids).order_by().values_list("node_id")
    acted = dict(acts.annotate(newest=Max("created_at")))
    reads = Read.objects.filter(node_id__in=node_ids).order_by().values_list("node_id")
    read = {node_id: rest for node_id, *rest in reads.annotate(times=Count("id"), newest=Max("read_at"))}
    rows = list(Attention.objects.select_for_update().filter(node_id__in=node_ids).order_by("node_id"))
    for row in rows:
        times, last = read.get(row.node_id, (0, None))
        row.read_count = max(row.read_count, times)
        row.last_read_at = max(filter(None, [row.last_read_at, last]), default=None)
        row.touched_at = max(filter(None, [row.touched_at, last, acted.get(row.node_id)]))
    Attention.objects.bulk_update(
        rows, ["read_count", "last_read_at", "touched_at"], batch_size=attention.IDS_A_QUERY
    )
    attention.look_again(node_ids)
