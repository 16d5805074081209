"""Erasing a part only: an exact string (a secret, a name) replaced wherever a project's records hold it, history and all;
or what looks like a secret, in those cells alone where it does."""

from __future__ import annotations

from collections import Counter, defaultdict
from collections.abc import Callable, Collection, Mapping, Sequence
from dataclasses import dataclass, field
from typing import Any

from django.db import IntegrityError, models
from django.db.models import Q
from django.utils.translation import gettext as _

from database.transactions import transactional
from projects.access import Capability
from projects.models import Project
from records import attention, marks, text_tables
from records.actor import Actor
from records.checks import checked_reason, require_reason
from records.erasing import PLACEHOLDER, overwrite_what_is_deleted
from records.errors import InvalidInput
from records.everywhere import SHORTEST, Place, forms_of, is_written, project_columns, rows_holding
from records.guard import writing
from records.hygiene import kept
from records.hygiene.secrets import redact_json
from records.images import image_of
from records.kinds import Kind, all_kinds
from records.models import Revision
from records.revisions import revision_fields
from records.verbs import lock, mirror_tags, reload, taking_in_sql

LONGEST_NODE_ID = 40


@dataclass
class ValuesErased:
    """Node ids of the records whose own row held one of them, and cells by `table.column` of everything else."""

    node_ids: list[str] = field(default_factory=list)
    cells: Counter[str] = field(default_factory=Counter)

    def add(self, part: ValuesErased) -> None:
        self.node_ids += part.node_ids
        self.cells += part.cells


def erase_value(
    text: str, project: Project | None, *, actor: Actor, reason: str, placeholder: str = PLACEHOLDER
) -> ValuesErased:
    """Replace this exact string by the placeholder. Admins only; raises InvalidInput for one too short to tell."""
    return erase_values({text: placeholder}, project, actor=actor, reason=reason)


def erase_values(
    placeholders: Mapping[str, str], project: Project | None, *, actor: Actor, reason: str
) -> ValuesErased:
    """The same of several strings, as one act: string -> what stands in its place. Project None: the unassigned runs."""
    project_id = project.pk if project else None
    actor.require(project_id, Capability.MANAGE)
    require_reason(reason)
    for text, placeholder in placeholders.items():
        if len(text.strip()) < SHORTEST:
            raise InvalidInput({"text": [_("Give at least %s characters.") % SHORTEST]})
        if text in placeholder:
            raise InvalidInput({"text": [_("This is what would stand in its place.")]})
        if text in reason:
            raise InvalidInput({"reason": [_("It quotes what is to be erased; say it in other words.")]})
    reason = checked_reason(reason)
    # The longest first: one may be a part of another.
    replacing = {text: placeholders[text] for text in sorted(placeholders, key=len, reverse=True)}
    return _erase_values(replacing, project_id, actor, reason)


def redact_cells(
    places: Sequence[Place], project: Project | None, *, actor: Actor, reason: str
) -> ValuesErased:
    """Take what looks like a secret out of these cells alone, as one act. Admins only."""
    actor.require(project.pk if project else None, Capability.MANAGE)
    require_reason(reason)
    return _redact_cells(places, project.pk if project else None, actor, checked_reason(reason))


@taking_in_sql
@transactional
def _erase_values(
    replacing: Mapping[str, str], project_id: int | None, actor: Actor, reason: str
) -> ValuesErased:
    overwrite_what_is_deleted()
    done = ValuesErased()

    def clean(value: Any) -> Any:
        return without(value, replacing)

    for kind in all_kinds():
        keys = {
            key
            for column in _text_columns(kind)
            for key, _value in rows_holding(kind.model, column, [*replacing], Q(project_id=project_id))
        }
        done.node_ids += _in_rows(kind, keys, clean, actor, reason)
    skipped = {kind.model for kind in all_kinds()} | text_tables.derived_tables()
    for model, column, scope in project_columns(project_id):
        if model not in skipped:
            cells = _in_cells(model, column, list(rows_holding(model, column, [*replacing], scope)), clean)
            if cells:
                done.cells[f"{model._meta.db_table}.{column.column}"] += cells
    return done


