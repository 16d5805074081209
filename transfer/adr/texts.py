"""A record's parts (context, decision, rationale, alternatives, consequences), by the headings they stand under.

What the decision and its alternatives leave of the text is `remaining`: in the document's order, under its own
headings, without title and metadata.
"""

from __future__ import annotations

import re

from transfer.adr.document import Document, Section
from transfer.adr.forms.lines import labelled
from transfer.adr.vocabulary import field_of, role_of

PARTS = ("context", "decision", "rationale", "alternatives", "consequences")
APART = ("decision", "alternatives")
METADATA = ("status", "date", "tags", "people", "changelog")
STATUS_LENGTH = 200  # a longer one argues
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
        if own in {*METADATA, "meta"} and inherited in PARTS:
            own = None
        role = own or inherited
        roles.append(role)
        text = document.own_text(section)
        if role not in PARTS:
            if role in (None, "meta"):
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
    parts = {part: "\n\n".join(blocks) for part, blocks in collected.items()}
    return {**parts, "remaining": _remaining(document, roles, APART if parts["decision"] else ())}


def _remaining(document: Document, roles: list[str | None], apart: tuple[str, ...]) -> str:
    blocks: list[str] = []
    if not document.sections or document.sections[0].first > document.first:
        end = document.sections[0].first if document.sections else len(document.lines)
        blocks.append(_unlabelled(document, document.first, end, apart))
    for index, (section, role) in enumerate(zip(document.sections, roles, strict=True)):
        if role in apart or (role in METADATA and not _argues(role, document, section)):
            continue
        text = (
            _unlabelled(document, section.start, section.end, apart)
            if role in (None, "meta")
            else document.own_text(section).strip()
        )
        titled = index == 0 and section.level == 1
        # A heading whose sub-sections all went elsewhere would stand over nothing.
        if not titled and (text or any(_stays(roles[i], apart) for i in _below(document, index))):
            text = f"{'#' * min(section.level, 6)} {section.heading}\n\n{text}".strip()
        blocks.append(text)
    return "\n\n".join(block for block in blocks if block)


def _argues(role: str, document: Document, section: Section) -> bool:
    return role == "status" and len(document.visible_text(section).strip()) > STATUS_LENGTH


def _stays(role: str | None, apart: tuple[str, ...]) -> bool:
    return role not in apart and role not in METADATA


def _below(document: Document, index: int) -> range:
    end = index + 1
    while end < len(document.sections) and document.sections[end].first < document.sections[index].last:
        end += 1
    return range(index + 1, end)


def _unlabelled(document: Document, first: int, last: int, apart: tuple[str, ...]) -> str:
    """The lines without the parts kept apart and without metadata labels and the lines right below those."""
    kept: list[str] = []
    role: str | None = None
    dropping = False
    for number in range(first, last):
        line, visible = document.lines[number], document.visible[number]
        opened, _rest = _opens(visible)
        role = opened or role
        pair = labelled(visible) if number < document.preamble_end and ":" in visible[:60] else None
        if opened in {*METADATA, "meta"} or (pair and opened not in PARTS and field_of(pair[0])):
            role, dropping = None, True
        elif not line.strip() or opened:
            dropping = False
        if not dropping and role not in apart:
            kept.append(line)
    return "\n".join(kept).strip()


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
