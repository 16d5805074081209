"""Decision logs: one file with many decisions, each under a heading of its own."""

from __future__ import annotations

import re

from transfer.adr.document import Document, Section
from transfer.adr.forms import front_matter, lines, tables
from transfer.adr.forms.lines import labelled
from transfer.adr.inline import plain
from transfer.adr.statuses import read_status
from transfer.adr.titles import clean_title, is_generic
from transfer.adr.vocabulary import CORE_ROLES, KIND_ACRONYMS, field_of, role_of

_KIND_NUMBER = re.compile(
    rf"^(?:[A-Za-z]{{1,14}}-){{0,3}}(?:{'|'.join(map(re.escape, KIND_ACRONYMS))}|(?:architectur(?:e|al) )?decision(?: record)?|决策|决定|決定|entscheidung|decisión|decisão|décision)"
    rf"(?:-[A-Za-z]{{1,14}}){{0,2}}[\s_#.№-]{{0,3}}[0-9]{{1,6}}\b",
    re.IGNORECASE,
)
SECTION_LIMIT = 4000
# A status before the first part is the whole file's: its numbered sub-decisions are parts of one record.
_OF_THE_FILE = (front_matter.read, tables.read, lines.read)


def decisions_in(document: Document) -> list[Section]:
    """The sections that are each a decision; empty where the file is one record."""
    if len(document.sections) > SECTION_LIMIT:
        return []
    by_level: dict[int, list[Section]] = {}
    one_record = any(
        f.name == "status" and read_status(f.value).status for form in _OF_THE_FILE for f in form(document)
    )
    for section in document.sections:
        by_level.setdefault(section.level, []).append(section)
    for level in sorted(by_level):
        group = by_level[level]
        numbered = [s for s in group if _KIND_NUMBER.match(plain(s.heading[:300]))]
        if (
            len(numbered) >= 2
            and not (one_record and level > 2)
            and sum(_is_decision(document, s) for s in numbered) * 2 >= len(numbered)
        ):
            return numbered
        if one_record or (level == 1 and len(group) < 2):
            continue
        candidates = [
            s for s in group if role_of(s.heading) is None and not is_generic(clean_title(s.heading).text)
        ]
        decided = [s for s in candidates if _is_decision(document, s, strict=True)]
        if len(decided) >= 2 and len(decided) * 2 > len(candidates) and not _has_own_parts(document, level):
            return decided
    return []


def _has_own_parts(document: Document, level: int) -> bool:
    """Whether the file itself has a status or decision section above or beside the candidates."""
    return any(
        s.level <= level and role_of(s.heading) in {"status", "decision", "consequences"}
        for s in document.sections
    )


def _is_decision(document: Document, section: Section, *, strict: bool = False) -> bool:
    seen: set[str] = set()
    for number in range(section.start, min(section.last, section.start + 400)):
        line = document.visible[number][:400]
        if not line.strip():
            continue
        if line.lstrip().startswith("|"):
            cells = [cell.strip() for cell in line.strip().strip("|").split("|")]
            pair: tuple[str, str] | None = (cells[0], "") if cells else None
        else:
            pair = labelled(line)
        if pair:
            seen.update(filter(None, (field_of(pair[0]), role_of(pair[0]))))
        elif line.lstrip().startswith("**"):
            seen.add(role_of(line.strip().strip("*: ")) or "")
    for sub in document.sections_between(section.start, section.last)[:400]:
        seen.add(role_of(sub.heading) or "")
    core = seen & CORE_ROLES
    if strict:
        return (
            "status" in seen and bool(core - {"status"} or {"date", "deciders", "decided"} & seen)
        ) or len(core) >= 3
    return bool(core or "date" in seen) or any(
        document.lines[n].strip() for n in range(section.start, section.end)
    )


def anchor_of(heading: str, taken: dict[str, int]) -> str:
    """The anchor a forge gives a heading; a repeated one gets a number."""
    text = plain(heading[:300]).casefold()
    slug = re.sub(r"\s", "-", re.sub(r"[^\w\- ]+", "", text)) or "section"
    count = taken.get(slug, 0)
    taken[slug] = count + 1
    return slug if count == 0 else f"{slug}-{count}"
