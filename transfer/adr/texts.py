"""A record's parts (context, decision, rationale, alternatives, consequences), by the headings they stand under."""

from __future__ import annotations

import re

from transfer.adr.document import Document
from transfer.adr.forms.lines import labelled
from transfer.adr.vocabulary import role_of

PARTS = ("context", "decision", "rationale", "alternatives", "consequences")
_BOLD_LINE = re.compile(r"^\s{0,3}(?:\*\*|__)([^*_\n]{2,60})(?:\*\*|__)\s*[:：]?\s*$")


def parts_of(document: Document) -> dict[str, str]:
    """The text of each part; a sub-section goes with its parent unless its own heading names another part."""
    roles: list[str | None] = []
    collected: dict[str, list[str]] = {part: [] for part in PARTS}
    for index, section in enumerate(document.sections):
        own = (
            role_of(section.heading)
            if not (index == 0 and section.level == 1 and section.parent is None)
            else None
        )
        inherited = roles[section.parent] if section.parent is not None else None
        if own in {"status", "date"} and inherited in PARTS:
            own = None
        role = own or inherited
        roles.append(role)
        text = document.own_text(section)
        if role not in PARTS:
            if role is None:
                _labelled_parts(document, section.start, section.end, collected)
            continue
        headed = own is None or own == inherited
        block = (
            f"{'#' * min(section.level, 6)} {section.heading}\n\n{text}".strip() if headed else text.strip()
        )
        if block:
            collected[role].append(block)
    if not document.sections or document.sections[0].first > document.first:
        end = document.sections[0].first if document.sections else len(document.lines)
        _labelled_parts(document, document.first, end, collected)
    return {part: "\n\n".join(blocks) for part, blocks in collected.items()}


def _labelled_parts(document: Document, first: int, last: int, collected: dict[str, list[str]]) -> None:
    """`**Context**` alone on a line, or `- **Decision**: text`, opens a part where headings do not."""
    role: str | None = None
    block: list[str] = []
    for number in range(first, last):
        visible = document.visible[number]
        opened, rest = _opens(visible)
        if opened is not None:
            if role in PARTS and "\n".join(block).strip():
                collected[role].append("\n".join(block).strip())
            role, block = opened, [rest] if rest else []
        else:
            block.append(document.lines[number])
    if role in PARTS and "\n".join(block).strip():
        collected[role].append("\n".join(block).strip())


def _opens(line: str) -> tuple[str | None, str]:
    if not line.strip() or len(line) > 20000:
        return None, ""
    if match := _BOLD_LINE.match(line):
        return role_of(match.group(1)), ""
    pair = (
        labelled(line)
        if ("**" in line[:80] or "__" in line[:80] or ":" in line[:40] or "：" in line[:40])
        else None
    )
    return (role_of(pair[0]), pair[1]) if pair else (None, "")
