"""What an act may say: which columns, which values, a reason. All of it raises InvalidInput, naming the field."""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from datetime import datetime
from decimal import Decimal
from math import isfinite
from typing import Any

from django.core.exceptions import ValidationError
from django.db.models import DecimalField
from django.utils.translation import gettext as _

from records.errors import InvalidInput, TooLarge
from records.hygiene.secrets import redact, redact_json
from records.kinds import Kind
from records.validation import check_text, check_time

# Of a set: one for all of it, or one for each of its rows.
Reason = str | Sequence[str]


def only(changes: Mapping[str, Any], allowed: Sequence[str], node_id: str = "") -> dict[str, Any]:
    """The changes, if each names a column that this verb may change."""
    unknown = [name for name in changes if name not in allowed]
    if unknown:
        raise InvalidInput({name: [_("Cannot be changed here.")] for name in unknown}, node_id)
    return dict(changes)


def require_reason(reason: str) -> None:
    if not reason.strip():
        raise InvalidInput({"reason": [_("Say why: the next reader needs it.")]})


def checked_reason(reason: str) -> str:
    """The reason or note as it is kept: a secret in it is taken out. Raises InvalidInput."""
    try:
        check_text(reason)
    except ValidationError as error:
        raise InvalidInput({"reason": error.messages}) from error
    return redact(reason)[0]


def each_reason(reason: Reason, count: int) -> list[str]:
    """The reasons of a set of so many, as they are kept. Raises InvalidInput."""
    if isinstance(reason, str):
        return [checked_reason(reason)] * count
    return [checked_reason(one) for one in reason]


def validate(record: Any, columns: Iterable[str] | None = None) -> None:
    """The columns' own rules, in words: of these columns, or of all. What plain SQL wrote against a rule into another
    column must not keep a person from rejecting it. CHECKs and uniqueness are the database's, which asks nothing twice.
    """
    names = None if columns is None else set(columns)
    checked = [
        column
        for column in record._meta.fields
        if not (column.is_relation or column.generated) and (names is None or column.name in names)
    ]
    errors: dict[str, Any] = {}
    refusal: type[InvalidInput] = InvalidInput
    try:
        record.clean_fields(exclude=[f.name for f in record._meta.fields if f not in checked])
    except ValidationError as error:
        errors = error.message_dict
        if any(one.code == "too_large" for found in error.error_dict.values() for one in found):
            refusal = TooLarge
    for column in checked:
        value = getattr(record, column.name)
        if column.editable and isinstance(value, datetime) and column.name not in errors:
            try:
                check_time(value)
            except ValidationError as error:
                errors[column.name] = error.messages
    if errors:
        raise refusal(errors, record.node_id if record.pk else "")


def as_kept(kind: Kind, row: Mapping[str, Any]) -> dict[str, Any]:
    """The columns as a verb stores them: without secrets; optional text has one empty value, NULL; tags are stripped, without repeats; a float is the
    decimal it shows."""
    cleaned = {name: _without_secrets(value) for name, value in row.items()}
    for name, value in cleaned.items():
        column = kind.model._meta.get_field(name)
        if isinstance(value, str) and not value.strip() and getattr(column, "null", False):
            cleaned[name] = None
        elif isinstance(value, float) and isinstance(column, DecimalField) and isfinite(value):
            cleaned[name] = Decimal(repr(value))
        elif name == "tags" and isinstance(value, list | tuple):
            words = [tag.strip() if isinstance(tag, str) else tag for tag in value]
            cleaned[name] = (
                list(dict.fromkeys(words)) or None if all(isinstance(w, str) for w in words) else list(value)
            )
    return cleaned


def _without_secrets(value: Any) -> Any:
    if isinstance(value, str):
        return redact(value)[0]
    if isinstance(value, dict | list):
        try:
            return redact_json(value)[0]
        except RecursionError:  # refused for its depth by the column's own rule
            return value
    return value
