"""A record's own title and number, from its heading, its metadata or its file name."""

from __future__ import annotations

import re
from dataclasses import dataclass
from pathlib import PurePosixPath

from transfer.adr.inline import folded, is_placeholder, plain
from transfer.adr.vocabulary import KIND_ACRONYMS, KIND_PHRASES, TEMPLATE_WORDS, is_section_name, words_of

_NUM = r"(?:[0-9]{1,8}(?:\.[0-9]{1,3}){0,2}|[XN]{1,4}|[xn]{2,4}|[0-9]{1,4}[XNxn]{1,4}|\?{1,4}|#{1,4})"
_ACRONYM = "|".join(sorted(map(re.escape, KIND_ACRONYMS), key=len, reverse=True))
_PHRASE = "|".join(sorted(map(re.escape, KIND_PHRASES), key=len, reverse=True))
_SEP = r"(?:\s*[:：|–—‒]\s*|\s+-+\s+|-\s+|\s*[.)、]\s+|\s*[.)](?=[^\W\d])|、)"
_STATE = r"(?:\s*[\[(（](?i:draft|proposed|accepted|rejected|wip|superseded|deprecated|草案|草稿)[\])）])?"
_NUMBERED_KIND = re.compile(
    rf"^[\[(]?(?P<designation>(?:[A-Za-z][A-Za-z0-9]{{0,14}}[-_]){{0,3}}?(?:{_ACRONYM})(?:[-_][A-Za-z][A-Za-z0-9]{{0,14}}){{0,2}}[\s_#№-]{{0,3}}(?P<number>{_NUM}))[\])]?{_STATE}(?:{_SEP}|\s+|$)",
)
_NUMBERED_PHRASE = re.compile(
    rf"^(?:{_PHRASE})(?:\s*\((?:{_ACRONYM})\))?\s*(?:no\.?|nr\.?|number|#|№|第)?\s*(?P<number>[0-9]{{1,6}})(?:号|條|条)?(?:{_SEP}|\s+|$)",
    re.IGNORECASE,
)
_KIND_SEPARATED = re.compile(
    rf"^(?:(?:{_ACRONYM})|(?i:{_PHRASE})(?:\s*\((?:{_ACRONYM})\))?){_STATE}(?:\s*[:：–—|]\s*|\s+-+\s+)"
)
_KIND_SPACED = re.compile(r"^(?:ADR|RFC|MADR)\s+(?=\S)")
_TICKET = re.compile(r"^(?P<number>[A-Z][A-Z0-9]{1,14}-[0-9]{1,7})(?:\s*[:：–—]\s*|\s+-\s+|\s+)(?=\S)")
_PLAIN_NUMBER = re.compile(rf"^[\[(#]?(?P<number>[0-9]{{1,6}})[\])]?{_STATE}(?P<sep>{_SEP}|\s+-?\s*|_)(?=\S)")
_KIND_INSIDE = re.compile(
    rf"\s[-–—]\s(?i:architecture decision record|architectural decision record|decision record|(?:{_ACRONYM})(?:[-_][A-Za-z]{{1,14}}){{0,2}}[-_ ]?[0-9]{{1,5}})\s*(?:[:：]|\s[-–—]\s)\s*(?=\S)"
)
_DESIGNATION_INSIDE = re.compile(
    rf"\s[-–—]\s(?:[A-Za-z]{{1,14}}-){{0,3}}(?:{_ACRONYM})(?:-[A-Za-z]{{1,14}}){{0,2}}-?[0-9]{{1,5}}\s[-–—]\s(?=\S)"
)
_DATE_PREFIX = re.compile(
    r"^[\[(]?(?:19|20)[0-9]{2}[-./][0-9]{1,2}[-./][0-9]{1,2}[\])]?\s*(?:[:：|]|\s-+|[–—])\s*(?=\S)"
)
_SUFFIX = re.compile(rf"\s*[\[(](?:{_ACRONYM})[-_ #]?[0-9]{{1,6}}[\])]\s*$")
_NOUNS_AFTER_ADR = words_of(
    "template templates process format tooling tools tool numbering log logs index location naming "
    "workflow status storage guidelines structure system management repository file files documents "
    "document states lifecycle review for in as and to is with via about"
)
_PLACEHOLDER_TITLE = re.compile(
    r"^(?:\{.*\}|\[.*\]|<.*>|…+|\.{3,}|(?:short |the |your |decision |adr |record |my |some )*(?:title|name|subject|heading|noun phrase)(?: here| of .*|\s*\.{3})?|"
    r"short (?:title|noun phrase)\b.*|title of .*|(?:adr |madr |rfc |decision |decision record |architecture decision record )*template(?:\s*[:–-].{0,40})?|"
    r"标题|題名|タイトル|título|titulo|titel|titre|标题.{0,6}模板|决策标题)$"
)
_STEM = re.compile(
    r"^(?P<prefix>(?:(?:[A-Za-z]{1,12}[-_]){0,3}?(?:adr|rfc|rfd|madr|ladr|dr|ad|tdr|edr|ddr|decision|decisao|decisión|decisão|entscheidung|oep|ep)s?(?:[-_](?=[a-z]{1,9}[-_]?[0-9])[a-z]{1,9}){0,2}[-_ .#]?)?)(?P<number>[0-9]{0,3}[xn]{1,4}(?=[-_ .])|[0-9]{1,8})(?:[-_ .)、]+|$|(?=[^\W\d_]))(?P<rest>.*)$",
    re.IGNORECASE,
)
_KIND_STEM = re.compile(r"^(?:adr|rfc|madr)s?[-_ ]+(?P<rest>\S.*)$", re.IGNORECASE)


