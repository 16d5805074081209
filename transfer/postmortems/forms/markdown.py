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
    r"^\s*(?:[-*+]\s+|\d+[.)]\s+)?(?:\*\*|__)([^*_\n]{1,80}?)(?:(:)\s*(?:\*\*|__)|(?:\*\*|__)\s*(:)?)\s*(.*)$"
)
_PLAIN = re.compile(r"^(?:[-*+]\s+)?([A-Z][\w /&-]{2,40}):(?:\s+(.*))?$")
_ROW = re.compile(r"^\s*\|\s*([^|\n]{2,60}?)\s*\|\s*([^|\n]*?)\s*\|\s*$")
_ERB = re.compile(r"<%.*?%>", re.DOTALL)
_COMMENT = re.compile(r"<!--.*?-->", re.DOTALL)
BY_LABEL = 7  # a label stands below every heading


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
            following = lines[index + 1] if index + 1 < len(lines) else ""
            if not self._in_code(line) and self._opens(line, following):
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

    def _opens(self, line: str, following: str) -> bool:
        heading = _HEADING.match(line)
        if heading:
            return self._heading(len(heading.group(1)), heading.group(2), line)
        under = _UNDERLINE.match(following)
        if under and line.strip() and line[:1].isalnum():
            return self._heading(1 if under.group(1)[0] == "=" else 2, line.strip(), line)
        return self._label(line)

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

    def _label(self, line: str) -> bool:
        bold = _BOLD.match(line)
        if bold and (bold.group(2) or bold.group(3) or not bold.group(4)):
            label, rest, plainly = bold.group(1), bold.group(4), False
        elif self.now.plainly and (found := _PLAIN.match(line) or _ROW.match(line)):
            label, rest, plainly = found.group(1), found.group(2) or "", True
        else:
            return False
        role = role_of(label)
        if role is None:
            return False
        rest = [rest] if rest.strip() else []
        self._open(_Open(role, plain(label).strip(" :"), BY_LABEL, plainly, rest, [line]))
        return True

    def _open(self, part: _Open) -> None:
        if any(line.strip() for line in self.now.verbatim):
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
        title=" ".join(_without_erb(title or reader.title).split()),
        parts=_parts(reader, title),
        fields={name: value for name, value in fields.items() if name.casefold() != "title"},
        tags=_tags(front),
        notes=list(front.notes),
    )
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
        if part.verbatim.strip():
            parts.append(part)
    return parts


def _tags(front: FrontMatter) -> list[str]:
    found = next((value for name, value in front.fields.items() if name.casefold() in ("tags", "labels")), [])
    return [tag.strip() for tag in (found if isinstance(found, list) else found.split(",")) if tag.strip()]


def _says_something(text: str) -> bool:
    lines = (
        re.sub(r"^[\s>*+-]+", "", line).strip() for line in _COMMENT.sub("", _without_erb(text)).split("\n")
    )
    return any(line and not is_placeholder(line) for line in lines)


def _without_erb(text: str) -> str:
    return _ERB.sub("", text)
