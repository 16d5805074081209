"""Headings of AsciiDoc: `= Title`, `== Section`; document attributes read as `:name: value` lines."""

from __future__ import annotations

import re

from transfer.adr.markup.outline import Heading

_HEADING = re.compile(r"^(={1,6}|#{1,6})[ \t]+(\S.{0,999})$")
_BLOCK = re.compile(r"^(-{4,}|\.{4,}|\+{4,}|/{4,}|`{3,})[^\s]*\s*$")


def outline(lines: list[str], first: int) -> tuple[list[str], list[Heading]]:
    """Section titles outside listing, literal and comment blocks."""
    visible: list[str] = []
    headings: list[Heading] = []
    block = ""
    for number, line in enumerate(lines):
        mark = _BLOCK.match(line)
        if number < first or block or mark or line.startswith("//"):
            if mark and not block and number >= first:
                block = mark.group(1)
            elif mark and mark.group(1) == block:
                block = ""
            visible.append("")
            continue
        visible.append(line)
        if heading := _HEADING.match(line[:1010]):
            headings.append(Heading(heading.group(2).strip(" ="), len(heading.group(1)), number, number))
    return visible, headings
