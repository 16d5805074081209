"""Reads that are the same for every kind."""

from __future__ import annotations

from collections.abc import Iterable
from typing import Any

from django.db import connection
from django.http import Http404

from projects.access import Access
from projects.models import Project
from records.kinds import Kind, all_kinds, group_by_kind, kind_named, parse_node_id
from records.models import CheckedJSON, LongText, ReviewState, Revision


def visible_record(access: Access, node_id: str) -> Any | None:
    """The record by its node id, active or not; None where it is not, or not for these eyes."""
    parsed = parse_node_id(node_id)
    if parsed is None:
        return None
    kind, key = parsed
    record = kind.model.objects.select_related("project", *kind.select).filter(pk=key).first()
    return record if record is not None and access.may(record.project_id) else None


def record_or_404(project: Project, kind: Kind, key: Any) -> Any:
    """A record of this project by key, active or not; a stranger's is as absent as a missing one."""
    rows = kind.model.objects.filter(project=project, pk=key)
    record = (rows.select_related(*kind.select) if kind.select else rows).first()
    if record is None:
        raise Http404
    record.project = project
    return record


def records_by_node_id(
    node_ids: Iterable[str], project_ids: list[int] | None = None, *, brief: bool = False
) -> dict[str, Any]:
    """The records that exist, by node id: one query a kind. `project_ids` None: of any project. `brief`: what a row
    or a heading shows, without the texts of up to 1 MiB."""
    found = {}
    for name, keys in group_by_kind(node_ids).items():
        kind = kind_named(name)
        rows = kind.model.objects.select_related("project", *kind.select).filter(pk__in=keys)
        if brief:
            rows = rows.defer(*long_columns(kind))
        if project_ids is not None:
            rows = rows.filter(project_id__in=project_ids)
        found.update({record.node_id: record for record in rows})
    return found


def long_columns(kind: Kind) -> list[str]:
    """What a list leaves unread: texts and JSON of which its row shows nothing."""
    columns = kind.model._meta.concrete_fields
    shown = {*kind.listed, *kind.headed}
    return [c.name for c in columns if isinstance(c, LongText | CheckedJSON) and c.name not in shown]


def revisions_of(node_id: str, limit: int = 50, before: int | None = None) -> list[Revision]:
    """Newest first, versions and events together."""
    revisions = Revision.objects.filter(node_id=node_id).order_by("-id")
    return list((revisions.filter(id__lt=before) if before else revisions)[:limit])


def newest_revision(project_id: int) -> int | None:
    """The id of the project's newest history row: what was kept of the project holds until it moves.

    Raw, as each page asks: the ORM's own work is ten times the statement's.
    """
    with connection.cursor() as cursor:
        cursor.execute("SELECT MAX(id) FROM revisions WHERE project_id = %s", [project_id])
        newest: int | None = cursor.fetchone()[0]
    return newest


def images_before(revisions: list[Revision]) -> dict[int, dict[str, Any]]:
    """For each revision with a version: the after-image of the one before it (for diffs), by revision id."""
    wanted = {(r.node_id, r.version - 1): r.pk for r in revisions if r.version and r.version > 1}
    node_ids = {node_id for node_id, _ in wanted}
    versions = {version for _, version in wanted}
    rows = Revision.objects.filter(node_id__in=node_ids, version__in=versions)
    return {
        wanted[(row.node_id, row.version)]: row.after
        for row in rows
        if row.after is not None and row.version is not None and (row.node_id, row.version) in wanted
    }


def unreviewed_counts(project: Project) -> dict[str, int]:
    """How many active records of each kind wait for a person."""
    return {
        kind.name: kind.model.objects.active()
        .filter(project=project, review_state=ReviewState.UNREVIEWED)
        .count()
        for kind in all_kinds()
    }
