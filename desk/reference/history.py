"""The history of a generated record: the after-image of each version, and the events beside them."""

from __future__ import annotations

from datetime import datetime, timedelta
from typing import Any, NamedTuple

from desk.reference import words
from desk.reference.records import CHANNELS, Made
from records.actor import Channel, SourceKind
from records.images import image_of, plain
from records.models import ReviewState, Revision

REVIEW_VERBS = {
    ReviewState.APPROVED: "approve",
    ReviewState.REJECTED: "reject",
    ReviewState.QUARANTINED: "quarantine",
}
REASONS = {"reject": "It was never built like this.", "quarantine": "Nobody can say where this came from."}


class _Step(NamedTuple):
    when: datetime
    verb: str
    channel: Channel
    actor: str
    changes: dict[str, Any]


def revisions_of(made: Made, until: datetime) -> list[Revision]:
    """The record's own revisions, oldest first; sets its version and when its row last changed."""
    record = made.record
    after = image_of(record)
    image = {**after, **made.earlier, "archived_at": None}
    # A person's own record is approved as it is written.
    by_hand = record.source_kind == SourceKind.PERSON and record.reviewed_at == record.created_at
    if not by_hand:
        image |= {"review_state": ReviewState.UNREVIEWED.value, "reviewed_at": None}
    changed_at = record.created_at
    revisions = []
    for version, step in enumerate(_steps(made, after, by_hand, until), start=1):
        changed = [name for name, value in step.changes.items() if image[name] != value]
        image = {**image, **step.changes}
        changed_at = max(changed_at, step.when)
        record.version = version
        revisions.append(
            Revision(
                **_shared(made, step.verb, step.when),
                version=version,
                channel=step.channel,
                actor_name=step.actor,
                reason=REASONS.get(step.verb, ""),
                after=image,
                changed=changed,
            )
        )
    for verb, when, detail in made.events:
        changed_at = max(changed_at, when)
        actor = record.source_name or words.AGENTS[0]
        revisions.append(
            Revision(**_shared(made, verb, when), channel=Channel.API, actor_name=actor, detail=detail)
        )
    record.row_changed_at = changed_at
    if made.kind == "pattern":
        record.updated_at = changed_at
    return sorted(revisions, key=lambda revision: revision.created_at)


def _steps(made: Made, after: dict[str, Any], by_hand: bool, until: datetime) -> list[_Step]:
    record = made.record
    writer = record.source_name or words.AGENTS[0]
    reader = words.PEOPLE[len(writer) % len(words.PEOPLE)]
    channel = CHANNELS[record.source_kind]
    later = []
    if made.earlier:
        changes = {name: after[name] for name in made.earlier}
        when = min(record.created_at + timedelta(minutes=30), until)
        later.append(_Step(when, "edit", channel, writer, changes))
    if record.review_state != ReviewState.UNREVIEWED and not by_hand:
        changes = {"review_state": str(record.review_state), "reviewed_at": plain(record.reviewed_at)}
        verb = REVIEW_VERBS[record.review_state]
        later.append(_Step(record.reviewed_at, verb, Channel.WEB, reader, changes))
    if record.archived_at:
        changes = {"archived_at": plain(record.archived_at)}
        later.append(_Step(record.archived_at, "archive", Channel.WEB, reader, changes))
    later.sort(key=lambda step: step.when)
    return [_Step(record.created_at, "create", channel, writer, {}), *later]


def _shared(made: Made, verb: str, when: datetime) -> dict[str, Any]:
    record = made.record
    return {
        "node_id": record.node_id,
        "kind": made.kind,
        "project_id": record.project_id,
        "verb": verb,
        "session": record.source_session or "" if verb == "create" else "",
        "created_at": when,
    }
