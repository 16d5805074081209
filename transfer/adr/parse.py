"""One file read into what it is and the decisions it holds."""

from __future__ import annotations

import re

from transfer.adr.changelog import changelog_entries
from transfer.adr.classify import kind_of
from transfer.adr.decided import DecidedOn, decided_on
from transfer.adr.document import Document, decode, read_document
from transfer.adr.forms import WrittenField, written_fields
from transfer.adr.inline import folded, is_placeholder, plain, unbraced
from transfer.adr.language import guess_language
from transfer.adr.logs import anchor_of, decisions_in
from transfer.adr.records import ParsedFile, ParsedRecord, Reference
from transfer.adr.references import references_of
from transfer.adr.statuses import StatusReading, read_status
from transfer.adr.texts import parts_of
from transfer.adr.titles import FileName, Title, clean_title, read_file_name
from transfer.adr.vocabulary import role_of

NAME_LIMIT = 120
_BOILERPLATE = re.compile(
    r"\b(?:optional|feel free|remove|configuration|config|front ?matter|yaml|template|see https?|metadata|lint\w*)\b|^[\w-]{1,30}:",
    re.IGNORECASE,
)
_NAMES_BETWEEN = re.compile(r"\s*(?:[,;、，；|\n]|<br\s?/?>|\s(?:and|und|et|y|e|&)\s)\s*")


def parse_file(data: bytes, path: str) -> ParsedFile:
    """Reads one file of a folder of decision records; never raises, whatever the bytes."""
    decoded = decode(data)
    document = read_document(decoded.text, path)
    name = read_file_name(path)
    notes = [*decoded.notes, *document.notes]
    sections = decisions_in(document)
    if len(sections) >= 2:
        taken: dict[str, int] = {}
        anchors = {section.first: anchor_of(section.heading, taken) for section in document.sections}
        blank = FileName("", None, "")
        records = [_record(document.part(s), path, f"{path}#{anchors[s.first]}", blank) for s in sections]
        kind, why = kind_of(document, path, Title("log"), name, filled=True, heading="")
        if kind != "template":
            return ParsedFile(
                path, "record", f"a log of {len(records)} decisions", records, decoded.encoding, notes
            )
        return ParsedFile(path, kind, why, [], decoded.encoding, notes)
    record, title, filled, heading = _read(document, path, path, name)
    kind, why = kind_of(document, path, title, name, filled=filled, heading=heading)
    if kind != "record":
        return ParsedFile(path, kind, why, [], decoded.encoding, notes)
    return ParsedFile(path, kind, why, [record], decoded.encoding, notes)


def _record(document: Document, path: str, key: str, name: FileName) -> ParsedRecord:
    return _read(document, path, key, name)[0]


def _read(document: Document, path: str, key: str, name: FileName) -> tuple[ParsedRecord, Title, bool, str]:
    fields = written_fields(document)
    ambiguities: list[str] = []
    heading, title, title_source = _title(document, fields, name, ambiguities)
    status, status_source = _status(fields, ambiguities)
    tables = [f.value for f in fields if f.name == "changelog"]
    decided = decided_on(document, fields, status, changelog_entries(document, tables))
    ambiguities += decided.ambiguities
    number = name.number or title.number or _number_field(fields)
    if title.number and name.number and title.number != name.number:
        ambiguities.append(
            f"number {title.number} in the title, {name.number} in the file name: the file name's is taken"
        )
    references = references_of(document, fields, number)
    _note_superseded(status, references, ambiguities)
    record = ParsedRecord(
        key=key,
        path=path,
        number=number,
        designation=title.designation or name.designation,
        title=title.text,
        title_source=title_source,
        status=status.status,  # type: ignore[arg-type]
        status_written=status.written,
        status_source=status_source,
        decided_on=decided.value,
        date_source=decided.source,
        date_written=decided.written,
        body=document.text,
        tags=_tags(fields),
        deciders=_people(fields, "deciders"),
        authors=_people(fields, "authors"),
        language=guess_language(document.text[len(document.front_matter.raw) :]),
        form=_form(document, fields, status_source, decided),
        references=references,
        ambiguities=ambiguities,
        **parts_of(document),
    )
    own_heading = Title(title.text, title.number, title.designation, title_source == "file name")
    return record, own_heading, bool(status.status or decided.value or decided.written), heading