@taking_in_sql
@transactional
def _redact_cells(places: Sequence[Place], project_id: int | None, actor: Actor, reason: str) -> ValuesErased:
    overwrite_what_is_deleted()
    done = ValuesErased()
    keys: dict[tuple[str, str], set[str]] = defaultdict(set)
    for place in places:
        keys[place.table, place.column].add(place.key)

    def clean(value: Any) -> Any:
        return redact_json(value)[0]

    for kind in all_kinds():
        of_kind = [
            key
            for (table, _column), some in keys.items()
            if table == kind.model._meta.db_table
            for key in some
        ]
        found = kind.model.objects.filter(Q(project_id=project_id), pk__in=of_kind)
        done.node_ids += _in_rows(kind, set(found.values_list("pk", flat=True)), clean, actor, reason)
    skipped = {kind.model for kind in all_kinds()} | text_tables.derived_tables()
    for model, column, scope in project_columns(project_id):
        wanted = keys.get((model._meta.db_table, column.attname))
        if model not in skipped and wanted:
            rows = model._default_manager.filter(scope, pk__in=wanted).values_list("pk", column.attname)
            done.cells[f"{model._meta.db_table}.{column.column}"] += _in_cells(
                model, column, list(rows), clean
            )
    return done


def _text_columns(kind: Kind) -> list[models.Field[Any, Any]]:
    return [column for column in kind.model._meta.concrete_fields if _is_text(column)]


def _in_rows(
    kind: Kind, keys: Collection[Any], clean: Callable[[Any], Any], actor: Actor, reason: str
) -> list[str]:
    if not keys:
        return []
    changed: dict[Any, list[str]] = {}
    for record in lock(kind, keys, may_be_erased=True):
        values = {}
        for column in _text_columns(kind):
            held = getattr(record, column.attname)
            if (cleaned := clean(held)) != held:
                values[column.attname] = _fitting(column, cleaned, record)
        if not values:
            continue
        changed[record.pk] = [*values]
        with writing():
            kind.model.objects.filter(pk=record.pk).update(**values, version=record.version + 1)
    records = reload(kind, list(changed))
    marks.want(records)
    text_tables.forget_derived(records)
    mirror_tags(records)
    kept.keep(records, {record.node_id: kept.look_at(record, past_the_door=True) for record in records})
    with writing():
        Revision.objects.bulk_create(
            [
                Revision(
                    **revision_fields(record, actor, "erase_value", reason),
                    version=record.version, after=image_of(record), changed=changed[record.pk],
                )
                for record in records
            ]
        )  # fmt: skip
    attention.look_again([record.node_id for record in records])
    return [record.node_id for record in records]


def _is_text(column: models.Field[Any, Any]) -> bool:
    return is_written(column) and isinstance(column, models.CharField | models.TextField | models.JSONField)


def _in_cells(
    model: type[models.Model],
    column: models.Field[Any, Any],
    cells: Sequence[tuple[Any, Any]],
    clean: Callable[[Any], Any],
) -> int:
    changed = [(key, cleaned) for key, value in cells if (cleaned := clean(value)) != value]
    for key, value in changed:
        kept_as = _fitting(column, value, None)
        try:
            _write_cell(model, column, key, kept_as)
        except IntegrityError:  # two names that differed in it alone
            _write_cell(model, column, key, f"{str(kept_as)[: LONGEST_NODE_ID * 2]} {key}")
    return len(changed)


@transactional
def _write_cell(model: type[models.Model], column: models.Field[Any, Any], key: Any, value: Any) -> None:
    with writing():
        model._default_manager.filter(pk=key).update(**{column.attname: value})


def without(value: Any, replacing: Mapping[str, str]) -> Any:
    """The value with each string replaced, in JSON that is kept as a text too."""
    if isinstance(value, str):
        for text, placeholder in replacing.items():
            for form in sorted(forms_of(text), key=len, reverse=True):
                value = value.replace(form, placeholder)
        return value
    if isinstance(value, dict):
        clean: dict[str, Any] = {}
        for key, inner in value.items():
            key = without(key, replacing)
            while key in clean:  # two keys that differed in it alone: neither value is lost
                key += "+"
            clean[key] = without(inner, replacing)
        return clean
    if isinstance(value, list):
        return [without(inner, replacing) for inner in value]
    return value


def _fitting(column: models.Field[Any, Any], value: Any, record: Any) -> Any:
    """A placeholder may be longer than what it stands for, or make two names the same."""
    if not isinstance(value, str):
        return value
    longest = column.max_length
    if column.unique and record is not None:
        room = (longest or 255) - LONGEST_NODE_ID - 1
        return f"{value[:room]} {record.node_id}"
    if longest is not None and len(value) > longest:
        return value[:longest]
    return value
