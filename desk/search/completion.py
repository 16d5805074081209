"""What may come next in the search box: names of filters, and values that the project really has."""

from __future__ import annotations

from collections.abc import Iterable
from typing import Any

from desk.search.queries import SHOWN, tags_beginning, values_beginning
from projects.models import Project
from records.kinds import all_kinds
from records.query_language import ANY_OF, KNOWN, STATES

DATES = ("today", "yesterday", "last-week", "last-30-days", "this-month", "last-month", "this-year")
# Filters whose values are read from the rows: the column of each kind that has it.
COLUMNS = {"by": "source_name", "category": "category", "language": "language", "agent": "agent_name"}
LISTED = {*ANY_OF, "kind"}
CHOICES = {"status": "status", "severity": "severity", "review": "review_state", "source": "source_kind"}


def completions(text: str, project: Project) -> list[str]:
    """Whole lines to choose from, for what is typed so far."""
    head, _space, last = text.rpartition(" ")
    name, colon, typed = last.partition(":")
    if not last or text != text.rstrip():
        return []
    before = f"{head} " if head else ""
    if not colon:
        return [f"{before}{known}:" for known in sorted(KNOWN) if known.startswith(last.lower())][:SHOWN]
    listed, comma, typed = typed.rpartition(",") if name.lower() in LISTED else ("", "", typed)
    values = (
        value
        for value in _values(name.lower(), typed, project)
        if value.lower().startswith(typed.lower()) and '"' not in value  # the line has no way to write it
    )
    return [
        f"{before}{name}:{listed}{comma}{_quoted(value)}" for value in list(dict.fromkeys(values))[:SHOWN]
    ]


def _quoted(value: str) -> str:
    return f'"{value}"' if any(letter.isspace() for letter in value) else value


def _values(name: str, typed: str, project: Project) -> Iterable[str]:
    if name == "kind":
        return [kind.name for kind in all_kinds()]
    if name == "is":
        return list(STATES)
    if name in ("decided", "started", "occurred"):
        return DATES
    if name == "tag":
        return sorted(tag for kind in all_kinds() for tag in tags_beginning(kind, typed, project))
    if name in CHOICES:
        return [value for kind in all_kinds() for value in _choices(kind.model, CHOICES[name])]
    if name in COLUMNS:
        return [
            value
            for kind in all_kinds()
            for value in values_beginning(kind.model, COLUMNS[name], typed, project)
        ]
    return []


def _choices(model: Any, column: str) -> list[str]:
    return [
        str(value)
        for field in model._meta.concrete_fields
        if field.name == column
        for value, _label in field.flatchoices
    ]
