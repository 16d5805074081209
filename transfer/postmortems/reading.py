"""A file's bytes -> its post-mortems, or why it has none."""

from __future__ import annotations

import re
from pathlib import PurePosixPath

from transfer.adr.dates import find_dates
from transfer.adr.document import decode
from transfer.adr.inline import is_placeholder, plain
from transfer.importing.folders import FoundFile, read_file
from transfer.postmortems import forms
from transfer.postmortems.records import NotOne, PostMortem, Written
from transfer.postmortems.steps import steps_of
from transfer.postmortems.times import span_of
from transfer.postmortems.vocabulary import NARRATIVE, NO_SEVERITY, category_in, normal, severity_of

TEST_FOLDERS = frozenset({"test", "tests", "testdata", "fixtures", "spec", "specs"})
TITLE_LENGTH, CATEGORY_LENGTH, TAG_LENGTH = 255, 50, 100
SUMMARY_SENTENCES = 2
FEWEST_LETTERS = 4  # a title of less, such as a zone behind its date, names no trouble
_DAY = r"(?:\d{4}-\d{1,2}-\d{1,2}|\d{1,2}[./]\d{1,2}[./]\d{4})"
# "Incident on 2020-02-12 - " names no trouble: every report of the folder begins so.
_PREFIX = re.compile(
    rf"^(?:(?:incident|outage|post[- ]?mortem|retrospective|review|rca|report)\W*)+(?:(?:on|of|for|from|at)\s+)?"
    rf"(?:{_DAY})?\s*[-–—:|]*\s*|^{_DAY}\s*[-–—:|]*\s*",
    re.IGNORECASE,
)
_SENTENCE = re.compile(r"(?<=[.!?。！？])(?<!\bi\.e\.)(?<!\be\.g\.)(?:\s+|(?<=[。！？]))(?=\S)")
_BULLET = re.compile(r"^\s*(?:[-*+]|\d+[.)])\s+")
_TABLE = re.compile(r"^\s*\|")


def read_one_file(file: FoundFile) -> list[PostMortem]:
    """The post-mortems of a file below the folder; raises NotOne with the reason where there are none."""
    data, skipped, problem = b"", file.skipped, file.problem
    if not skipped and not problem and TEST_FOLDERS & set(PurePosixPath(file.path).parts[:-1]):
        skipped = "lies in a folder of tests: give that folder as the path to read it"
    if not skipped and not problem:
        data, skipped, problem = read_file(file)
    if skipped or problem:
        raise NotOne(problem or skipped, bad=bool(problem))
    return read_postmortems(data, file.path)


def read_postmortems(data: bytes, path: str) -> list[PostMortem]:
    """Raises NotOne with the reason where the file holds none."""
    decoded = decode(data)
    if not decoded.text.strip():
        raise NotOne("empty")
    found = forms.read(decoded.text, path)
    several = len(found) > 1
    return [
        _post_mortem(one, path, f"{path}#{number}" if several else path, list(decoded.notes))
        for number, one in enumerate(found, 1)
    ]


def _post_mortem(written: Written, path: str, place: str, said: list[str]) -> PostMortem:
    said += written.notes
    signal = written.text_of("signal")
    title = _title(written, signal, path, said)
    severity, severity_written = _severity(written, said)
    cause = written.text_of("cause")
    resolution = written.text_of("resolution")
    prevention = written.text_of("prevention")
    began, over = span_of(written, said)
    if not prevention:
        said.append("nothing is written on how to avoid it")
    texts = {
        "cause": cause,
        "impact": written.text_of("impact"),
        "context": written.text_of(*NARRATIVE),
        "resolution": resolution,
        "prevention": prevention,
    }
    return PostMortem(
        key=f"id {written.identity}" if written.identity else place,
        path=path,
        title=title,
        title_written=written.title,
        category=_category(written, title, said),
        severity=severity,
        severity_written=severity_written,
        signal=signal or _first_sentences(texts["context"]) or title,
        whole="\n\n".join(
            part.verbatim for part in written.parts if part.role != "prevention" and part.verbatim
        ),
        prevention="\n\n".join(_avoiding(written)),
        summary=_summary(title, signal, texts),
        started=began,
        ended=over,
        resolved=bool(resolution) or over is not None,
        texts={name: text for name, text in texts.items() if text},
        steps=steps_of(written),
        fields=written.fields,
        tags=["post-mortem", *(tag for tag in written.tags if len(tag) <= TAG_LENGTH)],
        said=said,
    )


