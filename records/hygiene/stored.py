"""Secrets that are stored already: written by plain SQL, brought in whole, or from before there was a form for them."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass
from typing import Any

from django.db.models import Q

from records.everywhere import ROWS_A_QUERY, Place, node_of, project_columns
from records.hygiene.secrets import secrets_of
from records.models import IdempotencyKey
from records.text_tables import derived_tables


@dataclass(frozen=True, slots=True)
class StoredSecret:
    """One secret in one cell. `text` is the secret itself: not for a log or a page."""

    kind: str
    place: Place
    text: str


def stored_secrets(project_id: int | None) -> Iterator[StoredSecret]:
    """Of everything that is written about the records of a project (None: those of none), cell by cell."""
    derived = derived_tables()
    for model, column, scope in project_columns(project_id):
        if model in derived:
            continue
        if model is IdempotencyKey:  # of no project: by the token that got the answer
            scope = Q(token__projects=project_id)
        rows: Any = model._default_manager.filter(scope).exclude(**{column.attname: None}).order_by("pk")
        after: Any = None
        while page := list(
            (rows if after is None else rows.filter(pk__gt=after)).values_list("pk", column.attname)[
                :ROWS_A_QUERY
            ]
        ):
            after = page[-1][0]
            for key, value in page:
                for kind, text in dict.fromkeys(secrets_of(value)):
                    place = Place(model._meta.db_table, column.attname, str(key), node_of(model, key))
                    yield StoredSecret(kind, place, text)
