"""From the words a status is written in to one of accepted, pending, rejected, superseded, deprecated."""

from __future__ import annotations

import re
from dataclasses import dataclass, field

from transfer.adr.dates import FoundDate, find_dates
from transfer.adr.inline import folded, plain, unbraced
from transfer.adr.statuswords import ACCEPTED, PENDING, SUPERSEDED, StatusWord, find_status_words

_BULLET = re.compile(r"^\s*(?:>\s*)*(?:[-*+•]|[0-9]{1,3}[.)])\s+")
_BOX = re.compile(r"^\s*(?:[-*+]\s+)?\[([ xX✓✔])\]\s*")
_INLINE_BOX = re.compile(r"\[([ xX✓✔])\]\s*([^\[\]\n]{1,60})")
_QUOTE = re.compile(r"^\s*>+ ?")
_LEAD_IN = re.compile(
    r"^(?:(?:current |adr |decision )?(?:status|state)\s*(?:[:：=]|is|-)\s*|状态\s*[:：]\s*|(?:this|the) (?:adr|decision|proposal|record|rfc|document)\s+|"
    r"(?:is|was|has been|have been|are|now|currently|still|officially|provisionally|tentatively|conditionally|fully|partially|partly|mostly|"
    r"initially|to be|been|marked as|we have|it is|it was)\s+|[\W_]+)+"
)  # fmt: skip
_RELATION_ONLY = re.compile(
    r"(?:supersedes|supercedes|replaces|amends|amended by|clarifies|clarified by|extends|n/a|none|-)\b"
)
_PARTLY = re.compile(r"\b(?:partial(?:ly)?|partly|in part|mostly|provisional(?:ly)?|tentative(?:ly)?)\b|部分")
_SEPARATORS = re.compile(r"\||/|／|｜|、|;|,|，|\bor\b|\bou\b|\boder\b|\bo\b|或")
_PLACEHOLDER_WORDS = re.compile(
    r"y{2,4}[-/.]m{2}[-/.]d{2}|d{2}[-/.]m{2}[-/.]y{2,4}|adr[- ]?(?:x{2,}|n{2,})|\.\.\.|…|\[?what is the status|choose one|one of\b|must be\b|may be \"?proposed|status of (?:this|the) (?:adr|decision)\?",
    re.IGNORECASE,
)


@dataclass
class StatusReading:
    """What a status text says: the status, the words, each dated entry, and what could be read two ways."""

    status: str | None = None
    written: str = ""
    dated: list[tuple[FoundDate, str]] = field(default_factory=list)
    ambiguities: list[str] = field(default_factory=list)
    unfilled: bool = False


@dataclass(frozen=True)
class _Line:
    text: str  # plain, one case
    words: list[StatusWord]
    dates: list[FoundDate]
    leads: bool  # the status word opens the line


def read_status(written: str) -> StatusReading:
    """The status a metadata value or a status section states; unfilled lists of choices state nothing."""
    reading = StatusReading(written=written.strip()[:2000])
    lines: list[_Line] = []
    for raw in _statement_lines(written[:6000]):
        line = _line(raw)
        if line is None:
            continue
        if _is_choice(line, raw):
            chosen = _chosen_of(raw)
            if chosen is None:
                reading.unfilled = True
                continue
            reading.ambiguities.append(
                f'status is picked from a list of choices by its markup: "{plain(raw)[:120]}"'
            )
            lines.append(chosen)
            continue
        lines.append(line)
    _settle(reading, lines)
    return reading


def _statement_lines(written: str) -> list[str]:
    lines = [
        line
        for line in written.split("\n")
        if line.strip() and not re.fullmatch(r"\s*(?:-{3,}|\*{3,}|_{3,}|={3,})\s*", line)
    ]
    unquoted = [line for line in lines if not line.lstrip().startswith(">")]
    lines = unquoted or [_QUOTE.sub("", line) for line in lines]
    boxes = [line for line in lines if _BOX.match(line)]
    if boxes:
        ticked = [_BOX.sub("", line) for line in lines if (m := _BOX.match(line)) and m.group(1).strip()]
        return ticked or [line for line in lines if not _BOX.match(line)]
    return [_BULLET.sub("", line) for line in lines]


def _line(raw: str) -> _Line | None:
    text = folded(unbraced(plain(unbraced(raw))))
    if not text:
        return None
    dates = find_dates(text)
    without_dates = text
    for found in reversed(dates):
        without_dates = (
            without_dates[: found.start] + " " * (found.end - found.start) + without_dates[found.end :]
        )
    words = find_status_words(without_dates)
    opening = _LEAD_IN.sub("", without_dates)
    leads = bool(words) and opening.startswith(words[0].text)
    return _Line(text, words, dates, leads)


