"""The after-image of a record: what a revision keeps, what a digest is taken of, what a diff compares."""

import hashlib
import json
from datetime import date, datetime
from decimal import Decimal
from typing import Any

from records.models import Record


def image_of(record: Record) -> dict[str, Any]:
    """Column -> plain JSON value of every versioned column, as the database gave it back."""
    return {field.attname: _plain(getattr(record, field.attname)) for field in record.versioned_fields()}


def digest_of(image: dict[str, Any]) -> str:
    """SHA-256 in hex of the canonical JSON."""
    text = json.dumps(image, sort_keys=True, ensure_ascii=True, separators=(",", ":"))
    return hashlib.sha256(text.encode("ascii")).hexdigest()


def changed_between(before: dict[str, Any], after: dict[str, Any]) -> list[str]:
    return [name for name, value in after.items() if before.get(name) != value]


def _plain(value: Any) -> Any:
    if isinstance(value, datetime | date):
        return value.isoformat()
    if isinstance(value, Decimal):
        return str(value)
    return value
