"""What a record says of other records: in its metadata, in its status and in its text."""

from __future__ import annotations

import re
from urllib.parse import unquote

from transfer.adr.document import Document
from transfer.adr.forms.field import WrittenField
from transfer.adr.inline import folded, is_placeholder, plain
from transfer.adr.records import Reference, Relation
from transfer.adr.vocabulary import role_of

FIELD_RELATIONS: dict[str, Relation] = {
    "supersedes": "SUPERSEDES",
    "superseded_by": "SUPERSEDED_BY",
    "amends": "AMENDS",
    "amended_by": "AMENDED_BY",
    "deprecates": "DEPRECATES",
    "deprecated_by": "DEPRECATED_BY",
    "relates_to": "RELATES_TO",
}
_VERBS: tuple[tuple[Relation, re.Pattern[str]], ...] = (
    ("SUPERSEDED_BY", re.compile(r"\b(?:superse[dc]e?[sd]?(?:ed|eded)?|superc?eeded|superseeded|replaced|overridden|obsoleted|supplanted) by\b|被.{0,6}取代|(?:已)?(?:被|由).{0,60}(?:取代|替代|代替)|取代者|substituíd[oa] (?:por|pela|pelo)|(?:reemplazad|sustituid)[oa] por|remplacée? par|ersetzt durch|abgelöst durch|заменен[оа]? на|\bin favou?r of\b|置き換え")),
    ("SUPERSEDES", re.compile(r"\b(?:superse[dc]es|superceding|superseding|replaces|obsoletes|supplants)\b|(?<!被)(?<!已)取代|替代|\bersetzt\b|\bremplace\b|\breemplaza\b|\bsubstitui\b|\bsustituye\b|\bзаменяет\b")),
    ("DEPRECATED_BY", re.compile(r"\bdeprecated by\b")),
    ("DEPRECATES", re.compile(r"\bdeprecates\b")),
    ("AMENDED_BY", re.compile(r"\b(?:amended|clarified|extended|updated|modified|partially superseded|revised) by\b")),
    ("AMENDS", re.compile(r"\b(?:amends|amending|clarifies|extends|partially supersedes|revises)\b")),
)  # fmt: skip
_LINK = re.compile(
    r"(?<!!)\[(?P<text>(?:[^\[\]\n]|\[[^\[\]\n]{0,100}\]|\\.){1,300})\]\(\s{0,3}<?(?P<target>[^()\s<>]{1,500}(?:\([^()\s]{0,100}\)[^()\s]{0,100})?)>?(?:\s+[\"'][^\"'\n]{0,200}[\"'])?\s{0,3}\)"
)
_REST_LINK = re.compile(
    r"`(?P<text>[^`<>\n]{1,300}?)\s*<(?P<target>[^<>`\n]{1,500})>`__?|:doc:`(?:(?P<text2>[^`<>\n]{1,200}?)\s*<)?(?P<target2>[^`<>\n]{1,300})>?`|(?:xref|link):(?P<target3>[^\s\[\]]{1,300})\[(?P<text3>[^\[\]\n]{0,300})\]"
)
_REFERENCE_LINK = re.compile(
    r"(?<!!)\[(?P<text>[^\[\]\n]{1,200})\](?:\[(?P<name>[^\[\]\n]{0,100})\])?(?![(:])"
)
_DEFINITION = re.compile(r"^ {0,3}\[(?P<name>[^\[\]\n]{1,100})\]:\s{0,4}<?(?P<target>[^\s<>]{1,500})>?")
# "MADR 4" is a version of a template; "AD 2000" is no decision: those need their hyphen.
_MENTION = re.compile(
    r"(?<![\w/.-])(?P<designation>(?:(?:[A-Z][A-Za-z0-9]{0,11}-){0,3}(?:ADRs?|RFCs?|RFDs?|L?ADR|[DTEP]DR)|adrs?|rfcs?|(?:AD|DR|DEC|KDD)(?=-))(?:[-_][A-Za-z]{1,12}){0,2}[-_ #]{0,2}(?P<number>[0-9]{1,5}))(?P<more>(?:\s{0,2}(?:,|and|&|to|/|、|和)\s{0,2}(?:ADRs?[- ]?)?[0-9]{1,5}(?![0-9.]))*)(?![\w])"
)
_BARE_NUMBER = re.compile(r"^\W{0,3}(?:no\.?\s?|#)?([0-9]{1,5})(?![0-9\-/.])")
_RECORD_SUFFIX = re.compile(r"\.(?:md|markdown|mdx|rst|adoc|asciidoc|txt)$", re.IGNORECASE)
LINE_LIMIT = 4000
SEARCHED_LINES = 20000


def references_of(document: Document, fields: list[WrittenField], own_number: str | None) -> list[Reference]:
    """Every reference, each target once with its strongest relation; metadata before status before text."""
    definitions = _definitions(document)
    found: list[Reference] = []
    for written in fields:
        if written.name in FIELD_RELATIONS:
            for part in written.value.split("\n")[:60]:
                found += _targets(part, FIELD_RELATIONS[written.name], "metadata", definitions, bare=True)
        elif written.name == "status":
            for line in written.value.split("\n")[:60]:
                if not line.lstrip().startswith(">") and "|" not in line:
                    found += _in_line(line, "status", definitions)
    in_links = False
    headings = {section.first: section for section in document.sections}
    for number in range(document.first, min(len(document.visible), SEARCHED_LINES)):
        if number in headings:
            in_links = role_of(headings[number].heading) == "links"
        line = document.visible[number]
        if (
            line
            and len(line) <= LINE_LIMIT
            and ("](" in line or "][" in line or any(c.isdigit() for c in line) or "`" in line)
        ):
            found += _in_line(line, "text", definitions, always=in_links)
    return _distinct(found, own_number)


