"""Post-mortems as Markdown (ERB too): parts by headings, by bold labels, by `Label: text` lines and two-column tables."""

from __future__ import annotations

import re
import textwrap
from dataclasses import dataclass, field

from transfer.adr.frontmatter import FrontMatter, split_front_matter
from transfer.adr.inline import is_placeholder, plain
from transfer.postmortems.records import NotOne, Part, Written
from transfer.postmortems.vocabulary import TELLING, role_of

_HEADING = re.compile(r"^ {0,3}(#{1,6})\s+(.*?)\s*#*\s*$")
_UNDERLINE = re.compile(r"^ {0,3}(=+|-{3,})\s*$")
_FENCE = re.compile(r"^\s*(`{3,}|~{3,})([^`]*)$")
_BOLD = re.compile(
    r"^\s*(?:>\s*)*([-*+]\s+|\d+[.)]\s+)?(?:\*\*|__)([^*_\n]{1,80}?)(?:(:)\s*(?:\*\*|__)|(?:\*\*|__)\s*(:)?)\s*(.*)$"
)
_PLAIN = re.compile(r"^(?:>\s*)*(?:[-*+]\s+)?([A-Z][\w /&-]{2,40}):(?:\s+(.*))?$")
_ALONE = re.compile(r"^[A-Z][\w &/-]{3,40}$")
_ROW = re.compile(r"^\s*\|\s*([^|\n]{2,60}?)\s*\|\s*([^|\n]*?)\s*\|\s*$")
_BESIDE = re.compile(r"\s+\|\s+(?=\*\*)")  # several labels in one line
_TEMPLATE = re.compile(r"\btemplate\b|(?:^|:)\W*[\[<{][^\]>}]*[\]>}]\W*$", re.IGNORECASE)
LABEL_IN = 1000  # characters of a line in which a label may stand: patterns must not walk a long one
ALONE, BY_LABEL = 7, 8  # a line that is a heading without its mark; a label stands below every heading


@dataclass
class _Open:
    """A part that is being read; `level` of the heading that opened it."""

    role: str
    label: str
    level: int
    plainly: bool = False
    text: list[str] = field(default_factory=list)
    verbatim: list[str] = field(default_factory=list)

    def close(self) -> Part:
        text = textwrap.dedent("\n".join(self.text)).strip("\n")
        return Part(self.role, self.label, text, "\n".join(self.verbatim).strip("\n"))


class _Reader:
    def __init__(self) -> None:
        self.title = ""
        self.parts: list[Part] = []
        self.above: list[tuple[int, str]] = []  # levels and roles of the headings around this line
        self.now = _Open("context", "", 0, plainly=True)
        self.fence = ""

    def read(self, lines: list[str]) -> None:
        for index, line in enumerate(lines):
            before = lines[index - 1] if index else ""
            following = lines[index + 1] if index + 1 < len(lines) else ""
            if not self._in_code(line[:LABEL_IN]) and self._opens(line, before, following[:LABEL_IN]):
                continue
            self.now.text.append(line)
            self.now.verbatim.append(line)
        self._open(_Open("", "", 0))

    def _in_code(self, line: str) -> bool:
        mark = _FENCE.match(line)
        if mark and not self.fence:
            self.fence = mark.group(1)
        elif mark and line.strip().startswith(self.fence) and not mark.group(2).strip():
            self.fence = ""
        return bool(mark or self.fence)

    def _opens(self, line: str, before: str, following: str) -> bool:
        heading = _HEADING.match(line) if len(line) <= LABEL_IN else None
        if heading:
            return self._heading(len(heading.group(1)), heading.group(2), line)
        under = _UNDERLINE.match(following)
        if under and line.strip() and line[:1].isalnum():
            return self._heading(1 if under.group(1)[0] == "=" else 2, line.strip(), line)
        if len(line) > LABEL_IN:
            return self._bold(line[:LABEL_IN], line[LABEL_IN:])
        return self._bold(line) or self._plain(line, before.strip(), following.strip())

    def _heading(self, level: int, label: str, line: str) -> bool:
        role = role_of(label)
        if level == 1 and not self.title and (role is None or not self.parts):
            self.title = plain(label)
            self._open(_Open("context", "", level, plainly=True, verbatim=[line]))
            return True
        while self.above and self.above[-1][0] >= level:
            self.above.pop()
        inherited = self.above[-1][1] if self.above else None
        role = role or inherited or "context"
        self.above.append((level, role))
        self._open(_Open(role, plain(label), level, verbatim=[line]))
        return True

    def _bold(self, line: str, further: str = "") -> bool:
        """Of several labels in a line the first that is known takes the line; the others only their value."""
        opened = False
        for place, written in enumerate(_BESIDE.split(line) if not further else [line]):
            found = _BOLD.match(written)
            if not found or not (found.group(3) or found.group(4) or not found.group(5)):
                continue
            if found.group(1) and not place and self.now.role == "prevention" and self.now.level < BY_LABEL:
                return False  # an action's own name, such as "Impact checks"
            opened = (
                self._label(found.group(2), found.group(5) + further, "" if opened else line + further)
                or opened
            )
        return opened

    def _plain(self, line: str, before: str, following: str) -> bool:
        found = _PLAIN.match(line) or _ROW.match(line)
        if found and (self.now.plainly or (not found.group(2) and not before)):
            return self._label(found.group(1), found.group(2) or "", line, plainly=True)
        if _ALONE.match(line) and not before and not following:
            return self._label(line, "", line, plainly=True, level=ALONE)
        return False

    def _label(
        self, label: str, rest: str, line: str, *, plainly: bool = False, level: int = BY_LABEL
    ) -> bool:
        role = role_of(label)
        if role is None:
            return False
        text = [rest] if rest.strip() else []
        self._open(_Open(role, plain(label).strip(" :"), level, plainly, text, [line]))
        return True

    def _open(self, part: _Open) -> None:
        if any(line.strip() for line in [*self.now.verbatim, *self.now.text]):
            self.parts.append(self.now.close())
        self.now = part


