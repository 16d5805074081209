"""Every write to sessions."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

from django.utils import timezone

from projects.models import Project
from records import verbs
from records.actor import Actor
from work_sessions.kind import SESSION
from work_sessions.models import WorkSession

EDITABLE = ("started_at", "ended_at", "summary", "context", "tags")


def start_session(
    *, actor: Actor, project: Project, session_id: str, reason: str = "", **fields: Any
) -> WorkSession:
    rows = [{"session_id": session_id, **verbs.only(fields, EDITABLE)}]
    return verbs.create(SESSION, rows, actor=actor, project=project, reason=reason)[0]


def edit_session(
    *,
    actor: Actor,
    session: WorkSession,
    changes: Mapping[str, Any],
    reason: str = "",
    expected_version: int | None = None,
) -> WorkSession:
    changes = verbs.only(changes, EDITABLE, session.node_id)
    return verbs.update(
        [session], changes, actor=actor, reason=reason, expected_version=expected_version
    ).record


def end_session(
    *, actor: Actor, session: WorkSession, summary: str | None = None, reason: str = ""
) -> WorkSession:
    """Set the end (once) and, where given, what was done."""
    changes: dict[str, Any] = {} if session.ended_at else {"ended_at": timezone.now()}
    if summary is not None:
        changes["summary"] = summary
    return verbs.update([session], changes, actor=actor, verb="end", reason=reason).record
