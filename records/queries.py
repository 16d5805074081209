"""Reads that are the same for every kind."""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from functools import reduce
from operator import or_
from typing import Any

from django.db import connection
from django.db.models import Exists, OuterRef, Q, QuerySet
from django.http import Http404

from projects.access import Access
from projects.models import Project
from records.errors import Erased
from records.kinds import Kind, group_by_kind, kind_named, parse_node_id
from records.models import CheckedJSON, Erasure, LongText, ProjectionMark, RecordFinding, Revision

IS_FLAGGED = Exists(RecordFinding.objects.filter(node_id=OuterRef("node_id")))
NEWEST_REVISION = "SELECT MAX(id) FROM revisions WHERE project_id = %s"


def visible_record(access: Access, node_id: str) -> Any | None:
    """The record by its node id, active or not; None where it is not, or not for these eyes. Raises Erased."""
    record = visible_records(access, [node_id]).get(node_id)
    if isinstance(record, Erased):
        raise record
    return record


def visible_records(access: Access, node_ids: Iterable[str]) -> dict[str, Any]:
    """The same of many, by node id: one query a kind. For one whose text was erased stands its Erased, not raised."""
    found = {
        node_id: record
        for node_id, record in records_by_node_id(node_ids).items()
        if access.may(record.project_id)
    }
    # What is active costs no statement: an erased record is archived.
    erasures = _erasures_of([node_id for node_id, record in found.items() if record.archived_at is not None])
    return found | {node_id: Erased(found[node_id], erasure) for node_id, erasure in erasures.items()}


def record_or_404(project: Project, kind: Kind, key: Any) -> Any:
    """A record of this project by key, active or not; a stranger's is as absent as a missing one. Raises Erased."""
    rows = kind.model.objects.filter(project=project, pk=key)
    record = (rows.select_related(*kind.select) if kind.select else rows).first()
    if record is None:
        raise Http404
    record.project = project
    refuse_erased(record)
    return record


def record_or_404_by_node(project: Project, node_id: str) -> Any:
    """The same, named by its node id."""
    parsed = parse_node_id(node_id)
    if parsed is None:
        raise Http404
    return record_or_404(project, *parsed)


def refuse_erased(record: Any) -> None:
    """Raises Erased. What is active costs no statement: an erased record is archived."""
    if record.archived_at is not None and (erasure := erasure_of(record.node_id)) is not None:
        raise Erased(record, erasure)


def erasure_of(node_id: str) -> Erasure | None:
    """Who erased the record, when and why; None where it was not, or where plain SQL has written a text again."""
    return _erasures_of([node_id]).get(node_id)


def _erasures_of(node_ids: Sequence[str]) -> dict[str, Erasure]:
    if not node_ids:
        return {}
    erased = ProjectionMark.objects.filter(node_id__in=node_ids, erased=True).values("node_id")
    return {erasure.node_id: erasure for erasure in Erasure.objects.filter(node_id__in=erased)}


def erased_among(node_ids: Iterable[str]) -> set[str]:
    """Those of them whose text was erased for good, and not written again by plain SQL."""
    rows = ProjectionMark.objects.filter(node_id__in=list(node_ids), erased=True)
    return set(rows.values_list("node_id", flat=True))


def records_by_node_id(
    node_ids: Iterable[str], project_ids: list[int] | None = None, *, brief: bool = False
) -> dict[str, Any]:
    """The records that exist, by node id: one query a kind. `project_ids` None: of any project. `brief`: what a row
    or a heading shows, without the texts of up to 1 MiB."""
    found = {}
    for name, keys in group_by_kind(node_ids).items():
        kind = kind_named(name)
        rows = _read(kind, keys, brief).select_related("project", *kind.select)
        if project_ids is not None:
            rows = rows.filter(project_id__in=project_ids)
        found.update({record.node_id: record for record in rows})
    return found


