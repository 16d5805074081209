"""Where a list's words are looked up. `recall`, a floor above, keeps the index and registers it here."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import Any

from django.db.models import QuerySet

# (words, phrases) -> the node ids of texts that have all of them, as rows of one column `node_id`; None: no words.
Index = Callable[[str, Sequence[str]], QuerySet[Any] | None]

_index: list[Index] = []


def use(index: Index) -> None:
    _index[:] = [index]


def texts_with(words: str, phrases: Sequence[str] = ()) -> QuerySet[Any] | None:
    """Texts that have every word, in any of its forms, and every phrase; None where there is nothing to look up."""
    return _index[0](words, phrases) if _index else None
