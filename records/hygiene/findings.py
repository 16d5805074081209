"""What in a text may not be meant for its reader: orders to the next agent, hidden characters, smuggled links.

Findings name; they never change a text. Every string has an answer, in a time that grows as the text does.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterable, Iterator, Sequence
from dataclasses import dataclass
from functools import lru_cache
from typing import Any

from django.utils.functional import Promise
from django.utils.translation import gettext_lazy as _

from records.hygiene import hidden, orders, smuggled
from records.hygiene.secrets import redact, secrets_in

SECRET = "secret"  # noqa: S105 (the name of a finding)
MOST = 1_000  # of one code in one text
EXCERPT = 160  # characters of the text itself
SHORT = 32  # characters

SENTENCES: dict[str, Promise | str] = {
    orders.ORDERS: _("Gives orders to whoever reads it next."),
    orders.ROLE_MARKER: _("Holds a chat's own markers, with which a text poses as another turn."),
    orders.TOOL_CALL: _("Holds the syntax of a tool call."),
    orders.EXFILTRATION: _("Asks to send or reveal what should stay inside."),
    hidden.HIDDEN_CHARACTERS: _("Holds characters that nobody sees."),
    hidden.BIDI: _("Holds marks that show its letters in another order than they stand."),
    hidden.TAGS: _("Holds tag characters: a text that no page shows and a model reads."),
    hidden.VARIATION: _("Holds variation selectors where none belongs, which can carry a hidden text."),
    hidden.LOOKALIKE: _("Holds a Latin word with letters of another script that look alike."),
    smuggled.OTHER_HOST: _("A link's text names another host than the one it leads to."),
    smuggled.SCRIPT_LINK: _("A link holds a script or a whole document."),
    smuggled.IMAGE_LEAK: _("An image's address would carry something away when it is shown."),
    smuggled.USERINFO: _("An address begins with one host and leads, after an @, to another."),
    smuggled.LOOKALIKE_HOST: _("An address looks like another one, by letters of another script."),
    smuggled.HIDDEN_TEXT: _("Holds text that a page does not show, in a comment or by its style."),
    SECRET: _("Holds what looks like a secret."),
}
CODES = tuple(SENTENCES)
LABELS: dict[str, Promise | str] = {
    orders.ORDERS: _("orders to agents"),
    orders.ROLE_MARKER: _("chat markers"),
    orders.TOOL_CALL: _("tool call"),
    orders.EXFILTRATION: _("exfiltration"),
    hidden.HIDDEN_CHARACTERS: _("hidden characters"),
    hidden.BIDI: _("reordered letters"),
    hidden.TAGS: _("tag characters"),
    hidden.VARIATION: _("variation selectors"),
    hidden.LOOKALIKE: _("look-alike letters"),
    smuggled.OTHER_HOST: _("link to another host"),
    smuggled.SCRIPT_LINK: _("script in a link"),
    smuggled.IMAGE_LEAK: _("image with data"),
    smuggled.USERINFO: _("host before @"),
    smuggled.LOOKALIKE_HOST: _("look-alike host"),
    smuggled.HIDDEN_TEXT: _("hidden text"),
    SECRET: _("secret"),
}


@dataclass(frozen=True, slots=True)
class Finding:
    """One sign: its code, and where it stands (characters, end exclusive)."""

    code: str
    start: int
    end: int


@dataclass(frozen=True, slots=True)
class FieldFinding:
    """All signs of one code in one field: the first one's excerpt, and how many there are."""

    code: str
    field: str
    excerpt: str
    times: int


def findings_in(text: str) -> Sequence[Finding]:
    """Every sign in the text, by place; of one code none overlaps another, and at most MOST are told."""
    return _kept_of_short(text) if len(text) <= SHORT else _looked_through(text)


@lru_cache(maxsize=4096)
def _kept_of_short(text: str) -> tuple[Finding, ...]:
    """Names and small values of JSON come again and again."""
    return tuple(_looked_through(text))


def _looked_through(text: str) -> list[Finding]:
    found = [
        *orders.orders_in(text),
        *_at_most(hidden.hidden_in(text)),
        *_at_most(smuggled.smuggled_in(text)),
    ]
    read = hidden.as_read(text)
    if read is not None:
        disguised, places = read
        found += [
            (code, *_in_original(start, end, places)) for code, start, end in orders.orders_in(disguised)
        ]
    return [Finding(*one) for one in _apart(_at_most(found))]


def _at_most(found: Iterable[tuple[str, int, int]]) -> list[tuple[str, int, int]]:
    counts: Counter[str] = Counter()
    kept = []
    for one in found:
        counts[one[0]] += 1
        if counts[one[0]] <= MOST:
            kept.append(one)
    return kept


def findings_by_field(fields: Iterable[tuple[str, Any]]) -> list[FieldFinding]:
    """Of (field, text or JSON value) pairs: one for each code and field. JSON is looked at string by string."""
    kept: dict[tuple[str, str], FieldFinding] = {}
    for name, value in fields:
        for text in strings_in(value):
            for finding in findings_in(text):
                known = kept.get((finding.code, name))
                _count(
                    kept, finding.code, name, "" if known else excerpt_of(text, finding.start, finding.end)
                )
    return list(kept.values())


def secrets_by_field(fields: Iterable[tuple[str, Any]]) -> list[FieldFinding]:
    """Where a text that came past the door holds a secret: of which kind, never the secret."""
    kept: dict[tuple[str, str], FieldFinding] = {}
    for name, value in fields:
        for text in strings_in(value):
            for secret in secrets_in(text):
                _count(kept, SECRET, name, secret.kind)
    return list(kept.values())


def without_secrets(fields: Iterable[tuple[str, Any]]) -> Iterator[tuple[str, Any]]:
    """The fields as lists of texts that an excerpt may quote."""
    for name, value in fields:
        yield name, [redact(text)[0] for text in strings_in(value)]


def strings_in(value: Any) -> Iterator[str]:
    """Every string of a JSON value, keys too, without recursion."""
    waiting = [value]
    while waiting:
        one = waiting.pop()
        if isinstance(one, str):
            yield one
        elif isinstance(one, dict):
            for key, inner in reversed(one.items()):
                waiting += [inner, str(key)]
        elif isinstance(one, list | tuple):
            waiting.extend(reversed(one))


def excerpt_of(text: str, start: int, end: int) -> str:
    """What stands there with a little around it, on one line, each hidden character as its code point."""
    spare = max(0, EXCERPT - (end - start)) // 2
    first, last = max(0, start - min(spare, 40)), min(len(text), min(end, start + EXCERPT) + min(spare, 40))
    shown = hidden.made_visible(text[first:last])
    return f"{'…' if first else ''}{' '.join(shown.split())}{'…' if last < len(text) else ''}"


def _count(kept: dict[tuple[str, str], FieldFinding], code: str, field: str, excerpt: str) -> None:
    known = kept.get((code, field))
    times = known.times + 1 if known else 1
    kept[code, field] = FieldFinding(code, field, known.excerpt if known else excerpt, times)


def _in_original(start: int, end: int, places: list[int] | None) -> tuple[int, int]:
    if places is None:
        return start, end
    return places[start], places[end - 1] + 1


def _apart(found: list[tuple[str, int, int]]) -> Iterator[tuple[str, int, int]]:
    """In order of place, the longest first; of one code those that begin inside another are left out."""
    reached: dict[str, int] = {}
    for code, start, end in sorted(found, key=lambda one: (one[1], -one[2], one[0])):
        if start >= reached.get(code, 0):
            reached[code] = end
            yield code, start, end
