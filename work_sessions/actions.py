"""Every write to sessions."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

from django.utils import timezone
from django.utils.translation import gettext as _

from database.transactions import transactional
from projects.models import Project
from records import checks, verbs
from records.actor import Actor
from records.errors import InvalidInput
from records.kinds import parse_node_id
from work_sessions.kind import SESSION
from work_sessions.models import WorkSession

EDITABLE = SESSION.editable
CREATED, UPDATED, UNCHANGED = "created", "updated", "unchanged"


def start_session(
    *, actor: Actor, project: Project, session_id: str, reason: str = "", **fields: Any
) -> WorkSession:
    rows = [{"session_id": session_id, **checks.only(fields, EDITABLE)}]
    return verbs.create(SESSION, rows, actor=actor, project=project, reason=reason)[0]


@transactional
def upsert_session(
    *, actor: Actor, project: Project, session_id: str, reason: str = "", **fields: Any
) -> tuple[WorkSession, str]:
    """The session of this name, made or changed to have these fields, and what became of it.

    Names are unique over all projects: one that is another project's is refused without a word about it.
    """
    if parse_node_id(session_id):
        raise InvalidInput(
            {"session_id": [_("Looks like a record's node id; give the session a name of its own.")]}
        )
    kept = _session_of(project, session_id)
    if kept is None:
        try:
            return start_session(
                actor=actor, project=project, session_id=session_id, reason=reason, **fields
            ), CREATED
        except InvalidInput as refusal:
            kept = _session_of(project, session_id) if "__all__" in refusal.errors else None
            if kept is None:  # else a twin was first
                raise
    outcome = verbs.update([kept], checks.only(fields, EDITABLE), actor=actor, verb="upsert", reason=reason)
    return outcome.record, UPDATED if outcome.updated else UNCHANGED


def _session_of(project: Project, session_id: str) -> WorkSession | None:
    kept = WorkSession.objects.select_related("project").filter(session_id=session_id).first()
    if kept is not None and kept.project_id != project.pk:
        raise InvalidInput({"session_id": [_("This name cannot be used; give the session another one.")]})
    return kept


def edit_session(
    *,
    actor: Actor,
    session: WorkSession,
    changes: Mapping[str, Any],
    reason: str = "",
    expected_version: int | None = None,
) -> WorkSession:
    changes = checks.only(changes, EDITABLE, session.node_id)
    return verbs.update(
        [session], changes, actor=actor, reason=reason, expected_version=expected_version
    ).record


def put_context(
    *, actor: Actor, session: WorkSession, context: Mapping[str, Any] | None, **options: Any
) -> verbs.Outcome:
    """The whole context, in place of what was there."""
    context = None if context is None else dict(context)
    return verbs.update([session], {"context": context}, actor=actor, verb="put_context", **options)


def merge_context(
    *, actor: Actor, session: WorkSession, context: Mapping[str, Any], **options: Any
) -> verbs.Outcome:
    """What is named is set, what is null is taken out, the rest stays (RFC 7396); under the row's lock, so that two
    at once lose nothing of each other."""
    return verbs.update(
        [session],
        lambda locked: {"context": _merged(locked.context, context)},
        actor=actor,
        verb="merge_context",
        **options,
    )


def _merged(kept: Any, patch: Any) -> Any:
    if not isinstance(patch, Mapping):
        return patch
    merged = dict(kept) if isinstance(kept, Mapping) else {}
    for name, value in patch.items():
        if value is None:
            merged.pop(name, None)
        else:
            merged[name] = _merged(merged.get(name), value)
    return merged


def end_session(
    *,
    actor: Actor,
    session: WorkSession,
    summary: str | None = None,
    reason: str = "",
    expected_version: int | None = None,
) -> WorkSession:
    """Set the end (once) and, where given, what was done."""

    def changes(locked: WorkSession) -> dict[str, Any]:
        ended: dict[str, Any] = {} if locked.ended_at else {"ended_at": timezone.now()}
        return ended if summary is None else {**ended, "summary": summary}

    return verbs.update(
        [session], changes, actor=actor, verb="end", reason=reason, expected_version=expected_version
    ).record
