"""The write verbs every kind shares. Single is a set of one; page, bulk, API, admin and import all end here.

Each runs in one transaction: row, revision, projection mark. Nothing is half-written.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Mapping, Sequence
from functools import partial as bound
from functools import wraps
from itertools import chain
from typing import Any, ParamSpec, TypeVar

from django.db import IntegrityError, connection
from django.db.models import F, FloatField, IntegerField
from django.utils import timezone
from django.utils.translation import gettext as _

from database.transactions import transactional
from projects.access import Capability
from projects.models import Project
from records import attention, followers, marks
from records.actor import Actor, SourceKind
from records.acts import one_act
from records.arriving import Arrival
from records.changes import Change, Detail, refuse_change_of_erased
from records.changes import Outcome as Outcome
from records.checks import Reason, as_kept, checked_reason, each_reason, require_reason, validate
from records.errors import InvalidInput, Refused, VerbError
from records.guard import writing
from records.hygiene.kept import texts_of
from records.images import image_of, seen_digest_of
from records.kinds import Kind, kind_of
from records.models import ProjectionMark, Record, RecordTag, ReviewState
from records.queries import survivors_of
from records.revisions import write_revisions
from records.validation import tag_words

P = ParamSpec("P")
R = TypeVar("R")
CHUNK = 500


class _Unswept(Exception):
    """Rows changed by plain SQL since the desk last saw them; they are taken in first, in their own transaction."""

    def __init__(self, kind: Kind, keys: list[Any]) -> None:
        self.kind, self.keys = kind, keys


def create(
    kind: Kind,
    rows: Sequence[Mapping[str, Any]],
    *,
    actor: Actor,
    project: Project | None,
    reason: Reason = "",
    review_state: str | None = None,
    verb: str = "create",
    capability: Capability = Capability.WRITE,
) -> list[Any]:
    """Insert records. A person's are approved by their own hand; everyone else's arrive unreviewed, or as the project's
    policy rules. Each one's `written` says what was found in it and which older one it repeats."""
    actor.require(project.pk if project else None, capability)
    if not rows:
        return []
    reasons = each_reason(reason, len(rows))
    instances = [_new(kind, row, actor, project, review_state) for row in rows]
    for instance in instances:
        validate(instance)
    arrival = Arrival(kind, actor)
    arrival.look_at_new(instances, may_rule=review_state is None)
    return _insert(kind, instances, arrival, actor=actor, reasons=reasons, verb=verb)


def _new(
    kind: Kind, row: Mapping[str, Any], actor: Actor, project: Project | None, review_state: str | None
) -> Record:
    own = actor.source_kind == SourceKind.PERSON and actor.access.may(
        project.pk if project else None, Capability.REVIEW
    )
    state = review_state or (ReviewState.APPROVED if own else ReviewState.UNREVIEWED)
    stamped: dict[str, Any] = {
        "project": project,
        "review_state": state,
        "source_kind": actor.source_kind,
        "source_name": actor.name,
        "source_session": actor.session or None,
        "source_run": actor.run or None,
        "trust": actor.trust,
        "created_at": timezone.now(),
    }
    if state == ReviewState.APPROVED:
        stamped |= {"reviewed_at": timezone.now(), "reviewed_by": actor.user}
    return kind.model(**{**stamped, **as_kept(kind, row)})


@transactional
def _insert(
    kind: Kind, instances: list[Any], arrival: Arrival, *, actor: Actor, reasons: list[str], verb: str
) -> list[Any]:
    with writing():
        if len(instances) > 1 and _keys_are_known(kind):
            _refusing_bad_rows(bound(kind.model.objects.bulk_create, instances), instances[0])
        else:
            for instance in instances:
                _refusing_bad_rows(instance.save, instance, force_insert=True)
    records = reload(kind, [instance.pk for instance in instances])
    marks.want(records, new=True)
    arrival.keep_new(records)
    attention.keep_new(records)
    write_revisions(records, None, actor=actor, verb=verb, reasons=reasons, rulings=arrival.rulings)
    arrival.link_repetitions()
    mirror_tags([record for record in records if record.tags], new=True)
    return records


def _keys_are_known(kind: Kind) -> bool:
    """One INSERT for all rows: MySQL does not say which keys it gave them."""
    return connection.features.can_return_rows_from_bulk_insert or not kind.integer_key


