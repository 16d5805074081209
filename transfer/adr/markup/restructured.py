"""Headings of reStructuredText: the adornment that comes first is the highest level."""

from __future__ import annotations

import re

from transfer.adr.markup.outline import Heading

_ADORNMENT = re.compile(r"^([=\-`:.'\"~^_*+#<>])\1{2,}\s*$")
_COMMENT = re.compile(r"^\.\.\s+(?![\w-]+::|_|\[)|^\.\.\s*$")
_CODE = re.compile(
    r"^\s*\.\. (?:code|code-block|sourcecode|literalinclude|image|figure|raw|graphviz|uml|mermaid)::|::\s*$"
)


def outline(lines: list[str], first: int) -> tuple[list[str], list[Heading]]:
    """Over- and underlined titles; comments and literal blocks are blanked."""
    visible = _mask(lines, first)
    headings: list[Heading] = []
    levels: dict[tuple[str, bool], int] = {}
    for number in range(first + 1, len(visible)):
        under = _ADORNMENT.match(visible[number])
        title = visible[number - 1]
        if not under or not title.strip() or _ADORNMENT.match(title) or len(title) > 400:
            continue
        if title.lstrip()[:1] in {"|", "+"} or len(visible[number].rstrip()) + 2 < len(title.strip()) / 2:
            continue
        before = visible[number - 2] if number - 2 >= first else ""
        over = bool(_ADORNMENT.match(before)) and before.strip()[0] == under.group(1)
        if not over and (title[:1] in {" ", "\t"} or (before.strip() and not _ADORNMENT.match(before))):
            continue
        level = levels.setdefault((under.group(1), over), len(levels) + 1)
        top = number - 2 if over else number - 1
        if headings and headings[-1].last >= top:
            continue
        headings.append(Heading(title.strip(), level, top, number))
    return visible, headings


def _mask(lines: list[str], first: int) -> list[str]:
    visible: list[str] = []
    block: int | None = None  # indentation of the line that opened a block to leave out
    for number, line in enumerate(lines):
        if number < first:
            visible.append("")
            continue
        indent = len(line) - len(line.lstrip())
        if block is not None:
            if not line.strip() or indent > block:
                visible.append("")
                continue
            block = None
        if _COMMENT.match(line):
            block = indent
            visible.append("")
            continue
        if _CODE.search(line[-2000:] if len(line) > 2000 else line):
            block = indent
        visible.append(line)
    return visible
