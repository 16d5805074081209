"""Change logs: dated entries, and which of them first accepts the decision."""

from __future__ import annotations

import re
from dataclasses import dataclass

from transfer.adr.dates import FoundDate, find_dates
from transfer.adr.document import Document
from transfer.adr.inline import folded, plain
from transfer.adr.statuswords import ACCEPTED, find_status_words
from transfer.adr.vocabulary import role_of

_OPENING = re.compile(r"^\s*(?:>\s*)?(?:[-*+•|]|[0-9]{1,3}[.)])?\s*[*_`(\[|]{0,3}\s*$")
_TOP_ITEM = re.compile(r"^ {0,3}(?:>\s*)?(?:[-*+•|]|[0-9]{1,3}[.)])\s?")
_SIGNED = re.compile(r"[(（\[][^()（）\[\]]{0,120}[)）\]]|@[\w.-]+|\bby\s+\S+(?:\s+[A-Z]\S+)?")
_SETS_STATUS = re.compile(
    r"(?:\bmark(?:ed|s|ing)?(?: \w+){0,3}? as|\bmark(?:ed)?|\bstatus(?: \w+){0,2}?|\bstatus\s?[:=→]|\bmoved? to|\bset to|\bchanged?(?: \w+){0,3}? to|\bpromoted? to|"
    r"(?:→|->|=>)|\b(?:is|was|now|been|got|gets)|\b(?:adr|rfc|decision|proposal|record|draft|document)|\bto|\bas|状态\S{0,6}|标记为|改为)\s*[\"'“]?$"
)
_SETS_STATUS_TO = re.compile(
    r"(?:\bmark(?:ed|s|ing)?(?: \w+){0,3}? as|\bstatus(?: \w+){0,3}?|→|->|=>)[\s:=]*[\"'“]?$"
)
_GOES_ON = re.compile(
    r"^[\"'”]?\s*(?:$|[.,;:!)(—–-]|by\b|and\b|in\b|at\b|on\b|with\b|after\b|from\b|during\b|&|the (?:adr|decision|proposal|rfc)\b|this\b|adr\b|rfc\b|as is\b|status\b|proposal\b|decision\b|并|了)"
)


@dataclass(frozen=True)
class ChangelogEntry:
    """A dated entry with its text; `accepts` where it says that the decision was accepted."""

    found: FoundDate
    text: str
    accepts: bool


def changelog_entries(document: Document, tables: list[str]) -> list[ChangelogEntry]:
    """Entries of every change log section and of history tables, in the order written."""
    entries: list[ChangelogEntry] = []
    for section in document.sections:
        if role_of(section.heading) != "changelog":
            continue
        if section.parent is not None and role_of(document.sections[section.parent].heading) == "changelog":
            continue
        entries.extend(_entries(document.visible[section.start : section.last][:2000]))
    for table in tables:
        entries.extend(_entries(table.split("\n")))
    return entries


def _entries(lines: list[str]) -> list[ChangelogEntry]:
    starts: list[tuple[FoundDate, str]] = []
    for line in lines:
        text = plain(line[:2000]) if not line.lstrip().startswith("|") else line[:2000]
        heading = line.lstrip().startswith("#")
        dates = find_dates(text) if any(c.isdigit() for c in text) else []
        opens = bool(dates) and (heading or bool(_OPENING.match(text[: dates[0].start].lstrip("# "))))
        listed = bool(dates) and bool(_TOP_ITEM.match(line))
        if dates and (opens or listed):
            starts.append((dates[0], text[dates[0].end :] if opens else text))
        elif starts and line.strip() and not _TOP_ITEM.match(line):
            starts[-1] = (starts[-1][0], f"{starts[-1][1]} {text}"[:4000])
    return [ChangelogEntry(found, text, accepts(text)) for found, text in starts]


_STATES = re.compile(
    r"^(?:complete|completed|done|final|finalized|finalised|current|valid|live|released|shipped|delivered|active|applied|merged|resolved|decided|confirmed)$"
)
_DEED = re.compile(
    r"\b(?:approve|accept|adopt|ratify)s?(?: and \w+)? (?:the |this )?(?:adr|decision|proposal|rfc|record)\b(?! (?:change|feedback|comment|suggestion|template|process))"
)


def accepts(entry: str) -> bool:
    """Whether an entry says the decision was accepted: "Marked as accepted", not "Tweak accepted changes"."""
    text = folded(_SIGNED.sub(" ", entry)).strip(" :：-–—|*_")
    if _DEED.search(text):
        return True
    for word in find_status_words(text):
        # "Draft completed" tells of the draft: such words count only where they are the whole entry.
        if word.status != ACCEPTED or (
            _STATES.match(word.text)
            and text.strip(" .") != word.text
            and not _SETS_STATUS_TO.search(text[: word.start])
        ):
            continue
        before, after = text[: word.start].rstrip(), text[word.start + len(word.text) :]
        opens = not before.strip(" :|*_-") or before[-1] in ".;:|,"
        if (opens or _SETS_STATUS.search(before) or before.endswith((" and", " &"))) and (
            _GOES_ON.match(after) or after[:1] == "|"
        ):
            return True
        if _SETS_STATUS.search(before) and not re.match(r"\s+\w", after):
            return True
    return False
