"""What is left of a record after it was erased, found by the registry of models: every row of any table that belongs to
it and holds a text."""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any

from django.apps import apps
from django.db import models
from django.db.models import Q

from records import text_tables
from records.erased_traces import GONE, answers_about, facts_of, told_by_others, without_words_on
from records.erasing import erased_columns
from records.everywhere import Place, is_written
from records.kinds import Kind
from records.models import Erasure, IdempotencyKey, ProjectionMark, Record, Revision

NAMING = ("node_id", "source", "target", "first", "second")
# Who wrote it, who read it, and where: provenance, no text.
WHO = {"source_name", "source_session", "actor_name", "agent_name", "session", "run"}


def left_of(kind: Kind, key: Any) -> Iterator[Place]:
    """Every cell that holds text of this record: none, where it was erased."""
    node_id = kind.node_id(key)
    record = kind.model.objects.filter(pk=key).first()
    if record is not None:
        yield from _left_in_row(record)
    yield from _left_in_history(node_id)
    derived = text_tables.derived_tables()
    for model in apps.get_models():
        if (
            model._meta.managed
            and model not in (Revision, Erasure, IdempotencyKey)
            and not issubclass(model, Record)
        ):
            yield from _left_beside(model, kind, key, whole=model in derived)
    for pk in answers_about(node_id):
        if IdempotencyKey.objects.filter(pk=pk).exclude(status=GONE).exists():
            yield Place(IdempotencyKey._meta.db_table, "answer", str(pk), node_id)


def is_waiting(node_id: str) -> bool:
    """Whether the worker has yet to take its vectors away and to leave the tombstone in the graph."""
    return ProjectionMark.objects.filter(node_id=node_id, next_try_at__isnull=False, dead=False).exists()


def _left_in_row(record: Any) -> Iterator[Place]:
    for name, value in erased_columns(type(record)).items():
        held = getattr(record, name)
        is_named = isinstance(held, str) and held.startswith("[erased ")  # where names must differ
        if held != value and not is_named:
            yield Place(record._meta.db_table, name, str(record.pk), record.node_id)


def _left_in_history(node_id: str) -> Iterator[Place]:
    newest = Revision.objects.filter(node_id=node_id, verb="erase").order_by("-id").first()
    own = Revision.objects.filter(node_id=node_id)
    if newest is not None:  # what was written after it, the row itself tells of
        own = own.filter(pk__lt=newest.pk)
    for row in own.iterator(chunk_size=200):
        if row.after is not None and row.verb != "erase":
            yield Place("revisions", "after", str(row.pk), node_id)
        if row.reason and row.verb != "erase":
            yield Place("revisions", "reason", str(row.pk), node_id)
        if row.detail is not None and facts_of(row.detail) != row.detail:
            yield Place("revisions", "detail", str(row.pk), node_id)
    for row in told_by_others([node_id]):
        if newest is not None and row.pk > newest.pk:
            continue
        if without_words_on([node_id], row.detail) != row.detail:
            yield Place("revisions", "detail", str(row.pk), row.node_id)


def _left_beside(model: type[models.Model], kind: Kind, key: Any, *, whole: bool) -> Iterator[Place]:
    columns = {column.name: column for column in model._meta.concrete_fields}
    belongs = Q()
    for name in NAMING:
        if name in columns:
            belongs |= Q(**{name: kind.node_id(key)})
    for column in columns.values():
        if column.related_model is kind.model:
            belongs |= Q(**{column.name: key})
    if not belongs:
        return
    for row in model._default_manager.filter(belongs).iterator(chunk_size=200):
        if whole:
            yield Place(model._meta.db_table, "*", str(row.pk), kind.node_id(key))
            continue
        for name, column in columns.items():
            if is_written(column) and name not in WHO and _is_text(getattr(row, column.attname)):
                yield Place(model._meta.db_table, name, str(row.pk), kind.node_id(key))


def _is_text(value: Any) -> bool:
    """Codes, numbers and ids in JSON of our own are no text of the record."""
    if isinstance(value, str):
        return bool(value)
    if isinstance(value, list):
        return any(_is_text(inner) and not isinstance(inner, dict) for inner in value)
    return False
