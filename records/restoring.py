"""An old version brought back: as a new one, never by rewriting the history."""

from __future__ import annotations

from typing import Any

from django.db import models
from django.utils.translation import gettext as _

from records import verbs
from records.actor import Actor
from records.changes import Outcome
from records.errors import InvalidInput, Refused
from records.kinds import Kind, kind_of
from records.queries import revision_of_version

MOST_VERSION = 2**31 - 1
RESTORE_VERSION = "restore_version"


def restore_version(
    record: Any, version: int, *, actor: Actor, reason: str = "", expected_version: int | None = None
) -> Outcome:
    """Give the record the words of one of its versions: the columns that people edit. Its review, its merges and its
    votes stay as they are. Raises InvalidInput (no such version), Refused (its text is not kept), Conflict."""
    kind = kind_of(record)
    row = revision_of_version(record, version) if 0 < version <= MOST_VERSION else None
    if row is None:
        raise InvalidInput({"version": [_("There is no version %s of it.") % version]}, record.node_id)
    if row.after is None:
        raise Refused(_("What it said then is not kept any more."), record.node_id)
    return verbs.update(
        [record], editable_values(kind, row.after), actor=actor, verb=RESTORE_VERSION, reason=reason,
        expected_version=expected_version, detail=lambda _record: {"restored": version},
    )  # fmt: skip


def editable_values(kind: Kind, image: dict[str, Any]) -> dict[str, Any]:
    """The editable columns out of an image, as the model has them; a column that is younger than the image is left out."""
    values = {}
    for name in kind.editable:
        column = kind.model._meta.get_field(name)
        assert isinstance(column, models.Field)
        if name in image:
            values[name] = column.to_python(image[name])
    return values