def records_in(project: Project, node_ids: Iterable[str], *, brief: bool = False) -> dict[str, Any]:
    """The same within one project, which each of them carries: it is not read again with every row."""
    found = {}
    for name, keys in group_by_kind(node_ids).items():
        kind = kind_named(name)
        rows = _read(kind, keys, brief).filter(project_id=project.pk).order_by()
        for record in rows.select_related(*kind.select) if kind.select else rows:
            record.project = project
            found[record.node_id] = record
    return found


def _read(kind: Kind, keys: list[Any], brief: bool) -> QuerySet[Any]:
    rows = kind.model.objects.filter(pk__in=keys)
    return rows.defer(*long_columns(kind)) if brief else rows


def long_columns(kind: Kind) -> list[str]:
    """What a list leaves unread: texts and JSON of which its row shows nothing."""
    columns = kind.model._meta.concrete_fields
    shown = {*kind.listed, *kind.headed}
    return [c.name for c in columns if isinstance(c, LongText | CheckedJSON) and c.name not in shown]


def revisions_of(node_id: str, limit: int = 50, before: int | None = None) -> list[Revision]:
    """Newest first, versions and events together."""
    revisions = Revision.objects.filter(node_id=node_id).order_by("-id")
    return list((revisions.filter(id__lt=before) if before else revisions)[:limit])


def revision_of_version(record: Any, version: int) -> Revision | None:
    """The row of the history that made this version of the record."""
    return Revision.objects.filter(node_id=record.node_id, version=version).first()


def has_written(act: str) -> bool:
    """Whether this act left any row in the history."""
    return Revision.objects.filter(act=act).exists()


def projection_of(node_id: str) -> tuple[bool, bool]:
    """(the vector of what it says now is still to come, findings of it are kept). Both True where no mark tells yet."""
    marks = ProjectionMark.objects.filter(node_id=node_id).annotate(is_flagged=IS_FLAGGED)
    mark = marks.values_list("embedded_version", "wanted_version", "dead", "is_flagged").first()
    if mark is None:
        return True, True
    embedded, wanted, dead, is_flagged = mark
    return embedded < wanted and not dead, is_flagged


def newest_revision(project_id: int) -> int | None:
    """The id of the project's newest history row: what was kept of the project holds until it moves.

    Raw, as each page asks: the ORM's own work is ten times the statement's.
    """
    with connection.cursor() as cursor:
        cursor.execute(NEWEST_REVISION, [project_id])
        newest: int | None = cursor.fetchone()[0]
    return newest


def images_before(revisions: list[Revision]) -> dict[int, dict[str, Any]]:
    """For each revision with a version: the after-image of the one before it (for diffs), by revision id."""
    wanted = {(r.node_id, r.version - 1): r.pk for r in revisions if r.version and r.version > 1}
    if not wanted:
        return {}
    each = (Q(node_id=node_id, version=version) for node_id, version in wanted)
    rows = Revision.objects.filter(reduce(or_, each)).order_by()
    return {
        wanted[(row.node_id, row.version)]: row.after
        for row in rows
        if row.after is not None and row.version is not None
    }


def survivor_of(record: Any) -> Any:
    """The live record that this one was merged into, through any number of merges; itself where it was not. Of merges
    that lead in a circle (plain SQL can write one) the same one for all of them."""
    return survivors_of([record])[record.node_id]


def survivors_of(records: Iterable[Any], *, brief: bool = False) -> dict[str, Any]:
    """The same of many, by node id: one query a kind and step, none where nothing was merged."""
    known = {record.node_id: record for record in records}
    asked, looked_for = list(known.values()), set(known)
    while frontier := {record.merged_into for record in known.values() if record.merged_into} - looked_for:
        looked_for |= frontier
        projects = list({record.project_id for record in asked})
        known |= records_by_node_id(frontier, projects, brief=brief)
    return {record.node_id: _end_of(record, known) for record in asked}


def _end_of(record: Any, known: Mapping[str, Any]) -> Any:
    path: dict[str, Any] = {}
    while record.node_id not in path:
        path[record.node_id] = record
        following = known.get(record.merged_into or "")
        if following is None or following.project_id != record.project_id:
            return record
        record = following
    circle = list(path)
    return path[min(circle[circle.index(record.node_id) :])]
