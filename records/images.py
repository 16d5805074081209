"""The after-image of a record: what a revision keeps, what a digest is taken of, what a diff compares."""

import hashlib
import json
from datetime import date, datetime
from decimal import Decimal
from typing import Any

from records.models import Record


def image_of(record: Record) -> dict[str, Any]:
    """Column -> plain JSON value of every versioned column, as the database gave it back."""
    return {field.attname: plain(getattr(record, field.attname)) for field in record.versioned_fields()}


def digest_of(image: dict[str, Any]) -> str:
    """SHA-256 in hex of the canonical JSON; a column added later, NULL in every row, changes no digest."""
    said = {name: value for name, value in image.items() if value is not None}
    text = json.dumps(said, sort_keys=True, ensure_ascii=True, separators=(",", ":"))
    return hashlib.sha256(text.encode("ascii")).hexdigest()


def seen_digest_of(record: Record) -> str:
    """What the desk knows a row by: its image, and the version that plain SQL may set back."""
    return digest_of({**image_of(record), "version": record.version})


def changed_between(before: dict[str, Any], after: dict[str, Any]) -> list[str]:
    return [name for name, value in after.items() if before.get(name) != value]


def plain(value: Any) -> Any:
    """A column's value as JSON has it: times in ISO 8601, decimals as text."""
    if isinstance(value, datetime | date):
        return value.isoformat()
    if isinstance(value, Decimal):
        return str(value)
    return value
