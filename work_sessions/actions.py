"""Every write to sessions."""

from __future__ import annotations

from collections.abc import Collection, Mapping, Sequence
from typing import Any

from django.utils import timezone
from django.utils.translation import gettext as _

from database.transactions import transactional
from projects.models import Project
from records import checks, verbs
from records.actor import Actor
from records.checks import Reason
from records.errors import InvalidInput
from records.kinds import parse_node_id
from work_sessions.kind import SESSION
from work_sessions.models import WorkSession

EDITABLE = SESSION.editable
CREATED, UPDATED, UNCHANGED = "created", "updated", "unchanged"


def start_sessions(
    *, actor: Actor, project: Project, rows: Sequence[Mapping[str, Any]], reason: Reason = ""
) -> list[WorkSession]:
    prepared = [checks.only(row, ("session_id", *EDITABLE)) for row in rows]
    return verbs.create(SESSION, prepared, actor=actor, project=project, reason=reason)


def start_session(
    *, actor: Actor, project: Project, session_id: str, reason: str = "", **fields: Any
) -> WorkSession:
    rows = [{**fields, "session_id": session_id}]
    return start_sessions(actor=actor, project=project, rows=rows, reason=reason)[0]


@transactional
def upsert_sessions(
    *, actor: Actor, project: Project, rows: Sequence[Mapping[str, Any]], reason: Reason = ""
) -> list[tuple[WorkSession, str]]:
    """The session of each row's `session_id` (each another), made or changed to have the row's fields, and what became
    of it.

    Names are unique over all projects: one that is another project's is refused without a word about it.
    """
    said = {row["session_id"]: row for row in rows}
    reasons = dict(zip(said, checks.each_reason(reason, len(rows)), strict=True))
    if any(map(parse_node_id, said)):
        raise InvalidInput(
            {"session_id": [_("Looks like a record's node id; give the session a name of its own.")]}
        )
    kept = _sessions_of(project, said)
    while True:
        new = [row for name, row in said.items() if name not in kept]
        try:
            why = [reasons[row["session_id"]] for row in new]
            made = start_sessions(actor=actor, project=project, rows=new, reason=why)
            break
        except InvalidInput as refusal:
            known = len(kept)
            if "__all__" in refusal.errors:
                kept = _sessions_of(project, said)
            if len(kept) == known:  # else a twin was first
                raise
    became = {row["session_id"]: (session, CREATED) for row, session in zip(new, made, strict=True)}
    for why in dict.fromkeys(reasons[name] for name in kept):
        sessions = [session for name, session in kept.items() if reasons[name] == why]
        outcome = verbs.update(
            sessions, lambda locked: _fields_of(said[locked.session_id]),
            actor=actor, verb="upsert", reason=why,
        )  # fmt: skip
        became |= {session.session_id: (session, UPDATED) for session in outcome.updated}
        became |= {session.session_id: (session, UNCHANGED) for session in outcome.unchanged}
    return [became[name] for name in said]


def _fields_of(row: Mapping[str, Any]) -> dict[str, Any]:
    return checks.only({name: value for name, value in row.items() if name != "session_id"}, EDITABLE)


def _sessions_of(project: Project, names: Collection[str]) -> dict[str, WorkSession]:
    """Those of these names that are there, by name."""
    found = WorkSession.objects.filter(session_id__in=list(names)).order_by("pk")
    kept = {session.session_id: session for session in found if session.session_id in names}
    if any(session.project_id != project.pk for session in kept.values()):
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
