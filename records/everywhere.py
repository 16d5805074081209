"""Where in the database a text stands: every text, JSON and binary column of every table, by the registry of models, so
that a new table cannot be forgotten."""

from __future__ import annotations

import json
import unicodedata
from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from typing import Any

from django.apps import apps
from django.db import models
from django.db.models import Q, TextField
from django.db.models.functions import Cast

from database.columns import ExactCharField, ExactTextField, NodeIdField
from records.models import IdempotencyKey, Record

ROWS_A_QUERY = 200
SHORTEST = 4  # characters: what is shorter stands everywhere


@dataclass(frozen=True, slots=True)
class Place:
    """One cell that holds it. `node_id` where the row belongs to a record."""

    table: str
    column: str
    key: str
    node_id: str = ""

    def __str__(self) -> str:
        of = f" of {self.node_id}" if self.node_id else ""
        return f"{self.table}.{self.column}, row {self.key}{of}"


def text_columns() -> Iterator[tuple[type[models.Model], models.Field[Any, Any]]]:
    """(model, column) of every column that can hold a text, also those of Django's and other libraries' tables."""
    for model in apps.get_models(include_auto_created=True):
        if not model._meta.managed or model._meta.proxy:
            continue
        for column in model._meta.local_concrete_fields:
            if isinstance(
                column, models.CharField | models.TextField | models.JSONField | models.BinaryField
            ):
                yield model, column


def rows_holding(
    model: type[models.Model], column: models.Field[Any, Any], texts: Sequence[str], scope: Q | None = None
) -> Iterator[tuple[Any, Any]]:
    """(key, value) of the rows (of a scope) whose column holds one of the texts: exactly, or as JSON writes it."""
    if isinstance(column, models.BinaryField):
        yield from _binary(model, column, texts)
        return
    wanted = Q()
    for form in {form for text in texts for form in forms_of(text)}:
        wanted |= Q(said__contains=form)
    rows = model._default_manager.filter(scope or Q()).order_by("pk")
    rows = rows.annotate(said=Cast(column.attname, TextField())).filter(wanted)
    after: Any = None
    while True:  # by keys, since a driver may hold a whole answer in memory
        page = list(
            (rows if after is None else rows.filter(pk__gt=after)).values_list("pk", column.attname)[
                :ROWS_A_QUERY
            ]
        )
        for key, value in page:
            if holds(value, texts):
                yield key, value
        if len(page) < ROWS_A_QUERY:
            return
        after = page[-1][0]


def forms_of(text: str) -> set[str]:
    """A text as it may stand in a column: as it is, inside JSON, inside JSON that is kept as a text in JSON."""
    forms = {text}
    for ascii_only in (True, False):
        once = json.dumps(text, ensure_ascii=ascii_only)[1:-1]
        forms |= {once, json.dumps(once, ensure_ascii=ascii_only)[1:-1]}
    return forms


def holds(value: Any, texts: Sequence[str]) -> bool:
    """True when any string in the value holds one of the texts; JSON kept as a text is looked into as well."""
    if isinstance(value, str):
        return any(form in value for text in texts for form in forms_of(text))
    if isinstance(value, dict):
        return any(holds(key, texts) or holds(inner, texts) for key, inner in value.items())
    if isinstance(value, list | tuple):
        return any(holds(inner, texts) for inner in value)
    return False


def _binary(
    model: type[models.Model], column: models.Field[Any, Any], texts: Sequence[str]
) -> Iterator[tuple[Any, Any]]:
    rows = model._default_manager.order_by("pk").values_list("pk", column.attname)
    wanted = [text.encode("utf-8", "surrogatepass") for text in texts]
    for key, value in rows.iterator(chunk_size=ROWS_A_QUERY):
        if value is not None and any(text in bytes(value) for text in wanted):
            yield key, bytes(value)


def places_of(texts: Sequence[str]) -> Iterator[Place]:
    """Every cell of the database that holds one of the texts."""
    for model, column in text_columns():
        for key, _value in rows_holding(model, column, texts):
            yield Place(model._meta.db_table, column.attname, str(key), node_of(model, key))


def node_of(model: type[models.Model], key: Any) -> str:
    """The record that a row belongs to, or the first of two; empty where it belongs to none."""
    if prefix := getattr(model, "prefix", ""):
        return f"{prefix}_{key}"
    named = {column.name for column in model._meta.fields}
    for name in ("node_id", "source", "first"):
        if name in named:
            return str(model._default_manager.filter(pk=key).values_list(name, flat=True).first() or "")
    return ""


def searchable(texts: Sequence[str]) -> list[str]:
    """Without blanks, line ends as they are; raises ValueError for one too short to tell anything."""
    cleaned = [text for text in (one.strip("\r\n") for one in texts) if text.strip()]
    short = [text for text in cleaned if len(text.strip()) < SHORTEST]
    if short or not cleaned:
        raise ValueError(f"Give texts of at least {SHORTEST} characters.")
    return list(dict.fromkeys([*cleaned, *(unicodedata.normalize("NFC", text) for text in cleaned)]))


def project_scope(model: type[models.Model], project_id: int | None) -> Q | None:
    """Which rows of a table are a project's: by its own column, or by the record that they belong to. None: it has no
    project."""
    names = {column.attname for column in model._meta.concrete_fields}
    if "project_id" in names:
        return Q(project_id=project_id)
    for column in model._meta.concrete_fields:
        other = column.related_model
        if isinstance(other, type) and issubclass(other, Record):
            return Q(**{f"{column.name}__project_id": project_id})
    return Q() if model is IdempotencyKey else None


def is_written(column: models.Field[Any, Any]) -> bool:
    """False for keys, digests, enumerations: what no writer puts words into."""
    if column.primary_key or column.choices or isinstance(column, NodeIdField | models.BinaryField):
        return False
    return not isinstance(column, ExactCharField) or isinstance(column, ExactTextField)


def project_columns(project_id: int | None) -> Iterator[tuple[type[models.Model], models.Field[Any, Any], Q]]:
    """(model, column, its rows) of everything that is written about the records of a project."""
    for model, column in text_columns():
        scope = project_scope(model, project_id)
        if scope is not None and is_written(column):
            yield model, column, scope
