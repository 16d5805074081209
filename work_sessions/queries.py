"""Every read of sessions."""

from __future__ import annotations

from typing import Any

from records.kinds import all_kinds
from work_sessions.models import WorkSession

WRITTEN_MAX = 50


def session_named(project_id: int, session_id: str) -> WorkSession | None:
    """The session by the agent's own name for it."""
    return WorkSession.objects.filter(project_id=project_id, session_id=session_id).first()


def written_in(session: WorkSession) -> list[Any]:
    """The active records that were written in a session, not itself, newest first; one query a kind, WRITTEN_MAX of each."""
    written: list[Any] = []
    for kind in all_kinds():
        rows = kind.model.objects.active().select_related("project", *kind.select)
        written += rows.filter(project_id=session.project_id, source_session=session.session_id)[:WRITTEN_MAX]
    written = [record for record in written if record.node_id != session.node_id]
    return sorted(written, key=lambda record: record.created_at, reverse=True)
