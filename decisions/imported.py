"""Decisions read from documents: read again, and what becomes of one that was edited here as well as there.

Such a conflict is an event in the record's history with the document's new text. It stays open until the document is
read in (`import`) or a person settles it (`settle_import`); nothing is overwritten before that.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping
from datetime import datetime
from typing import Any

from django.utils.translation import gettext as _

from database.transactions import transactional
from decisions.actions import EDITABLE, IMPORTED
from decisions.models import Decision
from records import checks, revisions, verbs
from records.actor import Actor
from records.errors import InvalidInput, Refused
from records.images import digest_of
from records.models import Revision

# What an importer fills from a document and a person may edit after it.
FIELDS = EDITABLE
FIELDS_DIGEST = "fields_digest"
CONFLICT, SETTLED = "import_conflict", "settle_import"
TURNS = ("import", CONFLICT, SETTLED)
TAKE, KEEP = "document", "record"


def plain_fields(values: Mapping[str, Any]) -> dict[str, Any]:
    """FIELDS as JSON keeps them."""
    plain = {name: values[name] for name in FIELDS}
    if isinstance(plain["decided_at"], datetime):
        plain["decided_at"] = plain["decided_at"].isoformat()
    return plain


def fields_digest(values: Mapping[str, Any]) -> str:
    return digest_of(plain_fields(values))


def fields_of(decision: Decision) -> dict[str, Any]:
    return {name: getattr(decision, name) for name in FIELDS}


def edited_here(decision: Decision) -> bool:
    """Whether the record says something else than what was last read from its document."""
    return fields_digest(fields_of(decision)) != (decision.origin or {}).get(FIELDS_DIGEST)


def import_again(
    *,
    actor: Actor,
    decision: Decision,
    changes: Mapping[str, Any] | Callable[[Decision], Mapping[str, Any]],
    reason: str = "",
) -> verbs.Outcome:
    """Take in what the document says now. `changes` may depend on the record as locked."""

    def allowed(record: Decision) -> dict[str, Any]:
        return checks.only(changes(record) if callable(changes) else changes, IMPORTED, record.node_id)

    return verbs.update([decision], allowed, actor=actor, verb="import", reason=reason)


def open_conflict(decision: Decision) -> Revision | None:
    """The conflict that waits for a person, if any."""
    if not decision.origin:
        return None
    turns = Revision.objects.filter(node_id=decision.node_id, verb__in=TURNS)
    last = turns.order_by("-id").first()
    return last if last is not None and last.verb == CONFLICT else None


def note_conflict(*, actor: Actor, decision: Decision, theirs: Mapping[str, Any], reason: str = "") -> bool:
    """Keep the document's new text beside the record. False where the same is noted already."""
    detail = {
        "theirs": {**plain_fields(theirs), **{name: theirs[name] for name in IMPORTED if name not in FIELDS}},
        "version": decision.version,
    }
    standing = open_conflict(decision)
    if standing and standing.detail and standing.detail.get("theirs") == detail["theirs"]:
        return False
    revisions.note_event(decision, CONFLICT, actor=actor, reason=reason, detail=detail)
    return True


@transactional
def withdraw_conflict(*, actor: Actor, decision: Decision, reason: str) -> bool:
    """The document is again as it was when last read: nothing is left to settle."""
    if open_conflict(decision) is None:
        return False
    revisions.note_event(decision, SETTLED, actor=actor, reason=reason)
    return True


@transactional
def settle_conflict(
    *, actor: Actor, decision: Decision, choice: str, reason: str = "", expected_version: int | None = None
) -> Decision:
    """Take the document's words, or keep the record's; either way the document counts as read."""
    if choice not in (TAKE, KEEP):
        raise InvalidInput({"choice": [_("Must be one of: %s.") % f"{TAKE}, {KEEP}"]}, decision.node_id)
    standing = open_conflict(decision)
    if standing is None:
        raise Refused(_("Nothing is left to settle with its document."), decision.node_id)
    theirs = dict((standing.detail or {})["theirs"])
    if theirs["decided_at"]:
        theirs["decided_at"] = datetime.fromisoformat(theirs["decided_at"])
    if choice == KEEP:
        theirs = {name: theirs[name] for name in ("source_text", "origin", "status_written")}
    return verbs.update(
        [decision], theirs, actor=actor, verb=SETTLED, reason=reason, expected_version=expected_version
    ).record
