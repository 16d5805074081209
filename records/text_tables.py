"""Where else the text of a record lies, beside its own row: each app names its tables when Django is ready.

Erasing goes by these. A table that holds text and is not named fails tests/records/test_erasing.py.
"""

from __future__ import annotations

from collections.abc import Callable, Collection, Mapping, Sequence
from dataclasses import dataclass
from typing import Any

from django.db.models import Model, Q

from records.guard import writing


@dataclass(frozen=True, kw_only=True)
class TextTable:
    """`rows_of` says which rows belong to records of one kind (None: none can). They are deleted, or, with `emptied`,
    get these values and stay. `afterwards` is called once the rows are done. `is_workers`: the worker makes the rows of the
    record's text."""

    model: type[Model]
    rows_of: Callable[[Sequence[Any]], Q | None]
    emptied: Mapping[str, Any] | None = None
    afterwards: Callable[[], None] | None = None
    is_workers: bool = False


_tables: list[TextTable] = []
_companions: list[Callable[[Sequence[Any]], list[Any]]] = []
_hot: list[type[Model]] = []


def add_text_table(table: TextTable) -> None:
    if table.model not in {known.model for known in _tables}:
        _tables.append(table)


def add_companions(of: Callable[[Sequence[Any]], list[Any]]) -> None:
    """`of` gives the records that say what these say, and are erased with them (the memories of a run)."""
    if of not in _companions:
        _companions.append(of)


def add_hot_state(model: type[Model]) -> None:
    """Rows of a `project` that are copies for a while, of whatever agents put there (their cache)."""
    if model not in _hot:
        _hot.append(model)


def empty_hot_state(project_ids: Collection[int]) -> None:
    for model in _hot:
        model._default_manager.filter(project_id__in=project_ids).delete()


def derived_tables() -> set[type[Model]]:
    """Tables whose rows are made from a record's text alone."""
    return {table.model for table in _tables if table.emptied is None}


def forget_derived(records: Sequence[Any]) -> None:
    """What the worker makes of these texts is taken away; it makes it anew of what they say now."""
    for table in _tables:
        belonging = table.rows_of(records) if table.is_workers else None
        if belonging is not None:
            table.model._default_manager.filter(belonging).delete()
            if table.afterwards is not None:
                table.afterwards()


def text_tables() -> list[TextTable]:
    return list(_tables)


def companions_of(records: Sequence[Any]) -> list[Any]:
    return [record for of in _companions for record in of(records)]


def by_node(*columns: str) -> Callable[[Sequence[Any]], Q]:
    """Rows that name one of the records in one of these columns."""

    def rows_of(records: Sequence[Any]) -> Q:
        node_ids = [record.node_id for record in records]
        found = Q()
        for column in columns:
            found |= Q(**{f"{column}__in": node_ids})
        return found

    return rows_of


def by_key(column: str, model: type[Model]) -> Callable[[Sequence[Any]], Q | None]:
    """Rows that lead to one of the records by this foreign key."""

    def rows_of(records: Sequence[Any]) -> Q | None:
        keys = [record.pk for record in records if isinstance(record, model)]
        return Q(**{f"{column}__in": keys}) if keys else None

    return rows_of


def clear(records: Sequence[Any]) -> None:
    """Take the text of these records out of every table named here. Call inside the transaction of the erasing."""
    for table in _tables:
        belonging = table.rows_of(records)
        if belonging is None:
            continue
        rows = table.model._default_manager.filter(belonging)
        with writing():
            if table.emptied is None:
                rows.delete()
            else:
                rows.update(**table.emptied)
        if table.afterwards is not None:
            table.afterwards()
