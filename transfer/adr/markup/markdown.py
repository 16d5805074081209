"""Headings of Markdown, aware of fenced code and HTML comments."""

from __future__ import annotations

import re

from transfer.adr.markup.outline import Heading

_FENCE = re.compile(r"^(?:[ ]{0,3}|\s*(?:[-*+]|[0-9]{1,9}[.)])\s+|[ \t>]{0,12})(`{3,}|~{3,})(.*)$")
_ATX = re.compile(r"^ {0,3}(#{1,6})(?:[ \t]+|(?=[^\s#!\[\]0-9{]))(.*)$")
_SETEXT = re.compile(r"^ {0,3}(=+|-{2,})[ \t]*$")
_NOT_A_PARAGRAPH = re.compile(
    r"^(?:\s*[-*+>|]|\s*[0-9]{1,9}[.)]\s|\s*#|\s{4,}|\s*$|\s*<|\s*\[[^\]]{1,80}\]:)"
)
_CLOSING_HASHES = re.compile(r"(?:^|[ \t]+)#+[ \t]*$")
_ATTRIBUTES = re.compile(r"[ \t]*\{(?:#|:|\.)[^{}\n]{0,80}\}[ \t]*$")
_HTML_HEADING = re.compile(r"^\s*<h([1-6])[^<>]{0,200}>(.{1,400}?)</h\1>\s*$", re.IGNORECASE)


def mask(lines: list[str], first: int) -> list[str]:
    """The lines with fenced code and HTML comments blanked, and nothing moved."""
    visible: list[str] = []
    fence = ""
    in_comment = False
    for number, line in enumerate(lines):
        if number < first:
            visible.append("")
            continue
        if fence:
            close = line.strip(" \t>")
            if close.startswith(fence) and not close.strip(fence[0]):
                fence = ""
            visible.append("")
            continue
        if not in_comment:
            match = _FENCE.match(line) if ("```" in line or "~~~" in line) else None
            if match and not (match.group(1)[0] == "`" and "`" in match.group(2)):
                fence = match.group(1)
                visible.append("")
                continue
        line, in_comment = _without_comments(line, in_comment)
        visible.append(line)
    return visible


def _without_comments(line: str, in_comment: bool) -> tuple[str, bool]:
    if not in_comment and "<!--" not in line:
        return line, False
    kept: list[str] = []
    position = 0
    while position < len(line):
        if in_comment:
            end = line.find("-->", position)
            if end < 0:
                break
            position, in_comment = end + 3, False
        else:
            start = line.find("<!--", position)
            kept.append(line[position : start if start >= 0 else len(line)])
            if start < 0:
                break
            position, in_comment = start + 4, True
    return "".join(kept), in_comment


def outline(lines: list[str], first: int) -> tuple[list[str], list[Heading]]:
    """ATX (`## x`), underlined and single-line HTML headings outside code and comments."""
    visible = mask(lines, first)
    if first < len(lines) and not any(line.strip() for line in visible):
        # An unclosed comment or fence swallowed the whole file: better its text than nothing.
        visible = ["" if number < first else line for number, line in enumerate(lines)]
    headings: list[Heading] = []
    for number in range(first, len(visible)):
        line = visible[number]
        if not line.strip():
            continue
        if atx := _ATX.match(line[:1000]):
            tight = line.lstrip(" ")[len(atx.group(1)) : len(atx.group(1)) + 1] not in {" ", "\t", ""}
            if tight and len(atx.group(1)) == 1 and headings:
                continue  # a #tag
            text = _ATTRIBUTES.sub("", _CLOSING_HASHES.sub("", atx.group(2))).strip()
            headings.append(Heading(text, len(atx.group(1)), number, number))
        elif (
            (under := _SETEXT.match(line))
            and number > first
            and not _NOT_A_PARAGRAPH.match(visible[number - 1])
        ):
            alone = (
                number - 2 < first
                or not visible[number - 2].strip()
                or (headings and headings[-1].last == number - 2)
            )
            if alone and len(visible[number - 1]) < 400:
                level = 1 if under.group(1)[0] == "=" else 2
                headings.append(Heading(visible[number - 1].strip(), level, number - 1, number))
        elif line.lstrip()[:2].lower() == "<h" and (html := _HTML_HEADING.match(line[:1000])):
            headings.append(
                Heading(
                    re.sub(r"<[^<>]{0,200}>", "", html.group(2)).strip(), int(html.group(1)), number, number
                )
            )
    return visible, headings
