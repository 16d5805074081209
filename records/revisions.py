"""Rows of the history: versions with their after-image, and events beside them."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any

from django.utils import timezone

from records.actor import Actor
from records.acts import current_act, new_act_id
from records.guard import writing
from records.images import changed_between, image_of
from records.kinds import kind_of
from records.models import Revision
from records.policies import POLICY, Ruling


def note_event(
    record: Any, verb: str, *, actor: Actor, reason: str = "", detail: Mapping[str, Any] | None = None
) -> Revision:
    """A history row beside the versions, for an act that changes no versioned column. Call inside a transaction."""
    event = event_of(record, verb, actor=actor, reason=reason, detail=detail)
    with writing():
        event.save(force_insert=True)
    return event


def event_of(
    record: Any, verb: str, *, actor: Actor, reason: str = "", detail: Mapping[str, Any] | None = None
) -> Revision:
    """The same, not yet written."""
    return Revision(**revision_fields(record, actor, verb, reason), detail=dict(detail or {}))


def write_revisions(
    records: Sequence[Any],
    befores: Mapping[Any, dict[str, Any]] | None,
    *,
    actor: Actor,
    verb: str,
    reasons: Sequence[str],
    rulings: Mapping[str, Ruling],
    details: Mapping[Any, Mapping[str, Any]] | None = None,
) -> None:
    """One for each record with its reason (`details` by its key); where a policy had a say, its own beside it."""
    rows = []
    for record, reason in zip(records, reasons, strict=True):
        after = image_of(record)
        before = befores.get(record.pk, {}) if befores is not None else {}
        changed = changed_between(before, after) if befores is not None else []
        rows.append(
            Revision(
                **revision_fields(record, actor, verb, reason),
                version=record.version,
                after=after,
                changed=changed,
                detail=dict((details or {}).get(record.pk, {})) or None,
            )
        )
        if ruling := rulings.get(record.node_id):
            event = event_of(record, ruling.verb, actor=actor, reason=ruling.reason, detail=ruling.detail)
            event.actor_name, event.user = POLICY, None
            rows.append(event)
    with writing():
        Revision.objects.bulk_create(rows)


def revision_fields(record: Any, actor: Actor, verb: str, reason: str) -> dict[str, Any]:
    return {
        "node_id": record.node_id,
        "kind": kind_of(record).name,
        "project_id": record.project_id,
        "verb": verb,
        "channel": actor.channel,
        "user": actor.user,
        "token": actor.token,
        "actor_name": actor.name,
        "session": actor.session,
        "run": actor.run,
        "request_id": actor.request_id,
        "act": current_act() or new_act_id(),
        "reason": reason,
        "created_at": timezone.now(),
    }
