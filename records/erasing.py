"""The one verb that takes history away: the text of a record erased for good, from its row and wherever else it lies.

What stays is a tombstone (`Erasure`), who did what to it when, and its number. See docs/erasing.md.
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

from django.contrib.admin.models import LogEntry
from django.core.validators import RegexValidator
from django.db import connection, models, transaction
from django.db.models import Q
from django.utils import timezone
from django.utils.translation import gettext as _

from database.columns import HexIdField, NodeIdField
from database.transactions import transactional
from projects.access import Capability
from records import attention, marks, text_tables
from records.actor import Actor
from records.checks import checked_reason, require_reason
from records.erased_traces import clear_answers, clear_history
from records.errors import InvalidInput
from records.guard import writing
from records.images import image_of
from records.kinds import all_kinds, kind_named, kind_of
from records.models import Erasure, Link, RecordFinding, RecordTag, Revision
from records.queries import erasure_of
from records.revisions import revision_fields
from records.text_tables import TextTable, add_text_table, by_node
from records.verbs import Outcome, lock, reload, taking_in_sql

PLACEHOLDER = "[erased]"
# Who wrote it, and where: not what they wrote.
PROVENANCE = ("source_name", "source_session")
SHORTEST_QUOTE = 12


def _in_admin_log(records: Sequence[Any]) -> Q | None:
    """Django's own log of the admin keeps the heading of what was saved there."""
    found = Q()
    for record in records:
        found |= Q(content_type__app_label=record._meta.app_label, content_type__model=record._meta.model_name, object_id=str(record.pk))  # fmt: skip
    return found or None


for _table in (
    TextTable(model=Link, rows_of=by_node("source", "target"), emptied={"note": None}),
    TextTable(model=RecordFinding, rows_of=by_node("node_id")),
    TextTable(model=RecordTag, rows_of=by_node("node_id")),
    TextTable(
        model=LogEntry, rows_of=_in_admin_log, emptied={"object_repr": PLACEHOLDER, "change_message": ""}
    ),
):
    add_text_table(_table)


def erase(records: Sequence[Any], *, actor: Actor, reason: str, hot_state: bool = False) -> Outcome:
    """Erase the text of these records, of any kinds, and of what says the same (a run's memories). Admins only.

    With `hot_state` the agents' caches of their projects are emptied, which may hold copies. One that was erased already is `unchanged`. Raises InvalidInput without a reason, or where the reason quotes.
    """
    require_reason(reason)
    reason = checked_reason(reason)
    whole = {record.node_id: record for record in records}
    for companion in text_tables.companions_of(list(whole.values())):
        whole.setdefault(companion.node_id, companion)
    by_kind: dict[str, list[Any]] = {}
    for record in whole.values():
        by_kind.setdefault(kind_of(record).name, []).append(record)
    return _erase(list(by_kind.values()), actor, reason, hot_state)


@taking_in_sql
@transactional
def _erase(groups: Sequence[Sequence[Any]], actor: Actor, reason: str, hot_state: bool) -> Outcome:
    outcome = Outcome()
    overwrite_what_is_deleted()
    for group in groups:
        for record in lock(kind_of(group[0]), {record.pk for record in group}, may_be_erased=True):
            actor.require(record.project_id, Capability.MANAGE)
            _refuse_quotes(record, reason)
            (outcome.unchanged if record.erased else outcome.updated).append(record)
    locked = outcome.updated
    if not locked:
        return outcome
    clear_history(locked)
    clear_answers([record.node_id for record in locked], _("A record that it told of was erased for good."))
    text_tables.clear(locked)
    if hot_state:
        text_tables.empty_hot_state({record.project_id for record in locked if record.project_id})
    outcome.updated = _erase_rows(locked)
    marks.want(outcome.updated)
    marks.entomb_text(record.node_id for record in outcome.updated)
    _tell(outcome.updated, actor, reason)
    node_ids = [record.node_id for record in outcome.updated]
    attention.look_again(node_ids)
    attention.look_around(node_ids, [kind_of(record).leads_to(record) for record in outcome.updated])
    return outcome