@dataclass(frozen=True)
class Title:
    """A title without number, kind or markup; the number and the designation (`ADR-12`) that stood before it."""

    text: str
    number: str | None = None
    designation: str = ""
    generic: bool = False  # it names the kind of document, a section or a template's blank, not this record


def clean_title(heading: str, file_number: str | None = None) -> Title:
    """Takes markup, number and kind prefix off a heading."""
    full = plain(heading[:1000], keep_code=True).strip(" #\u200b")
    full = _DATE_PREFIX.sub("", full) or full
    text, number, designation = full, None, ""
    for _ in range(4):
        before = text
        if match := (_NUMBERED_KIND.match(text) or _NUMBERED_PHRASE.match(text)):
            number = number or match.group("number")
            designation = designation or match.groupdict().get("designation") or ""
            text = text[match.end() :]
        elif (match := _KIND_SEPARATED.match(text)) or (
            (match := _KIND_SPACED.match(text)) and _is_kind_before_title(text[match.end() :])
        ):
            text = text[match.end() :]
        elif before != full and number is None and (match := _TICKET.match(text)):
            designation = designation or match.group("number")
            text = text[match.end() :]
        elif (
            number is None and (match := _PLAIN_NUMBER.match(text)) and _numbers_a_record(match, file_number)
        ):
            number, text = match.group("number"), text[match.end() :]
        text = text.strip(" \t:：-–—")
        if text == before:
            break
    for inside in (_KIND_INSIDE, _DESIGNATION_INSIDE):
        if match := inside.search(text):
            text = text[match.end() :]
    if match := _SUFFIX.search(text):
        text = text[: match.start()]
    if text.count('"') == 1:
        text = text.strip('"')
    if (
        text != full
        and len(text) > 2
        and (text[0], text[-1]) in {('"', '"'), ("“", "”"), ("'", "'"), ("「", "」")}
    ):
        text = text[1:-1]
    text = text.strip()
    # "1. Architecture decision records" is the title of a record about records; without its number it heads a folder.
    about_records = (_digits(number) or "0") != "0" and bool(_GENERIC.match(folded(text)))
    return Title(text, _digits(number), designation, not text or (is_generic(text) and not about_records))