def _avoiding(written: Written) -> list[str]:
    """Its label is told by the column; a second one, and what is under it, keeps its own."""
    parts = [part for part in written.parts if part.role == "prevention"]
    return [part.text if len(parts) == 1 else part.verbatim for part in parts]


def _title(written: Written, signal: str, path: str, said: list[str]) -> str:
    title = re.sub(r"^[^\w\[\](){}<>*\"'`./@#&$«„“]+", "", " ".join(plain(written.title).split()))
    bare = _PREFIX.sub("", title).strip()
    dated = next((found for found in find_dates(bare) if found.start == 0), None) if bare.isascii() else None
    bare = bare[dated.end :].strip(" -:,") if dated else bare
    if sum(letter.isalpha() for letter in bare) < FEWEST_LETTERS and not re.search(
        r"[\u3040-\u9fff]{2}", bare
    ):
        bare = _first_sentences(signal or written.text_of("impact") or written.text_of(*NARRATIVE), 1)
        said.append(
            "its title names no trouble: its first sentence is taken"
            if bare
            else "no title: the file name is taken"
        )
    bare = bare or title or path
    if len(bare) > TITLE_LENGTH:
        said.append(f"the title has {len(bare)} characters: shortened, whole in the run's trigger")
        bare = bare[: TITLE_LENGTH - 1].rsplit(" ", 1)[0][: TITLE_LENGTH - 1] + "…"
    return bare


def _severity(written: Written, said: list[str]) -> tuple[str, str]:
    """(ours, as written); medium where none is written or none is known, which is said."""
    found = [
        part.text
        for part in written.parts
        if part.role == "severity" and normal(part.label) != "severity rationale"
    ]
    found += [value for name, value in written.fields.items() if normal(name) in ("severity", "priority")]
    lines = (text.strip().split("\n")[0].strip() for text in found)
    words = next((line for line in lines if line and not is_placeholder(line)), "")
    if not words:
        said.append("no severity is written: medium")
        return NO_SEVERITY, ""
    known = severity_of(words)
    if known is None:
        said.append(f"severity {words[:60]!r} is none that is known: medium")
    return known or NO_SEVERITY, words


def _category(written: Written, title: str, said: list[str]) -> str:
    texts = [part.text for part in written.parts if part.role == "category" and "\n" not in part.text.strip()]
    texts += [value for name, value in written.fields.items() if normal(name) == "category"]
    words = next((" ".join(plain(text).split()) for text in texts if text.strip()), "")
    if not words:
        return category_in(title, written.text_of("signal", "cause", "context", "impact"))
    if len(words) > CATEGORY_LENGTH:
        said.append(f"the category has {len(words)} characters: shortened")
        return words[: CATEGORY_LENGTH - 1] + "…"
    return words


def _summary(title: str, signal: str, texts: dict[str, str]) -> str:
    """What a later run should know of this one: whole sentences of its parts, not the parts."""
    told = (
        ("Seen", signal),
        ("Impact", texts["impact"]),
        ("Cause", texts["cause"]) if texts["cause"] else ("What happened", texts["context"]),
        ("Resolved by", texts["resolution"]),
        ("Avoid by", texts["prevention"]),
    )
    lines = [f"{label}: {said}" for label, text in told if (said := _first_sentences(text))]
    return "\n\n".join([title, *lines])


def _first_sentences(text: str, most: int = SUMMARY_SENTENCES) -> str:
    """The first sentences of running text and items; an item is a sentence, tables and code are none."""
    sentences: list[str] = []
    fenced, paragraph = False, ""
    for line in [*text.split("\n"), ""]:
        if line.lstrip().startswith(("```", "~~~")):
            fenced = not fenced if line.count("```") < 2 else fenced
            continue
        if fenced or _TABLE.match(line) or line.lstrip().startswith(("#", "---", "===")):
            continue
        if not line.strip() or _BULLET.match(line):
            sentences += [one for one in _SENTENCE.split(paragraph) if one.strip()]
            paragraph = ""
        if line.strip():
            paragraph = f"{paragraph} {plain(_BULLET.sub('', line), keep_code=True).strip()}".strip()
    worded = [one for one in sentences if re.search(r"\w", one)]
    telling = [one for one in worded if not _only_a_link(one)] or worded
    return " ".join(one if one[-1:] in ".!?:。！？" else f"{one}." for one in telling[:most])


def _only_a_link(sentence: str) -> bool:
    """`Timeline: [Timeline](…)`: nothing is said, something is pointed to."""
    words = re.sub(r"<?https?:\S+|<https?:[^>]*>", "", sentence)
    return len(words.split()) < 4 or bool(re.match(r"(?i)^(slack )?(thread|timeline)\b", sentence))
