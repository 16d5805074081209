"""Bytes to text, text to front matter, lines and sections; nothing in here ever raises on what a file holds."""

from __future__ import annotations

import bisect
import codecs
import re
from dataclasses import dataclass, field
from pathlib import PurePosixPath

from transfer.adr.frontmatter import FrontMatter, split_front_matter
from transfer.adr.markup import outline_for
from transfer.adr.vocabulary import is_section_name, role_of

_ESCAPED_BYTE = re.compile("[\udc80-\udcff]")
_SURROGATE = re.compile("[\ud800-\udfff]")


@dataclass(frozen=True)
class DecodedText:
    """The text of a file, the encoding it was read in, and what had to be decided or replaced to read it."""

    text: str
    encoding: str
    notes: tuple[str, ...] = ()


def decode(data: bytes) -> DecodedText:
    """Reads UTF-8 (with or without BOM), UTF-16/32, else GB 18030 or Windows-1252; line ends become LF."""
    notes: list[str] = []
    text, encoding = _decode_bytes(data, notes)
    text = text.replace("\r\n", "\n").replace("\r", "\n")
    for pattern, what in ((re.compile("\x00"), "NUL character"), (_SURROGATE, "lone surrogate")):
        text, count = pattern.subn("\ufffd", text)
        if count:
            notes.append(f"{count} {what}{'s' if count > 1 else ''} replaced with U+FFFD")
    return DecodedText(text, encoding, tuple(notes))


def _decode_bytes(data: bytes, notes: list[str]) -> tuple[str, str]:
    for bom, encoding in (
        (codecs.BOM_UTF8, "utf-8"),
        (codecs.BOM_UTF32_LE, "utf-32"),
        (codecs.BOM_UTF32_BE, "utf-32"),
        (codecs.BOM_UTF16_LE, "utf-16"),
        (codecs.BOM_UTF16_BE, "utf-16"),
    ):
        if data.startswith(bom):
            if encoding == "utf-8":
                data = data[len(bom) :]
                break
            return data.decode(encoding, errors="replace"), encoding
    try:
        return data.decode("utf-8"), "utf-8"
    except UnicodeDecodeError:
        pass
    sample = data[:4096]
    for offset, encoding in ((1, "utf-16-le"), (0, "utf-16-be")):
        if (
            len(sample) >= 8
            and sample[offset::2].count(0) > 0.4 * (len(sample) // 2)
            and sample[1 - offset :: 2].count(0) == 0
        ):
            notes.append(f"no byte order mark; read as {encoding}")
            return data.decode(encoding, errors="replace"), encoding
    return _decode_legacy(data, notes)


def _decode_legacy(data: bytes, notes: list[str]) -> tuple[str, str]:
    escaped = data.decode("utf-8", errors="surrogateescape")
    broken = len(_ESCAPED_BYTE.findall(escaped))
    multibyte = sum(1 for c in escaped if c > "\x7f") - broken
    # Chinese in GB 18030 has its high bytes in pairs; accented Latin letters stand alone between ASCII.
    runs = [len(run) for run in re.findall(rb"[\x81-\xfe]+", data)]
    paired = sum(run for run in runs if run % 2 == 0)
    if multibyte <= broken and runs and paired >= 0.9 * sum(runs) and sum(runs) >= 8:
        try:
            text = data.decode("gb18030")
        except UnicodeDecodeError:
            pass
        else:
            notes.append("not UTF-8; read as GB 18030")
            return text, "gb18030"
    if multibyte > broken:
        text = _ESCAPED_BYTE.sub(lambda m: _windows_character(ord(m.group()) - 0xDC00), escaped)
        notes.append(f"{broken} byte{'s' if broken > 1 else ''} not UTF-8, read as Windows-1252")
        return text, "utf-8"
    notes.append("not UTF-8; read as Windows-1252")
    return data.decode("cp1252", errors="replace"), "cp1252"


def _windows_character(byte: int) -> str:
    return bytes([byte]).decode("cp1252", errors="replace")


@dataclass
class Section:
    """A heading with the lines below it up to the next heading; `parent` is an index into the same list."""

    heading: str
    level: int
    first: int  # line of the heading
    start: int  # first line of its own text
    end: int  # line after its own text
    parent: int | None = None
    last: int = 0  # line after its last sub-section


@dataclass
class Document:
    """One file or one section of it, ready to be read: `lines` as written, `visible` without code and comments."""

    path: str
    text: str
    lines: list[str]
    visible: list[str]
    sections: list[Section]
    front_matter: FrontMatter
    first: int = 0  # line after the front matter
    notes: list[str] = field(default_factory=list)

    @property
    def preamble_end(self) -> int:
        """The line of the first heading that opens a part of the record rather than naming the record."""
        for index, section in enumerate(self.sections):
            role = role_of(section.heading)
            if index == 0 and section.level == 1 and not is_section_name(section.heading):
                continue  # "Decision: use X" is a title
            if role == "meta":
                continue
            if role is not None or (index > 0 and section.level > self.sections[0].level) or index > 1:
                return section.first
        return len(self.lines)

    def own_text(self, section: Section) -> str:
        """The section's text without its sub-sections."""
        return "\n".join(self.lines[section.start : section.end]).strip("\n")

    def visible_text(self, section: Section) -> str:
        """The section's text with its sub-sections, without code blocks and comments."""
        return "\n".join(self.visible[section.start : section.last]).strip("\n")

    def sections_between(self, first: int, last: int) -> list[Section]:
        """The sections whose headings stand in these lines; sections are in order, so a search by halves does."""
        low = bisect.bisect_left(self.sections, first, key=lambda s: s.first)
        return self.sections[low : bisect.bisect_left(self.sections, last, key=lambda s: s.first)]

    def part(self, section: Section, text_from: int | None = None) -> Document:
        """The section alone as a document of its own, its heading first."""
        first, last = section.first if text_from is None else text_from, section.last
        sections = [
            Section(s.heading, s.level, s.first - first, s.start - first, s.end - first, None, s.last - first)
            for s in self.sections_between(first, last)
        ]
        return Document(
            self.path,
            "\n".join(self.lines[first:last]),
            self.lines[first:last],
            self.visible[first:last],
            link_parents(sections, last - first),
            FrontMatter(),
        )


def link_parents(sections: list[Section], line_count: int) -> list[Section]:
    """Sets parent and last line of every section from the levels; linear in the number of sections."""
    open_sections: list[int] = []
    for index, section in enumerate(sections):
        while open_sections and sections[open_sections[-1]].level >= section.level:
            sections[open_sections.pop()].last = section.first
        section.parent = open_sections[-1] if open_sections else None
        open_sections.append(index)
    for index in open_sections:
        sections[index].last = line_count
    return sections


def read_document(text: str, path: str) -> Document:
    """Splits front matter off and finds the headings, in the markup the path's suffix names (Markdown otherwise)."""
    front_matter, first = split_front_matter(text)
    lines = text.split("\n")
    suffix = PurePosixPath(path).suffix.lower()
    visible, headings = outline_for(suffix, lines, first)
    sections = [
        Section(
            h.text,
            h.level,
            h.first,
            h.last + 1,
            headings[i + 1].first if i + 1 < len(headings) else len(lines),
        )
        for i, h in enumerate(headings)
    ]
    return Document(
        path,
        text,
        lines,
        visible,
        link_parents(sections, len(lines)),
        front_matter,
        first,
        list(front_matter.notes),
    )


__all__ = ["DecodedText", "Document", "Section", "decode", "link_parents", "read_document"]
