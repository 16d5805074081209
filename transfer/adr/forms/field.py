"""One metadata field as a form found it."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass

from transfer.adr.document import Document


@dataclass(frozen=True)
class WrittenField:
    """The field (`status`, `date`, …), its label and value as written, the form and the line it stands in."""

    name: str
    label: str
    value: str
    form: str
    line: int


Form = Callable[[Document], list[WrittenField]]