def _definitions(document: Document) -> dict[str, str]:
    definitions: dict[str, str] = {}
    for line in document.visible:
        if "]:" in line[:120] and (match := _DEFINITION.match(line)):
            definitions.setdefault(match.group("name").casefold(), match.group("target"))
    return definitions


def _in_line(line: str, where: str, definitions: dict[str, str], *, always: bool = False) -> list[Reference]:
    text = folded(line)
    relation: Relation = "RELATES_TO"
    at = -1
    for candidate, pattern in _VERBS:
        if (match := pattern.search(text)) and (at < 0 or match.start() < at):
            relation, at = candidate, match.start()
    targets = _targets(line, relation, where, definitions)
    if relation == "RELATES_TO" or len(text) < 200:
        return targets
    # In a long line only what stands near the verb is meant by it.
    return [
        reference if abs(text.find(folded(reference.written)) - at) < 160 else _related(reference)
        for reference in targets
    ]


def _related(reference: Reference) -> Reference:
    return Reference(
        "RELATES_TO",
        reference.written,
        reference.path,
        reference.number,
        reference.designation,
        reference.url,
        reference.where,
    )


def _targets(
    line: str, relation: Relation, where: str, definitions: dict[str, str], *, bare: bool = False
) -> list[Reference]:
    found: list[Reference] = []
    if bare and is_placeholder(plain(line)):
        return found
    rest = line
    for pattern in (_LINK, _REST_LINK):
        for match in pattern.finditer(line):
            groups = match.groupdict()
            target = groups.get("target") or groups.get("target2") or groups.get("target3") or ""
            label = groups.get("text") or groups.get("text2") or groups.get("text3") or target
            if reference := _to(target, label, relation, where, bare):
                found.append(reference)
        rest = pattern.sub(" ", rest)
    for match in _REFERENCE_LINK.finditer(rest):
        target = definitions.get((match.group("name") or match.group("text")).casefold(), "")
        if target and (reference := _to(target, match.group("text"), relation, where, bare)):
            found.append(reference)
            rest = rest.replace(match.group(), " ", 1)
    rest = plain(rest)
    for match in _MENTION.finditer(rest):
        if (
            len(_number(match.group("number"))) > 3
            and match.group("designation").upper().startswith("RFC")
            and where == "text"
        ):
            continue  # the internet's own RFCs have four digits and more
        found.append(
            Reference(
                relation,
                match.group("designation").strip(),
                None,
                _number(match.group("number")),
                match.group("designation"),
                None,
                where,
            )
        )
        for number in re.findall(r"[0-9]{1,5}", match.group("more")):
            found.append(Reference(relation, f"ADR {number}", None, _number(number), "", None, where))
    if bare and not found and rest.strip():
        number = _BARE_NUMBER.match(rest)
        address = re.match(r"^(https?://\S{1,500})", rest)
        path = rest.strip() if _RECORD_SUFFIX.search(rest.strip()) else None
        found.append(
            Reference(
                relation,
                rest.strip()[:300],
                path,
                _number(number.group(1)) if number else None,
                "",
                address.group(1) if address else None,
                where,
            )
        )
    return found


def _to(target: str, label: str, relation: Relation, where: str, bare: bool) -> Reference | None:
    text = plain(label)[:300]
    mention = _MENTION.search(text)
    number = _number(mention.group("number")) if mention else None
    designation = mention.group("designation") if mention else ""
    path, _, anchor = target.partition("#")
    if re.match(r"^[a-z][a-z0-9+.-]{1,20}:", target, re.IGNORECASE) or target.startswith("//"):
        if (
            not (bare or mention or (where == "status" and relation != "RELATES_TO"))
            or "shields.io" in target
        ):
            return None
        return Reference(relation, text, None, number, designation, target, where)
    path = unquote(path)
    if not path and not (anchor and mention):
        return None
    if (
        path
        and not _RECORD_SUFFIX.search(path)
        and (re.search(r"\.[A-Za-z0-9]{1,5}$", path) or not (bare or mention or where == "status"))
    ):
        return None
    return Reference(relation, text, f"{path}#{anchor}" if anchor else path, number, designation, None, where)


def _number(written: str) -> str:
    return written.lstrip("0") or "0"


_STRENGTH = {"metadata": 0, "status": 1, "text": 2}


def _distinct(found: list[Reference], own_number: str | None) -> list[Reference]:
    best: dict[tuple[str, str], Reference] = {}
    for reference in found:
        if (
            reference.path is None
            and reference.url is None
            and reference.number is not None
            and reference.number == own_number
            and reference.where == "text"
        ):
            continue
        key = (
            reference.path or reference.url or "",
            "" if reference.path or reference.url else (reference.number or reference.written),
        )
        known = best.get(key)
        if known is None or _rank(reference) < _rank(known):
            best[key] = reference
    return sorted(best.values(), key=_rank)


def _rank(reference: Reference) -> tuple[int, int]:
    return (1 if reference.relation == "RELATES_TO" else 0, _STRENGTH.get(reference.where, 3))
