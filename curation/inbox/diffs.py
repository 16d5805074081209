"""Two records side by side, word by word."""

from __future__ import annotations

from typing import Any

from django.utils.safestring import SafeString

from records.hygiene.kept import text_columns
from records.images import image_of
from records.pages.history import diff_of

NOT_COMPARED = {"tags", "origin", "source_text"}


def diff_rows(before: Any, after: Any) -> list[tuple[str, SafeString]]:
    """(column in words, what differs in it) of the texts of two records of one kind; equal columns are left out."""
    images = image_of(before), image_of(after)
    columns = {column.name: column for column in type(after)._meta.concrete_fields}
    return [
        (str(columns[name].verbose_name).capitalize(), diff_of(images[0].get(name), images[1].get(name)))
        for name in text_columns(type(after))
        if name not in NOT_COMPARED and images[0].get(name) != images[1].get(name)
    ]