def read(text: str) -> list[Written]:
    front, first = split_front_matter(text)
    reader = _Reader()
    reader.read(text.split("\n")[first:])
    fields = {
        name: ", ".join(value) if isinstance(value, list) else value for name, value in front.fields.items()
    }
    title = next((value for name, value in fields.items() if name.casefold() == "title"), "")
    written = Written(
        title=" ".join(_without(title or reader.title or _first_line(reader), "<%", "%>").split()),
        parts=_parts(reader, title),
        fields={name: value for name, value in fields.items() if name.casefold() != "title"},
        tags=_tags(front),
        notes=list(front.notes),
    )
    if _TEMPLATE.search(written.title):
        raise NotOne("a template by its title")
    named = {part.role for part in written.parts}
    filled = {part.role for part in written.parts if part.role in TELLING and _says_something(part.text)}
    if len(filled) > 1:
        return [written]
    if len(named & TELLING) > 1:
        raise NotOne("an unfilled template: its parts are named and empty")
    raise NotOne(
        "no post-mortem: its headings and labels name no impact, cause, detection, recovery or prevention"
    )


def _parts(reader: _Reader, title: str) -> list[Part]:
    """Without the heading that only repeats the title."""
    known = {" ".join(said.split()).casefold() for said in (title, reader.title if not title else "") if said}
    parts = []
    for part in reader.parts:
        head, _, below = part.verbatim.partition("\n")
        match = _HEADING.match(head)
        if match and not part.label and " ".join(plain(match.group(2)).split()).casefold() in known:
            below = below.lstrip("=").strip("\n")
            part = Part(part.role, "", part.text, below)
        parts.append(part)
    return [part for part in parts if part.verbatim.strip() or part.text.strip()]


def _first_line(reader: _Reader) -> str:
    """Of the text above the first part: the title of a document without headings."""
    above = reader.parts[0].text if reader.parts and not reader.parts[0].label else ""
    return next((plain(line).strip() for line in above.split("\n") if line.strip()), "")


def _tags(front: FrontMatter) -> list[str]:
    found = next((value for name, value in front.fields.items() if name.casefold() in ("tags", "labels")), [])
    return [tag.strip() for tag in (found if isinstance(found, list) else found.split(",")) if tag.strip()]


def _says_something(text: str) -> bool:
    lines = (
        re.sub(r"^[\s>*+-]+", "", line).strip()
        for line in _without(_without(text, "<%", "%>"), "<!--", "-->").split("\n")
    )
    return any(line and not is_placeholder(line) for line in lines)


def _without(text: str, opens: str, closes: str) -> str:
    """The text without what stands between the marks; by steps, since a pattern takes quadratic time on open marks."""
    kept, at = [], 0
    while (start := text.find(opens, at)) >= 0 and (end := text.find(closes, start)) >= 0:
        kept.append(text[at:start])
        at = end + len(closes)
    return "".join([*kept, text[at:]])
