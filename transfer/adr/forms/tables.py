"""Metadata tables: label and value side by side, or a row of labels above a row of values; quoted or not."""

from __future__ import annotations

import re
from collections.abc import Iterator

from transfer.adr.document import Document
from transfer.adr.forms.field import WrittenField
from transfer.adr.vocabulary import field_of, role_of

_QUOTED = re.compile(r"^[\s>]{0,20}")
_RULE = re.compile(r"^[\s|:+=-]+$")
_HTML_ROW = re.compile(r"<tr[^<>]{0,200}>(.{0,4000}?)</tr>", re.IGNORECASE | re.DOTALL)
_HTML_CELL = re.compile(r"<t[dh][^<>]{0,200}>(.{0,2000}?)</t[dh]>", re.IGNORECASE | re.DOTALL)
_LIST_TABLE = re.compile(r"^\s*\.\. (?:list-table|csv-table)::")
_LIST_ROW = re.compile(r"^\s*(\*\s+-|-)\s+(.*)$")
ROW_LIMIT = 60
_ALSO_VALUES = frozenset(
    {None, "accepted_on", "decided", "created", "updated", "other", "supersedes", "amends"}
)


def read(document: Document) -> list[WrittenField]:
    """Fields of every table before the first part of the record, and of a table under a metadata heading."""
    found: list[WrittenField] = []
    for first, last in metadata_ranges(document):
        for rows in tables_between(document, first, last):
            found.extend(_across(rows) or _down(rows))
    return found


def metadata_ranges(document: Document) -> list[tuple[int, int]]:
    """Line ranges where metadata stands: the preamble, and sections headed "Metadata" and the like."""
    ranges = [(document.first, min(document.preamble_end, document.first + 400))]
    ranges += [
        (s.start, min(s.last, s.start + 200))
        for s in document.sections
        if role_of(s.heading) == "meta" and s.first >= ranges[0][1]
    ]
    return ranges


Row = tuple[int, list[str]]


def tables_between(document: Document, first: int, last: int) -> Iterator[list[Row]]:
    """Tables as lists of (line, cells); separator rows are left out."""
    rows: list[Row] = []
    for number in range(first, last):
        line = _QUOTED.sub("", document.visible[number][:20000]).rstrip()
        if line.startswith("|") or (rows and "|" in line):
            if not _RULE.match(line):
                rows.append((number, cells_of(line)))
        elif rows and not line.startswith("+-"):
            yield rows[:ROW_LIMIT]
            rows = []
    if rows:
        yield rows[:ROW_LIMIT]
    yield from _other_tables(document, first, last)


def cells_of(line: str) -> list[str]:
    """Cells of a `| a | b |` line; an escaped bar is text, a missing last bar is forgiven."""
    parts = [raw.replace("\\|", "|").strip() for raw in re.split(r"(?<!\\)\|", line.strip())]
    if parts and not parts[0]:
        parts = parts[1:]
    if parts and not parts[-1] and line.rstrip().endswith("|"):
        parts = parts[:-1]
    return parts


def _other_tables(document: Document, first: int, last: int) -> Iterator[list[Row]]:
    text = "\n".join(document.visible[first:last])
    if "<tr" in text.lower():
        rows = [
            (first, [c.strip() for c in _HTML_CELL.findall(row)]) for row in _HTML_ROW.findall(text[:40000])
        ]
        if rows:
            yield rows[:ROW_LIMIT]
    rows = []
    in_table = False
    for number in range(first, last):
        line = document.visible[number][:4000]
        if _LIST_TABLE.match(line):
            in_table, rows = True, []
        elif in_table and (match := _LIST_ROW.match(line)):
            if match.group(1).startswith("*"):
                rows.append((number, [match.group(2).strip()]))
            elif rows:
                rows[-1][1].append(match.group(2).strip())
        elif in_table and line.strip() and not line[:1].isspace():
            in_table = False
    if rows:
        yield rows[:ROW_LIMIT]


def _across(rows: list[Row]) -> list[WrittenField]:
    header = [field_of(cell) if cell else None for cell in rows[0][1]]
    known = [name for name in header if name is not None]
    # "Status | Accepted" has one label in its first row; a header of labels has two or more.
    if len(rows) < 2 or len(known) < 2 or all(name == "other" for name in known) or len(header) < 2:
        return []
    # "Accepted" in a cell below is a status; "Date" there is a label, and the table reads down.
    if any(field_of(row[0]) not in _ALSO_VALUES for _, row in rows[1:] if row):
        return []
    found: list[WrittenField] = []
    for line, row in rows[1:]:
        for name, label, value in zip(header, rows[0][1], row, strict=False):
            if name not in {None, "other"}:
                found.append(WrittenField(str(name), label, value, "table", line))
    if len(rows) > 2:  # a history: one row a state
        entries = [" ".join(row) for _, row in rows[1:]]
        found = [f for f in found if f.name not in {"status", "date"}]
        found.append(
            WrittenField(
                "status" if "status" in known else "changelog",
                "table",
                "\n".join(entries),
                "table",
                rows[1][0],
            )
        )
    return found


def _down(rows: list[Row]) -> list[WrittenField]:
    found: list[WrittenField] = []
    for line, row in rows:
        # Label and value may stand in pairs, `| Date | 2020-01-01 | Status | Accepted |`.
        for label, value in zip(row[0::2], row[1::2], strict=False):
            name = field_of(label)
            if name is not None:
                found.append(WrittenField(name, label, value, "table", line))
    return found
