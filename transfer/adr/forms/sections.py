"""Fields that are sections: `## Status`, `## Date`, `## Tags`, `## Authors`, also with the value in the heading."""

from __future__ import annotations

import re

from transfer.adr.document import Document, Section
from transfer.adr.forms.field import WrittenField
from transfer.adr.vocabulary import role_of

_IN_HEADING = re.compile(r"^\W{0,6}([\w ]{2,30}?)\W{0,3}(?:[:：]|\s[-–—])\s*(\S.*)$")
FIELD_LIMIT = 50
_NAMES = {"status": "status", "date": "date", "tags": "tags"}


def read(document: Document) -> list[WrittenField]:
    """The text of each such section; the first one filled counts."""
    found: list[WrittenField] = []
    for section in document.sections:
        if len(found) >= FIELD_LIMIT:
            break
        name, value = _field(document, section)
        if name is not None:
            found.append(WrittenField(name, section.heading, value, "section", section.first))
    return found


def _field(document: Document, section: Section) -> tuple[str | None, str]:
    role = role_of(section.heading)
    if role in _NAMES:
        inline = _IN_HEADING.match(section.heading)
        if inline and role_of(inline.group(1)) == role:
            return _NAMES[role], inline.group(2) + "\n" + document.visible_text(section)
        return _NAMES[role], document.visible_text(section)
    inline = _IN_HEADING.match(section.heading[:200])
    if inline and section.level > 1 and role_of(inline.group(1)) in _NAMES:
        return _NAMES[str(role_of(inline.group(1)))], inline.group(2) + "\n" + document.visible_text(section)
    if role == "people":
        name = "deciders" if re.search("decid|decision|决策", section.heading.casefold()) else "authors"
        return (
            (None, "") if "review" in section.heading.casefold() else (name, document.visible_text(section))
        )
    return None, ""