def _refuse_quotes(record: Any, reason: str) -> None:
    """The reason is what stays: it must not hold what goes."""
    said = reason.casefold()
    for column in erased_columns(type(record)):
        value = getattr(record, column)
        if isinstance(value, str) and len(value) >= SHORTEST_QUOTE and value.casefold() in said:
            raise InvalidInput({"reason": [_("It quotes what is to be erased; say it in other words.")]}, record.node_id)  # fmt: skip


def erased_columns(model: type[models.Model]) -> dict[str, Any]:
    """Column -> what it holds afterwards, of every column that a writer puts words into."""
    columns: dict[str, Any] = {}
    for column in model.versioned_fields():  # type: ignore[attr-defined]
        if column.choices or isinstance(column, NodeIdField | HexIdField) or column.name in PROVENANCE:
            continue
        if isinstance(column, models.CharField | models.TextField | models.JSONField):
            is_word = any(type(check) is RegexValidator for check in column.validators)
            columns[column.name] = None if column.null else "erased" if is_word else PLACEHOLDER
    return columns


def _erase_rows(locked: Sequence[Any]) -> list[Any]:
    now = timezone.now()
    keys: dict[str, list[Any]] = {}
    for record in locked:
        kind = kind_of(record)
        values = {
            name: f"[erased {record.node_id}]" if kind.model._meta.get_field(name).unique else value  # type: ignore[union-attr]
            for name, value in erased_columns(kind.model).items()
        }
        with writing():
            kind.model.objects.filter(pk=record.pk).update(
                **values, version=record.version + 1, archived_at=record.archived_at or now
            )
        keys.setdefault(kind.name, []).append(record.pk)
    return [record for name, some in keys.items() for record in reload(kind_named(name), some)]


def _tell(records: Sequence[Any], actor: Actor, reason: str) -> None:
    """The tombstones, and the act in each history: without a word of the text."""
    now = timezone.now()
    with writing():
        Revision.objects.bulk_create(
            [
                Revision(
                    **revision_fields(record, actor, "erase", reason),
                    version=record.version,
                    after=image_of(record),
                    changed=[*erased_columns(type(record)), "archived_at"],
                )
                for record in records
            ]
        )
        for record in records:
            Erasure.objects.update_or_create(
                node_id=record.node_id,
                defaults={
                    "kind": kind_of(record).name, "project_id": record.project_id, "user": actor.user,
                    "actor_name": actor.name, "reason": reason, "erased_at": now,
                },
            )  # fmt: skip


def overwrite_what_is_deleted() -> None:
    """SQLite leaves what is deleted in its file until something else is written there, unless told otherwise."""
    if connection.vendor != "sqlite":
        return
    with connection.cursor() as cursor:
        cursor.execute("PRAGMA secure_delete = ON")
    transaction.on_commit(_empty_the_log, robust=True)


def _empty_the_log() -> None:
    """What was there before is in SQLite's write-ahead log too, until it is cut off."""
    with connection.cursor() as cursor:
        cursor.execute("PRAGMA wal_checkpoint(TRUNCATE)")


def beside(record: Any, limit: int) -> list[Any]:
    """Records of the project that hold texts of their own about the same: those merged into it, and those that belong
    to it (a decision's outcomes); what is erased with it anyway is not among them."""
    along = {one.node_id for one in text_tables.companions_of([record])}
    found: dict[str, Any] = {}
    for kind in all_kinds():
        belongs = Q(merged_into=record.node_id) if kind is kind_of(record) else Q()
        for column in kind.model._meta.concrete_fields:
            if column.related_model is type(record):
                belongs |= Q(**{column.name: record})
        if not belongs:
            continue
        rows = kind.model.objects.select_related("project", *kind.select).filter(
            belongs, project_id=record.project_id
        )
        found |= {one.node_id: one for one in rows.order_by("pk")[:limit]}
    return [one for node_id, one in found.items() if node_id not in along and not _was_erased(one)][:limit]


def _was_erased(record: Any) -> bool:
    return record.archived_at is not None and erasure_of(record.node_id) is not None
