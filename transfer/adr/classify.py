"""What a file is: a record, a template, an index page, empty, or something else; from its path and its content."""

from __future__ import annotations

import re
from pathlib import PurePosixPath

from transfer.adr.document import Document
from transfer.adr.inline import folded, is_placeholder, plain
from transfer.adr.markup import TEXT_SUFFIXES
from transfer.adr.records import Kind
from transfer.adr.titles import FileName, Title, has_template_word, is_blank_of_template
from transfer.adr.vocabulary import CORE_ROLES, TEMPLATE_WORDS, role_of, words_of

_INDEX_NAMES = words_of(
    "readme index _index toc summary contents table-of-contents overview home adr-log adrlog "
    "adr-index adr-list decision-log decisions-log _sidebar sidebar adrs log list nav 索引 目录"
)
_OTHER_NAMES = words_of(
    "contributing changelog license licence copying code_of_conduct code-of-conduct security "
    "governance maintainers authors codeowners glossary support faq notice pull_request_template "
    "issue_template claude agents copilot-instructions requirements cmakelists robots"
)
# What a template's name may hold beside the word "template".
_TEMPLATE_COMPANIONS = words_of(
    "adr adrs madr rfc rfcs ladr decision decisions record records architecture architectural "
    "architecturaldecision any the a my our new short long minimal bare full basic simple default "
    "blank empty standard lite light nygard y yaml md markdown example sample doc document name "
    "title by for of en de fr es pt zh cn ja 架构 决策 记录"
)
_DIRECTIVE = re.compile(
    r"^\s*(?:[-*+>]\s*)*(?:\{[^{}]{2,400}\}|\[[^\[\]]{2,400}\]|<[^<>]{3,400}>|_[^_]{8,600}_|\*[^*]{8,600}\*|\.{3}|…)\s*[.;,]?$"
)
_LINK_LINE = re.compile(
    r"^\s*(?:[-*+|>]|[0-9]{1,4}[.)])?.{0,200}?\]\([^()\s]{1,400}\.(?:md|rst|adoc|markdown)(?:#[^()\s]{0,200})?\)"
)


def kind_of(
    document: Document, path: str, title: Title, name: FileName, *, filled: bool, heading: str
) -> tuple[Kind, str]:
    """Kind and reason; `filled` tells whether a status or a date is written."""
    pure = PurePosixPath(path.replace("\\", "/"))
    suffix = pure.suffix.lower() if pure.name.count(".") and not pure.name.startswith(".") else ""
    if suffix and suffix not in TEXT_SUFFIXES and not re.fullmatch(r"\.[0-9]+|\.\S{7,}|\.\s?.*\s.*", suffix):
        return "not-a-record", f"a {suffix} file is not a text record"
    if not document.text.strip():
        return "empty", "nothing is written in it"
    stem = folded(pure.stem)
    named_by = (
        1 if document.sections and document.sections[0].level == 1 and len(document.sections) > 1 else 0
    )
    core = {role_of(section.heading) for section in document.sections[named_by:]} & CORE_ROLES
    numbered = name.number is not None and name.number != "0"
    template = _template_reason(
        document, pure, title, name, filled=filled, heading=heading, numbered=numbered
    )
    if template:
        return "template", template
    if stem in _OTHER_NAMES:
        return "not-a-record", f"{pure.name} is a page about the repository"
    if stem in _INDEX_NAMES:
        own_page = len(core) >= 3 and (filled or numbered or name.dated)
        if (own_page or {"context", "decision", "consequences"} <= core) and not title.generic:
            return "record", "a folder's page with the parts of a record"
        return "index", f"{pure.name} is a folder's own page"
    if _is_list_of_links(document) and len(core) < 2 and not numbered:
        return "index", "most of its lines are links to other files"
    nameless = title.generic and heading and not (numbered or name.dated or name.designation)
    if nameless and not (role_of(heading) and (filled or len(core) > 1)):
        why = f'its title "{plain(heading)[:80]}" is the kind of document, and it has no number'
        return "not-a-record", why
    if not core and not filled and not numbered and not name.designation and not name.dated:
        words = sum(1 for line in document.visible if line.strip())
        if words < 3 and not title.number:
            return "not-a-record", "it has no number, status, date or part of a record, and little text"
        return "record", "free form: no number, status, date or part of a record"
    return "record", "it has " + ", ".join(
        _evidence(core, filled=filled, numbered=numbered or bool(title.number))
    )


def _evidence(core: set[str | None], *, filled: bool, numbered: bool) -> list[str]:
    found = ["a number"] if numbered else []
    found += ["a status or date"] if filled else []
    found += [f"a {role} part" for role in sorted(str(role) for role in core)]
    return found or ["the name of a record"]


def _template_reason(
    document: Document,
    pure: PurePosixPath,
    title: Title,
    name: FileName,
    *,
    filled: bool,
    heading: str,
    numbered: bool,
) -> str:
    blank_title = is_blank_of_template(heading) if heading else True
    folder = next(
        (
            part
            for part in pure.parts[:-1]
            if set(re.split(r"[-_.\s]+", folded(part))) & TEMPLATE_WORDS
            and len(re.split(r"[-_.\s]+", part)) <= 2
        ),
        None,
    )
    if folder and not (numbered and filled):
        return f"it lies in the folder {folder}"
    if has_template_word(pure.stem):
        tokens = [t for t in re.split(r"[\W_]+", folded(pure.stem)) if t and not t.isdigit()]
        rest = [
            t
            for t in tokens
            if t not in TEMPLATE_WORDS and t not in _TEMPLATE_COMPANIONS and not re.fullmatch(r"[xn]+", t)
        ]
        if (not rest and not (numbered and filled and not blank_title)) or (
            name.placeholder_number or name.number == "0"
        ):
            return f"its name, {pure.name}, says template"
        if blank_title and heading and not (numbered or filled):
            return f"its name, {pure.name}, says template"
        last = bool(set(tokens[-1:]) & TEMPLATE_WORDS) or bool(
            re.search(r"template[-_ ](?:by|for|of)[-_ ]", folded(pure.stem))
        )
        if (last or tokens[0] in TEMPLATE_WORDS) and not numbered and not filled:
            return f"its name, {pure.name}, says template"
    if blank_title and not filled and heading and _directive_share(document) >= 0.2:
        return "its title and its parts are a template's blanks"
    return ""


def _directive_share(document: Document) -> float:
    headed = {section.first for section in document.sections}
    lines = [line for number, line in enumerate(document.visible) if line.strip() and number not in headed][
        :400
    ]
    blanks = sum(
        1
        for line in lines
        if len(line) < 1000
        and (_DIRECTIVE.match(line) or line.lstrip().startswith(">") or is_placeholder(line.strip(" -*+")))
    )
    blanks += sum(1 for section in document.sections if is_placeholder(section.heading))
    return blanks / max(1, len(lines)) if lines else 1.0


def _is_list_of_links(document: Document) -> bool:
    headed = {section.first for section in document.sections}
    lines = [line for number, line in enumerate(document.visible) if line.strip() and number not in headed]
    lines = [line for line in lines if not re.fullmatch(r"[\s|:+-]+", line[:400])]
    links = sum(1 for line in lines if len(line) < 2000 and _LINK_LINE.match(line))
    return links >= 3 and links >= 0.6 * len(lines)
