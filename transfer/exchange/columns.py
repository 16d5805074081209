"""Columns of records, evidence, revisions … as JSON, and back. What names a row of another table goes by its name."""

from __future__ import annotations

from collections.abc import Mapping
from datetime import datetime
from typing import Any

from django.core.exceptions import ValidationError
from django.db import models

from decisions.kind import DECISION
from decisions.models import Decision
from patterns.models import Evidence, Pattern
from pitfalls.models import Encounter, Pitfall
from projects.models import AgentToken, Project, User
from records.images import plain
from records.models import Erasure, Link, Read, Revision
from records.validation import JSON_MAX_INTEGER, check_time
from runs.kind import RUN
from runs.models import Run

MOST_TEXT = 8 * 1024 * 1024
INT_MOST = 2**31 - 1
RANGES: dict[str, tuple[float, float]] = {
    "trust": (0, 1),
    "prior_weight": (1e-9, 1e9),
}  # as the tables check them
DEEPEST = 98  # MySQL's hundred, less what an image is around it
NEVER = {"row_changed_at"}  # the database's own clock
KIND_OF = {Decision: DECISION, Run: RUN}  # what a foreign key of a record may lead to
PARENTS = (Pattern, Pitfall)
CHILDREN: dict[str, type[models.Model]] = {
    "evidence": Evidence, "encounter": Encounter, "erasure": Erasure, "link": Link, "revision": Revision,
    "read": Read,
}  # fmt: skip


def columns_of(model: type[models.Model]) -> list[models.Field[Any, Any]]:
    """All but keys, the project, and tokens (which are secrets of one desk)."""
    kept = []
    for column in model._meta.concrete_fields:
        leads_to = column.related_model if column.is_relation else None
        if column.primary_key or column.name in NEVER or column.attname == "project_id":
            continue
        if leads_to in (Project, AgentToken, *PARENTS):
            continue
        kept.append(column)
    return kept


def said(row: models.Model, people: Mapping[int, str]) -> dict[str, Any]:
    """The columns that hold something: people by their user name, records by their node id."""
    fields: dict[str, Any] = {}
    for column in columns_of(type(row)):
        value = getattr(row, column.attname)
        if value is None:
            continue
        if column.related_model is User:
            value = people.get(value)
        elif column.related_model in KIND_OF:
            value = KIND_OF[column.related_model].node_id(value)
        if value is not None:
            fields[column.name] = plain(value)
    return fields


def read_fields(model: type[models.Model], fields: Any) -> tuple[dict[str, Any], list[str]]:
    """(values by column, what is wrong with which field). References stay names, for the caller to look up."""
    if not isinstance(fields, dict):
        return {}, ["fields: is no object"]
    columns = {column.name: column for column in columns_of(model)}
    wrong = [f"fields.{name}: there is no such column" for name in fields.keys() - columns.keys()]
    values: dict[str, Any] = {}
    for name, column in columns.items():
        value = fields.get(name)
        if value is None:
            if column.null:
                values[name] = None
            elif not column.has_default() and column.db_default is models.NOT_PROVIDED:  # type: ignore[attr-defined]
                wrong.append(f"fields.{name}: is missing")
            continue
        try:
            values[name] = _read(column, value)
        except ValidationError as error:
            wrong.append(f"fields.{name}: {' '.join(error.messages)}")
    return values, wrong


def _read(column: models.Field[Any, Any], value: Any) -> Any:
    """As strict as the tables are: what plain SQL was let to write must be able to move."""
    if column.is_relation:
        if not isinstance(value, str):
            raise ValidationError("Must be a name.")
        return value
    if isinstance(column, models.JSONField):
        _check_json(value)
        return value
    if isinstance(column, models.CharField | models.TextField):
        return _text(column, value)
    if isinstance(column, models.DateTimeField):
        if not isinstance(value, str):
            raise ValidationError("Must be a time.")
        when = column.to_python(value)
        assert isinstance(when, datetime)
        check_time(when)
        return when
    if isinstance(column, models.BooleanField) != isinstance(value, bool):
        raise ValidationError(
            "Must be true or false." if not isinstance(value, bool) else "Must be a number."
        )
    number = column.to_python(value)
    column.run_validators(number)
    least, most = RANGES.get(
        column.name, (0, INT_MOST) if isinstance(column, models.IntegerField) else (None, None)
    )
    if least is not None and not least <= number <= most:
        raise ValidationError(f"Must lie between {least:g} and {most:g}.")
    return number


def _check_json(value: Any, depth: int = 0) -> None:
    """What every database's JSON holds. Of any size: an after-image is larger than the largest text in it."""
    if depth > DEEPEST:
        raise ValidationError(f"Is nested deeper than {DEEPEST} levels.")
    if isinstance(value, str):
        try:
            value.encode("utf-8")
        except UnicodeEncodeError as error:
            raise ValidationError("Holds half of a character (an unpaired surrogate).") from error
    elif isinstance(value, int) and abs(value) > JSON_MAX_INTEGER:
        raise ValidationError("Holds a whole number of more than 64 bits.")
    elif isinstance(value, dict):
        for name, inner in value.items():
            _check_json(name, depth)
            _check_json(inner, depth + 1)
    elif isinstance(value, list):
        for inner in value:
            _check_json(inner, depth + 1)


def _text(column: models.Field[Any, Any], value: Any) -> str:
    if not isinstance(value, str):
        raise ValidationError("Must be text.")
    try:
        size = len(value.encode("utf-8"))
    except UnicodeEncodeError as error:
        raise ValidationError("Holds half of a character (an unpaired surrogate).") from error
    if size > MOST_TEXT:
        raise ValidationError(f"Is {size} bytes long; at most {MOST_TEXT} are taken.")
    if column.max_length is not None and len(value) > column.max_length:
        raise ValidationError(f"Has {len(value)} characters; at most {column.max_length} fit.")
    if column.choices and value not in {key for key, _ in column.flatchoices}:
        raise ValidationError(f"Must be one of: {', '.join(str(key) for key, _ in column.flatchoices)}.")
    return value