def _title(
    document: Document, fields: list[WrittenField], name: FileName, ambiguities: list[str]
) -> tuple[str, Title, str]:
    heading = ""
    for index, section in enumerate(document.sections[:20]):
        if section.level > 1 and index > 0:
            break
        candidate = clean_title(section.heading, name.number)
        heading = heading or section.heading
        if not candidate.generic:
            if index > 0 and any(role_of(s.heading) for s in document.sections[:index]):
                break
            return section.heading, candidate, "heading"
    first = clean_title(heading, name.number) if heading else Title("")
    for written in fields:
        if written.name == "title" and written.form in {"front matter", "table", "line"}:
            candidate = clean_title(written.value, name.number)
            if not candidate.generic:
                numbered = Title(
                    candidate.text,
                    candidate.number or first.number,
                    candidate.designation or first.designation,
                )
                return heading or written.value, numbered, f"{written.form}: {written.label}"
    if comment := re.match(r"\s*# ?([^\s#][^\n]{2,200})\n", document.front_matter.raw):
        candidate = clean_title(comment.group(1), name.number)
        if not candidate.generic and not _BOILERPLATE.search(comment.group(1)):
            ambiguities.append("no heading gives a title: it is the first comment of the front matter")
            return heading, candidate, "front matter: comment"
    text = name.title or first.text or "Untitled decision"
    if heading:
        ambiguities.append(
            f'heading "{plain(heading)[:80]}" is no title of its own: the title is the file name'
        )
    elif name.title:
        ambiguities.append("no heading gives a title: the title is the file name")
    return heading, Title(text, first.number, first.designation, True), "file name"


def _status(fields: list[WrittenField], ambiguities: list[str]) -> tuple[StatusReading, str]:
    chosen: tuple[StatusReading, str] | None = None
    unread: tuple[StatusReading, str] | None = None
    for written in fields:
        if written.name != "status":
            continue
        reading = read_status(written.value)
        source = f"{written.form}: {written.label}" if written.form != "section" else "section"
        if reading.status is None:
            if reading.written and (unread is None or reading.ambiguities):
                unread = unread or (reading, source)
        elif chosen is None:
            chosen = reading, source
        elif reading.status != chosen[0].status:
            ambiguities.append(
                f'status is "{_short(chosen[0].written)}" ({chosen[1]}) and "{_short(reading.written)}" ({source}): the first is taken'
            )
    reading, source = chosen or unread or (StatusReading(), "")
    if chosen is None and unread is None:
        reading.written = ""
    if reading.unfilled and reading.status is None and not reading.ambiguities:
        ambiguities.append("the status is a list of choices nobody chose from: nothing is written")
    ambiguities += reading.ambiguities
    return reading, source


def _note_superseded(status: StatusReading, references: list[Reference], ambiguities: list[str]) -> None:
    by = [r for r in references if r.relation == "SUPERSEDED_BY" and r.where == "metadata"]
    if by and status.status is None:
        status.status = "superseded"
        ambiguities.append(f'no status is written, yet it names what supersedes it ("{by[0].written}")')
    elif by and status.status not in {"superseded", "deprecated"}:
        ambiguities.append(f'status is {status.status}, yet it names what supersedes it ("{by[0].written}")')


def _short(text: str) -> str:
    return " ".join(plain(text).split())[:60]


def _number_field(fields: list[WrittenField]) -> str | None:
    for written in fields:
        if written.name == "number" and (match := re.search(r"([0-9]{1,6})\W*$", written.value.strip()[:60])):
            return match.group(1).lstrip("0") or "0"
    return None


def _people(fields: list[WrittenField], name: str) -> list[str]:
    people: list[str] = []
    for written in fields:
        if written.name != name or is_placeholder(written.value):
            continue
        for part in _NAMES_BETWEEN.split("\n".join(plain(line) for line in written.value[:4000].split("\n"))):
            person = unbraced(re.sub(r"^\s*[-*+]\s+", "", part)).strip(" .:-*")
            if (
                person
                and len(person) <= NAME_LIMIT
                and not is_placeholder(part)
                and person not in people
                and not person.startswith(("list ", "{", "["))
            ):
                people.append(person)
    return people[:100]


def _tags(fields: list[WrittenField]) -> list[str]:
    tags: list[str] = []
    for written in fields:
        if written.name != "tags" or is_placeholder(written.value):
            continue
        value = re.sub(r"^\[|\]$", "", plain(written.value[:4000].replace("\n", ", ")).strip())
        for part in re.split(r"[,;、，；]|\s(?=#)", value):
            tag = folded(part).strip("#`'\"*-. ")
            if tag and len(tag) <= 60 and tag not in tags and not is_placeholder(part):
                tags.append(tag)
    return tags[:50]


def _form(document: Document, fields: list[WrittenField], status_source: str, decided: DecidedOn) -> str:
    headings = {folded(section.heading) for section in document.sections}
    roles = {role_of(section.heading) for section in document.sections}
    if document.front_matter and any(
        f.form == "front matter" and f.name in {"status", "date"} for f in fields
    ):
        return "front matter" + (
            " (MADR)" if {"context and problem statement", "decision outcome"} & headings else ""
        )
    if any(f.form == "table" and f.name in {"status", "date"} for f in fields):
        return "metadata table"
    if "context and problem statement" in headings or "decision outcome" in headings:
        return "MADR"
    if "changelog" in roles:
        return "change log"
    if status_source == "section" and "decision" in roles:
        return "Nygard"
    if any(f.form == "line" and f.name in {"status", "date"} for f in fields):
        return "labelled lines"
    return "Nygard" if {"context", "decision"} <= roles else "free form"
