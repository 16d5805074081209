"""What may come next in the search box: names of filters, and values that the project really has."""

from __future__ import annotations

from collections.abc import Iterable
from typing import Any

from django.db.models import IntegerField, QuerySet
from django.db.models.functions import Cast, Substr

from projects.models import Project
from records.kinds import Kind, all_kinds
from records.models import RecordTag
from records.query_language import ANY_OF, KNOWN, STATES

SHOWN = 12
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
        return sorted(tag for kind in all_kinds() for tag in _tags(kind, typed, project))
    if name in CHOICES:
        return [value for kind in all_kinds() for value in _choices(kind.model, CHOICES[name])]
    if name in COLUMNS:
        return [
            value for kind in all_kinds() for value in _in_rows(kind.model, COLUMNS[name], typed, project)
        ]
    return []


def _tags(kind: Kind, typed: str, project: Project) -> QuerySet[Any, Any] | list[str]:
    """Of active memories alone: what a quarantined one brought is offered to nobody."""
    if "tags" not in {field.name for field in kind.model._meta.concrete_fields}:
        return []
    key = Substr("node_id", len(kind.prefix) + 2)
    tags = RecordTag.objects.filter(project_id=project.pk, kind=kind.name, tag__startswith=typed)
    tags = tags.annotate(key=Cast(key, IntegerField()) if kind.integer_key else key)
    active = kind.model.objects.active().filter(project=project)
    tags = tags.filter(key__in=active.values("pk"))
    return tags.order_by("tag").values_list("tag", flat=True).distinct()[:SHOWN]


def _choices(model: Any, column: str) -> list[str]:
    return [
        str(value)
        for field in model._meta.concrete_fields
        if field.name == column
        for value, _label in field.flatchoices
    ]


def _in_rows(model: Any, column: str, typed: str, project: Project) -> QuerySet[Any, Any] | list[str]:
    if column not in {field.name for field in model._meta.concrete_fields}:
        return []
    rows = model.objects.active().filter(project=project, **{f"{column}__startswith": typed})
    return rows.exclude(**{column: ""}).order_by(column).values_list(column, flat=True).distinct()[:SHOWN]
