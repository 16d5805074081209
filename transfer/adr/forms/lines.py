"""`Status: accepted` in every dress: plain, bullet, quote, bold label, reST field, AsciiDoc attribute."""

from __future__ import annotations

import re

from transfer.adr.document import Document
from transfer.adr.forms.field import WrittenField
from transfer.adr.forms.tables import metadata_ranges
from transfer.adr.vocabulary import field_of

_PREFIX = re.compile(r"^\s{0,12}(?:>\s{0,4}){0,4}(?:[-*+•]\s{1,4}|[0-9]{1,2}[.)]\s{1,3})?")
_LABELLED = re.compile(
    r"^(?P<open>\*{1,3}|_{1,3}|`|<(?:b|strong)>)?\s?(?P<label>[^\s*_`:：|<>][^*`:：|<>\n]{0,48}?)\s?"
    r"(?:(?P<inside>[:：])\s?(?:\*{1,3}|_{1,3}|`|</(?:b|strong)>)?|(?:\*{1,3}|_{1,3}|`|</(?:b|strong)>)\s?[:：])(?P<value>.*)$"
)
_SPACED = re.compile(
    r"^(?:\*{2}|__|<(?:b|strong)>)(?P<label>[^*_:<>\n]{2,40})(?:\*{2}|__|</(?:b|strong)>)\s*(?:[-–—=]\s+|\s)(?P<value>\S.*)$"
)
_REST_FIELD = re.compile(r"^:(?P<label>[A-Za-z][\w -]{0,40}):\s*(?P<value>.*)$")
_LABEL_ALONE = re.compile(r"^(?:\*{2}|__)(?P<label>[^*_\n]{2,40})(?:\*{2}|__)\s*$")
_BULLET = re.compile(r"^\s{0,12}(?:>\s{0,4})?[-*+•]\s+(?P<item>.*)$")


def labelled(line: str) -> tuple[str, str] | None:
    """Label and value of a line that is a label and a value, else None."""
    text = _PREFIX.sub("", line[:4000], count=1).strip()
    for pattern in (_REST_FIELD, _LABELLED, _SPACED):
        match = pattern.match(text)
        if match and not match.group("value").startswith("//"):
            value = re.sub(r"^(?:\*{1,3}|_{2})\s", "", match.group("value").strip())
            value = re.sub(r"(?<=[\s:])(?:\*{2}|__)$", "", value)
            return match.group("label").strip("*_ "), value.strip()
    return None


def read(document: Document) -> list[WrittenField]:
    """Labelled lines before the first part of the record; a label with nothing behind it takes the list below it."""
    found: list[WrittenField] = []
    for first, last in metadata_ranges(document):
        number = first
        while number < last:
            line = document.visible[number]
            number += 1
            if not line.strip() or line.lstrip(" >").startswith("|"):
                continue
            pair = labelled(line)
            if pair is None and (alone := _LABEL_ALONE.match(line.strip()[:100])):
                pair = alone.group("label"), ""
            name = field_of(pair[0]) if pair else None
            if pair is None or name is None or len(pair[0].split()) > 5:
                continue
            value = pair[1]
            if not value:
                value, number = _value_below(document, number, last)
            else:
                value, number = _continued(document, number, last, value)
            found.append(WrittenField(name, pair[0], value, "line", number - 1))
    return found


def _value_below(document: Document, number: int, last: int) -> tuple[str, int]:
    items: list[str] = []
    start = number
    for at in range(number, min(last, number + 30)):
        line = document.visible[at]
        if not line.strip():
            if items or at > start:
                break
            continue
        pair = labelled(line)
        if line.lstrip().startswith(("#", "|")) or (pair and field_of(pair[0])):
            break
        item = _BULLET.match(line)
        if item is None and items:
            break
        items.append(item.group("item") if item else line.strip())
        number = at + 1
        if item is None:
            break
    return "\n".join(items), number


def _continued(document: Document, number: int, last: int, value: str) -> tuple[str, int]:
    """A value that goes on in an indented line below (a wrapped bullet)."""
    while number < min(last, len(document.visible)):
        line = document.visible[number]
        if not line.startswith("  ") or not line.strip() or _BULLET.match(line) or labelled(line):
            break
        value = f"{value} {line.strip()}"[:4000]
        number += 1
    return value, number
