"""The forms metadata is written in; a new form is a module with a `read` and a line in FORMS."""

from __future__ import annotations

from transfer.adr.document import Document
from transfer.adr.forms import front_matter, lines, sections, tables
from transfer.adr.forms.field import Form, WrittenField

# In the order they are believed: the first filled one gives the value.
FORMS: tuple[tuple[str, Form], ...] = (
    ("front matter", front_matter.read),
    ("table", tables.read),
    ("line", lines.read),
    ("section", sections.read),
)


def written_fields(document: Document) -> list[WrittenField]:
    """Every metadata field of the document, the most trusted form first."""
    return [found for _, read in FORMS for found in read(document)]


__all__ = ["FORMS", "Form", "WrittenField", "written_fields"]