def update(
    records: Sequence[Any],
    changes: Mapping[str, Any] | Callable[[Any], Mapping[str, Any]],
    *,
    actor: Actor,
    verb: str = "edit",
    reason: str = "",
    expected_version: int | Mapping[str, int] | None = None,
    capability: Capability = Capability.WRITE,
    partial: bool = False,
    detail: Detail | None = None,
    merged_too: bool = False,
) -> Outcome:
    """Change records of one kind, each once. `changes` may depend on the record as locked, and so may `detail`, which
    goes into its history. A record that was merged into another is refused, but `merged_too`.

    A record whose row would not change is `unchanged`. With `partial`, a record that refuses is reported and the
    others go on; without, the first refusal undoes the whole set and is raised. `expected_version` is that of a set of
    one, or each one's by node id: Conflict when someone, plain SQL included, saved first.
    """
    if not records:
        return Outcome()
    reason = checked_reason(reason)
    kind = kind_of(records[0])
    outcome = Outcome()
    keys = sorted({record.pk for record in records})
    change = Change(changes, actor, verb, reason, expected_version, capability, partial, detail, merged_too)
    with one_act():
        for start in range(0, len(keys), CHUNK):
            chunk = keys[start : start + CHUNK] if partial else keys
            outcome.add(_update_chunk(kind, chunk, change))
            if not partial:
                break
    return outcome


def taking_in_sql(act: Callable[P, R]) -> Callable[P, R]:
    """Run an act that locks records; where plain SQL changed them unseen, take that in first and act again."""

    @wraps(act)
    def run(*args: P.args, **kwargs: P.kwargs) -> R:
        from records.sweep import take_in  # the sweep itself writes through this module

        for _attempt in range(3):
            try:
                return act(*args, **kwargs)
            except _Unswept as unswept:
                take_in(unswept.kind, unswept.keys)
        raise Refused(_("The row keeps changing under this act; try again."))

    return run


@taking_in_sql
@transactional
def _update_chunk(kind: Kind, keys: list[Any], change: Change) -> Outcome:
    outcome, arrival = Outcome(), Arrival(kind, change.actor)
    befores: dict[Any, dict[str, Any]] = {}
    plans: dict[Any, dict[str, Any]] = {}
    details: dict[Any, dict[str, Any]] = {}
    were_active: set[Any] = set()
    for record in lock(kind, keys, may_be_erased=True):
        try:
            plan = change.plan_for(kind, record)
            if not plan:
                outcome.unchanged.append(record)
                continue
            before, texts, counted = image_of(record), texts_of(record), _counters_in(kind, record, plan)
            if record.is_active:
                were_active.add(record.pk)
            details[record.pk] = dict(change.detail(record) if change.detail else {})
            for name, value in plan.items():
                setattr(record, name, value)
            plan |= kind.follows(record, plan)
            validate(record, plan)
            if counted:
                details[record.pk]["counters"] = {name: [was, plan[name]] for name, was in counted.items()}
            plans[record.pk] = plan | arrival.look_at_change(record, plan, texts)
            befores[record.pk] = before
        except VerbError as refusal:
            if not change.partial:
                raise
            outcome.refused.append((record.node_id, refusal))
    _write_rows(kind, plans)
    outcome.updated = reload(kind, list(plans))
    marks.want(outcome.updated)
    arrival.keep_changed(outcome.updated)
    attention.keep_changed(outcome.updated, befores)
    write_revisions(
        outcome.updated, befores, actor=change.actor, verb=change.verb,
        reasons=[change.reason] * len(outcome.updated), rulings=arrival.rulings, details=details,
    )  # fmt: skip
    mirror_tags([record for record in outcome.updated if "tags" in plans[record.pk]])
    followers.tell_hidden(
        [record.node_id for record in outcome.updated if record.pk in were_active and not record.is_active]
    )
    return outcome


def _counters_in(kind: Kind, record: Any, plan: Mapping[str, Any]) -> dict[str, Any]:
    """The numbers that change beside the version, but those that follow from others: its image does not hold them, and
    an undo needs them."""
    follow = kind.follows(record, plan)
    return {
        name: getattr(record, name)
        for name in record.counters
        if name in plan
        and name not in follow
        and isinstance(record._meta.get_field(name), IntegerField | FloatField)
    }


def lock(kind: Kind, keys: Iterable[Any], *, may_be_erased: bool = False) -> list[Any]:
    """The rows, locked in key order. Rows that plain SQL changed unseen are taken in first (see `update`); what was
    erased for good is Refused, or told by `record.erased`."""
    records = list(kind.model.objects.select_for_update().filter(pk__in=list(keys)).order_by("pk"))
    seen = {
        node_id: (digest, erased)
        for node_id, digest, erased in ProjectionMark.objects.filter(
            node_id__in=[record.node_id for record in records], gone=False
        ).values_list("node_id", "seen_digest", "erased")
    }
    unswept = []
    for record in records:
        digest, record.erased = seen.get(record.node_id, ("", False))
        if digest != seen_digest_of(record) or kind.is_foreign(record):
            unswept.append(record.pk)
        elif not may_be_erased:
            refuse_change_of_erased(record)
    if unswept:
        raise _Unswept(kind, unswept)
    return records


def lock_live(record: Any) -> Any:
    """The record, locked; where it was merged into another, that one: what is counted on an old id counts there."""
    return lock_all_live([record])[record.node_id]