def _is_choice(line: _Line, raw: str) -> bool:
    kinds = {word.status for word in line.words}
    names = {word.text for word in line.words}
    if _PLACEHOLDER_WORDS.search(line.text) and len(names) >= 2:
        return True
    if len(names) < 2:
        return False
    if "|" in line.text and len(kinds) >= 2:
        return True
    pieces = [piece for piece in _SEPARATORS.split(line.text) if piece.strip()]
    bare = sum(1 for piece in pieces if find_status_words(piece) and len(piece.split()) <= 4)
    if len(kinds) >= 3 and bare >= 3:
        return True
    # "proposed / accepted" is a choice; "accepted / implemented" is one status said twice.
    return (
        len(kinds) >= 2
        and len(pieces) == bare
        and bool(re.search(r"[/／]|\bor\b|或", line.text))
        and not line.dates
    )


def _chosen_of(raw: str) -> _Line | None:
    ticked = [label for mark, label in _INLINE_BOX.findall(raw) if mark.strip()]
    strong = ticked or re.findall(r"(?:\*\*|__)([^*_\n]{2,60})(?:\*\*|__)", raw)
    if len(strong) != 1:
        return None
    line = _line(strong[0])
    return line if line is not None and line.words and len({w.status for w in line.words}) == 1 else None


def _settle(reading: StatusReading, lines: list[_Line]) -> None:
    reading.dated = [pair for each in lines for pair in _dated_statuses(each)]
    stated = [each for each in lines if each.words and each.leads and not each.dates]
    undated_first = next((each for each in lines if each.words and not each.dates), None)
    if len(reading.dated) > 1 or (reading.dated and not stated):
        in_order = reading.dated
        days = [min(found.readings) for found, _ in in_order]
        latest = max(days)
        if days[0] > days[-1]:
            in_order = in_order[::-1]  # newest first
        reading.status = [status for found, status in in_order if min(found.readings) == latest][-1]
        if stated and stated[0].words[0].status != reading.status:
            reading.ambiguities.append(
                f'dated statuses end with {reading.status}, an undated line says "{stated[0].text[:80]}"'
            )
        return
    line: _Line | None = stated[0] if stated else undated_first
    if line is None:
        if reading.dated:
            reading.status = reading.dated[-1][1]
        elif lines and not reading.unfilled and not _RELATION_ONLY.match(lines[0].text):
            reading.ambiguities.append(f'status is in words that are not known: "{lines[0].text[:120]}"')
        return
    word = line.words[0]
    reading.status = word.status
    _later_words(reading, line, lines)
    if _PARTLY.search(line.text):
        reading.ambiguities.append(f'status is qualified: "{line.text[:120]}"')
    elif not line.leads and len(line.text.split()) > 8:
        reading.ambiguities.append(f'status is taken from a sentence: "{line.text[:120]}"')


def _later_words(reading: StatusReading, chosen: _Line, lines: list[_Line]) -> None:
    """A decision that was accepted and then replaced says both; the last state it names holds."""
    for line in lines:
        own = line is chosen
        candidates = (
            line.words[1:] if own else (line.words[:1] if line.leads or len(line.text.split()) <= 4 else [])
        )
        for word in candidates:
            if word.status == reading.status or (
                own and reading.status == PENDING and word.status != SUPERSEDED
            ):
                continue
            if word.status == SUPERSEDED and len(line.text) < 300 and not _PARTLY.search(line.text):
                reading.status = SUPERSEDED
                return
            short = len(line.text.split()) <= 4
            if _PARTLY.search(line.text):
                reading.ambiguities.append(f'status {reading.status} is followed by "{line.text[:80]}"')
                return
            if not own and short and lines.index(line) > lines.index(chosen):
                reading.ambiguities.append(
                    f"several undated statuses, {reading.status} and then {word.status}: the last is taken"
                )
                reading.status = word.status
            elif own and short and word.status not in {PENDING, ACCEPTED}:
                reading.status = word.status


def _dated_statuses(line: _Line) -> list[tuple[FoundDate, str]]:
    if not line.dates or not line.words or not (line.leads or len(line.text) < 200):
        return []
    if len(line.dates) == 1:
        return [
            (
                line.dates[0],
                line.words[-1].status if line.words[-1].status == SUPERSEDED else line.words[0].status,
            )
        ]
    pairs: list[tuple[FoundDate, str]] = []
    date_first = line.dates[0].start < line.words[0].start
    for index, found in enumerate(line.dates):
        if date_first:
            until = line.dates[index + 1].start if index + 1 < len(line.dates) else len(line.text)
            near = [word for word in line.words if found.end <= word.start < until]
        else:
            since = line.dates[index - 1].end if index else 0
            near = [word for word in line.words if since <= word.start < found.start]
        if near:
            pairs.append((found, near[0].status))
    return pairs
