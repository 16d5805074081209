"""An alert as it was pasted: a text, or JSON of any shape."""

from __future__ import annotations

import re
from typing import Any

from desk.context_pack.asked import trigger_text
from records.foreign_json import read_json
from records.one_line import one_line

LONGEST_TITLE = 120
# What alert managers call the line that a person is to read, as the last part of its path.
NAMING = re.compile(r"(?:[\w-]+\.)*(?:summary|title|alertname|alert|message): \S", re.ASCII | re.IGNORECASE)


def value_of(text: str) -> dict[str, Any] | list[Any] | None:
    """The JSON object or array that the text is; None for any other text."""
    if text.lstrip()[:1] not in ("{", "["):
        return None
    value = read_json(text)
    return value if isinstance(value, dict | list) else None


def words_of(text: str) -> str:
    """What is looked for: a text as it is, JSON as its leaves, one a line, each with its path."""
    value = value_of(text)
    return text if value is None else trigger_text(value) or text


def title_of(words: str) -> str:
    """The alert in one line: of JSON the one that names it, else the first that says something."""
    lines = words[:20_000].splitlines()
    for line in [*filter(NAMING.match, lines), *lines]:
        if said := one_line(line, LONGEST_TITLE):
            return said
    return ""
