"""Reading JSON that plain SQL wrote: what Python, or a page, could not hold comes back as text, never as an error."""

from __future__ import annotations

import json
from math import isfinite
from typing import Any

MOST_LEVELS = 100  # MySQL's own limit; SQLite keeps more than Python can write again


def read_json(text: str) -> Any:
    """The value; numbers beyond any float as their digits, halves of surrogate pairs as U+FFFD.

    The text itself where it is too deep, a whole number too long, or no JSON at all: the same text always reads alike.
    """
    if text.count("[") + text.count("{") > MOST_LEVELS and _levels(text) > MOST_LEVELS:
        return text
    try:
        value = json.loads(text, parse_float=_finite, parse_constant=str)
    except ValueError:
        return text
    return _paired(value) if "\\ud" in text.lower() else value


def _finite(digits: str) -> float | str:
    number = float(digits)
    return number if isfinite(number) else digits


def _levels(text: str) -> int:
    """How deep brackets are nested, those inside strings left out."""
    deepest = depth = 0
    inside = escaped = False
    for mark in text:
        if inside:
            inside = escaped or mark != '"'
            escaped = mark == "\\" and not escaped
        elif mark == '"':
            inside = True
        elif mark in "[{":
            depth += 1
            deepest = max(deepest, depth)
        elif mark in "]}":
            depth -= 1
    return deepest


def _paired(value: Any) -> Any:
    if isinstance(value, str):
        return value.encode("utf-16", "surrogatepass").decode("utf-16", "replace")
    if isinstance(value, list):
        return [_paired(inner) for inner in value]
    if isinstance(value, dict):
        return {_paired(key): _paired(inner) for key, inner in value.items()}
    return value