def _is_kind_before_title(rest: str) -> bool:
    words = rest.split()
    # "ADR template" and "ADR without date" are about records; "ADR Sidecar credentials" has the kind before it.
    return len(words) >= 2 and words[0].casefold() not in _NOUNS_AFTER_ADR and not words[0][:1].islower()


def _numbers_a_record(match: re.Match[str], file_number: str | None) -> bool:
    number, separator = match.group("number"), match.group("sep")
    if separator.strip():
        return True
    # "3 tier layout" is a title; "0003 layers" and the file's own number are not.
    return number.startswith("0") or (file_number is not None and _digits(number) == file_number)


def _digits(number: str | None) -> str | None:
    """The number without leading zeros; None for XXX, NNN and other blanks."""
    if not number or not re.fullmatch(r"[0-9]+(?:\.[0-9]+)*", number):
        return None
    return number.lstrip("0") or "0"


_GENERIC = re.compile(
    rf"^(?:.{{0,40}}\s[-–—]\s)?(?:list of |index of |our |the |about |all )?(?:{'|'.join(re.escape(p) for p in KIND_PHRASES if len(p) > 9 or not p.isascii())}|adrs?|rfcs?|decisions|decision log)"
    r"(?:\s*\((?:adrs?|rfcs?|madr)\))?(?:\s(?:template|index|log|list|overview))?$"
)


def is_generic(text: str) -> bool:
    """Whether a heading is the kind of document, a section of one, or a template's blank."""
    words = folded(text).strip(" :.#")
    if not words or _PLACEHOLDER_TITLE.match(words) or is_placeholder(words) or _GENERIC.match(words):
        return True
    return is_section_name(text)


def is_blank_of_template(heading: str) -> bool:
    """Whether a heading is a template's blank for the title, `{short title}`."""
    words = folded(clean_title(heading).text or plain(heading)).strip(" :.#")
    return bool(words) and bool(_PLACEHOLDER_TITLE.match(words))


@dataclass(frozen=True)
class FileName:
    """What a path says of its record."""

    title: str
    number: str | None
    designation: str
    placeholder_number: bool = False
    dated: bool = False


def read_file_name(path: str) -> FileName:
    """Title words, number and prefix in a file name; a README takes them from its folder."""
    pure = PurePosixPath(path.replace("\\", "/"))
    stem = pure.stem if pure.suffix else pure.name
    if stem.casefold() in {"readme", "index", "_index", "adr", "record", "decision"} and pure.parent.name:
        stem = pure.parent.name
        if re.match(r"^[0-9][^0-9]", stem):
            return FileName(_words(stem), None, "")  # a folder "4-day-week" has no number
    dated = re.match(
        r"^(?:19|20)[0-9]{2}[-_.]?[01][0-9][-_.]?[0-3][0-9](?:[-_ T]+[0-9]{4,6}(?=[-_ ]))?[-_ ]+", stem
    )
    if dated:
        return FileName(_words(stem[dated.end() :]), None, "", False, True)
    match = _STEM.match(stem)
    if match:
        number = match.group("number")
        designation = (match.group("prefix") + number).strip("-_ .")
        blank = _digits(number) is None
        return FileName(_words(match.group("rest")), _digits(number), designation, blank)
    match = _KIND_STEM.match(stem)
    return FileName(_words(match.group("rest") if match else stem), None, "")


def _words(stem: str) -> str:
    text = " ".join(re.sub(r"[-_+]+", " ", stem).split()) if stem.count(" ") < 2 else stem.strip()
    return text[:1].upper() + text[1:] if text else ""


def has_template_word(words: str) -> bool:
    """Whether the words of a name include "template" in some language."""
    return bool(set(re.split(r"[^\w]+|_", folded(words))) & TEMPLATE_WORDS) or any(
        w in folded(words) for w in ("模板", "模版", "テンプレート", "템플릿")
    )
