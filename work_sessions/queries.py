"""Every read of sessions."""

from __future__ import annotations

from dataclasses import dataclass, field
from datetime import datetime
from typing import Any

from django.db.models import Count, Max

from projects.access import Access
from records.kinds import all_kinds, parse_node_id
from records.models import Revision
from records.queries import visible_record
from work_sessions.kind import SESSION
from work_sessions.models import WorkSession

WRITTEN_MAX = 50


def session_named(project_id: int, session_id: str) -> WorkSession | None:
    """The session by the agent's own name for it."""
    return WorkSession.objects.filter(project_id=project_id, session_id=session_id).first()


def visible_session(access: Access, name: str) -> WorkSession | None:
    """By node id, or by the agent's own name for it; None where it is not, or not for these eyes."""
    parsed = parse_node_id(name)
    if parsed and parsed[0] is SESSION:
        found: WorkSession | None = visible_record(access, name)
        if found is not None:
            return found
    session = WorkSession.objects.select_related("project").filter(session_id=name).first()
    return session if session is not None and access.may(session.project_id) else None


@dataclass(frozen=True)
class Activity:
    """What a session's history says: how many records of each kind were made in it, and when it last did anything."""

    written: dict[str, int] = field(default_factory=dict)
    last_at: datetime | None = None


def activity_in(session: WorkSession) -> Activity:
    """Three queries, each on an index, however much was written."""
    if not session.session_id:  # plain SQL may leave it empty, as is the session of most acts
        return Activity(last_at=session.started_at)
    acts = (
        Revision.objects.filter(session=session.session_id, project_id=session.project_id)
        .exclude(node_id=session.node_id)
        .order_by()
    )
    rows = list(acts.values("kind", "version").filter(version=1).annotate(count=Count("id")))
    last = [
        acts.aggregate(last=Max("created_at"))["last"],
        Revision.objects.filter(node_id=session.node_id).aggregate(last=Max("created_at"))["last"],
        session.started_at,
    ]
    return Activity(
        {row["kind"]: row["count"] for row in sorted(rows, key=lambda row: row["kind"])},
        max((moment for moment in last if moment is not None), default=None),
    )


def written_in(session: WorkSession) -> list[Any]:
    """The active records that were written in a session, not itself, newest first; one query a kind, WRITTEN_MAX of each."""
    written: list[Any] = []
    for kind in all_kinds():
        rows = kind.model.objects.active().select_related("project", *kind.select)
        written += rows.filter(project_id=session.project_id, source_session=session.session_id)[:WRITTEN_MAX]
    written = [record for record in written if record.node_id != session.node_id]
    return sorted(written, key=lambda record: record.created_at, reverse=True)