def lock_all_live(records: Sequence[Any]) -> dict[str, Any]:
    """The same of many of one kind, by the node ids of these records, of which several may have become one."""
    following = survivors_of(records)
    while following:
        kind = kind_of(records[0])
        locked = {record.node_id: record for record in lock(kind, {one.pk for one in following.values()})}
        after = survivors_of(locked.values())  # somebody may have merged one while we waited
        if all(after[node_id].pk == record.pk for node_id, record in locked.items()):
            return {node_id: locked[one.node_id] for node_id, one in following.items()}
        following = {node_id: after[one.node_id] for node_id, one in following.items()}
    return {}


def _write_rows(kind: Kind, plans: dict[Any, dict[str, Any]]) -> None:
    groups: dict[str, list[tuple[dict[str, Any], list[Any]]]] = {}
    for key, plan in plans.items():
        # What differs is mostly told apart by how it reads: of a thousand plans each is not compared with each.
        alike = groups.setdefault(repr(plan), [])
        same = next((keys for other, keys in alike if other == plan), None)
        if same is None:
            alike.append((plan, [key]))
        else:
            same.append(key)
    with writing():
        for plan, keys in chain.from_iterable(groups.values()):
            rows = kind.model.objects.filter(pk__in=keys)
            try:
                rows.update(**plan, version=F("version") + 1)
            except IntegrityError as error:
                raise InvalidInput({"__all__": [_integrity_message(error)]}, kind.node_id(keys[0])) from error


def review(
    records: Sequence[Any],
    state: str,
    *,
    actor: Actor,
    reason: str = "",
    expected_version: int | Mapping[str, int] | None = None,
    partial: bool = False,
) -> Outcome:
    """Say what a person thinks of the memory: approved, rejected, quarantined, or back to unreviewed."""
    if state not in ReviewState.values:
        raise InvalidInput({"review_state": [_("Must be one of: %s.") % ", ".join(ReviewState.values)]})
    if state == ReviewState.REJECTED:
        require_reason(reason)
    verb = {"approved": "approve", "rejected": "reject", "quarantined": "quarantine"}.get(state, "unreview")
    now, reviewed = timezone.now(), state != ReviewState.UNREVIEWED

    def changes(record: Any) -> dict[str, Any]:
        if record.review_state == state:
            return {}
        return {
            "review_state": state,
            "reviewed_at": now if reviewed else None,
            "reviewed_by": actor.user if reviewed else None,
        }

    return update(
        records, changes, actor=actor, verb=verb, reason=reason, expected_version=expected_version,
        capability=Capability.REVIEW, partial=partial,
    )  # fmt: skip


def confirm(records: Sequence[Any], *, actor: Actor, reason: str = "", **options: Any) -> Outcome:
    """Say that an approved memory still holds, as of now: what came up against it before is answered."""

    def changes(record: Any) -> dict[str, Any]:
        if not record.is_active or record.review_state != ReviewState.APPROVED:
            raise Refused(_("Only an approved memory can be confirmed."), record.node_id)
        return {"reviewed_at": timezone.now(), "reviewed_by": actor.user}

    return update(
        records, changes, actor=actor, verb="confirm", reason=reason, capability=Capability.REVIEW, **options
    )


def archive(
    records: Sequence[Any], *, actor: Actor, reason: str = "", verb: str = "archive", **options: Any
) -> Outcome:
    """Put away without judging: hidden from every read path until restored."""
    now = timezone.now()
    return update(
        records, lambda record: {} if record.archived_at else {"archived_at": now},
        actor=actor, verb=verb, reason=reason, **options,
    )  # fmt: skip


def restore(
    records: Sequence[Any], *, actor: Actor, reason: str = "", verb: str = "restore", **options: Any
) -> Outcome:
    return update(records, {"archived_at": None}, actor=actor, verb=verb, reason=reason, **options)


def reload(kind: Kind, keys: Sequence[Any]) -> list[Any]:
    """The records as the database now has them (defaults, generated columns), in the order of the keys."""
    found = kind.model.objects.select_related(*kind.select).in_bulk(list(keys))
    return [found[key] for key in keys]


def mirror_tags(records: Sequence[Any], *, new: bool = False) -> None:
    if not records:
        return
    if not new:
        RecordTag.objects.filter(node_id__in=[record.node_id for record in records]).delete()
    RecordTag.objects.bulk_create(
        [
            RecordTag(
                project_id=record.project_id, node_id=record.node_id, kind=kind_of(record).name, tag=tag
            )
            for record in records
            for tag in tag_words(record.tags)
        ]
    )


def _refusing_bad_rows(write: Callable[..., Any], instance: Any, **options: Any) -> None:
    try:
        write(**options)
    except IntegrityError as error:
        raise InvalidInput({"__all__": [_integrity_message(error)]}) from error


def _integrity_message(error: IntegrityError) -> str:
    return _("The database refused it: %s") % (error.args[-1] if error.args else error)
