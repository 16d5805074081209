"""Fields of YAML or TOML front matter (MADR 3 and 4, Jekyll, Docusaurus, Hugo, Backstage)."""

from __future__ import annotations

from transfer.adr.document import Document
from transfer.adr.forms.field import WrittenField
from transfer.adr.vocabulary import field_of


def read(document: Document) -> list[WrittenField]:
    """Known keys with their values; a list becomes its items, one a line."""
    found: list[WrittenField] = []
    for key, value in document.front_matter.fields.items():
        name = field_of(key)
        if name is not None:
            text = value if isinstance(value, str) else "\n".join(value)
            found.append(WrittenField(name, key, text, "front matter", 0))
    return found
