"""A JSON value as lists that fold, alone or with what differs from an older one."""

from __future__ import annotations

import json
from collections.abc import Iterator
from dataclasses import dataclass
from typing import Any

from django.utils.html import escape
from django.utils.safestring import SafeString, mark_safe
from django.utils.translation import gettext as _
from django.utils.translation import gettext_lazy, ngettext

MOST_NODES = 600
DEEPEST = 16
OPEN_LEVELS = 2
SHORT = 240
FOLDED_BEYOND = 12
ADDED, REMOVED, CHANGED = "added", "removed", "changed"
WORDS = {
    ADDED: ("b-good", gettext_lazy("added")),
    REMOVED: ("b-bad", gettext_lazy("removed")),
    CHANGED: ("b-info", gettext_lazy("changed")),
}


class _Absent:
    """No value at all, which null is."""


ABSENT = _Absent()


@dataclass(frozen=True)
class Before:
    """The older value that a tree is compared with."""

    value: Any


@dataclass(frozen=True)
class Difference:
    """How many entries came, went and hold another value; what came or went as a whole counts once."""

    added: int = 0
    removed: int = 0
    changed: int = 0

    @property
    def is_none(self) -> bool:
        return not (self.added or self.removed or self.changed)


def draw_tree(value: Any, before: Before | None = None) -> SafeString:
    """At most MOST_NODES lines, and as many again for what differs. What is left out says so; the page shows the whole
    beside it, as JSON."""
    tree = _Tree(is_compared=before is not None)
    tree.value(value, 0, ABSENT if before is None else before.value)
    if tree.left_out:
        more = ngettext(
            "%s more line, in the JSON below.", "%s more lines, in the JSON below.", tree.left_out
        )
        tree.out.append(f'<p class="meta">{escape(more % f"{tree.left_out:,}")}</p>')
    return mark_safe("".join(tree.out))  # noqa: S308 -- every text goes through escape


def difference(value: Any, before: Any) -> Difference:
    counts = {ADDED: 0, REMOVED: 0, CHANGED: 0}
    pending = [(value, before)]
    while pending:
        now, then = pending.pop()
        if not _same_shape(now, then):
            counts[CHANGED] += not same(now, then)
            continue
        for _key, inner, old in _entries(now, then):
            if inner is ABSENT or old is ABSENT:
                counts[REMOVED if inner is ABSENT else ADDED] += 1
            else:
                pending.append((inner, old))
    return Difference(counts[ADDED], counts[REMOVED], counts[CHANGED])


def same(one: Any, other: Any) -> bool:
    """Alike as JSON: true is not 1, and the order of keys says nothing."""
    return type(one) is type(other) and json.dumps(one, sort_keys=True) == json.dumps(other, sort_keys=True)


def _same_shape(one: Any, other: Any) -> bool:
    return any(isinstance(one, shape) and isinstance(other, shape) for shape in (dict, list))


def _entries(value: Any, before: Any) -> Iterator[tuple[str, Any, Any]]:
    """(key, value now, value before): those that are there in their order, then those that went; items of a list by
    their places, counted from 1."""
    if isinstance(value, dict):
        old = before if isinstance(before, dict) else {}
        for key, inner in value.items():
            yield str(key), inner, old.get(key, ABSENT)
        yield from ((str(key), ABSENT, inner) for key, inner in old.items() if key not in value)
        return
    earlier = before if isinstance(before, list) else []
    for place in range(max(len(value), len(earlier))):
        now = value[place] if place < len(value) else ABSENT
        yield str(place + 1), now, earlier[place] if place < len(earlier) else ABSENT


class _Tree:
    def __init__(self, *, is_compared: bool = False) -> None:
        self.out: list[str] = []
        self.nodes = 0
        self.left_out = 0
        self.is_compared = is_compared

    def value(self, value: Any, level: int, before: Any = ABSENT) -> None:
        if isinstance(value, dict | list) and (value or _same_shape(value, before)):
            self.several(value, level, before)
        else:
            self.out.append(_leaf(value))

    def several(self, value: Any, level: int, before: Any) -> None:
        if level >= DEEPEST:
            self.out.append(
                f'<span class="meta">{escape(_("deeper than is drawn: in the JSON below"))}</span>'
            )
            return
        compared = self.is_compared and _same_shape(value, before)
        self.out.append('<ul class="tree">')
        for key, inner, old in _entries(value, before if compared else ABSENT):
            mark = _mark(inner, old) if compared else ""
            if self.nodes >= MOST_NODES * (2 if mark else 1):
                self.left_out += 1
                continue
            self.nodes += 1
            self.item(key, inner, level, isinstance(value, list), old, mark)
        self.out.append("</ul>")

    def item(self, key: str, inner: Any, level: int, is_place: bool, old: Any, mark: str) -> None:
        name = f'<span class="tree-key{" tree-place" if is_place else ""}"><bdi>{_text(key)}</bdi></span>'
        shown = old if mark == REMOVED else inner
        goes_on = mark == CHANGED and _same_shape(inner, old)
        if mark and not goes_on:
            level_of, word = WORDS[mark]
            name += f' <span class="badge {level_of}">{escape(word)}</span>'
        if not goes_on and (not isinstance(shown, dict | list) or not shown):
            self.out.append(f"<li>{name} {self._leaves(shown, old, mark)}</li>")
            return
        is_open = goes_on or (level + 1 < OPEN_LEVELS and len(shown) <= FOLDED_BEYOND)
        count = ngettext("%d entry", "%d entries", len(shown)) % len(shown)
        self.out.append(
            f"<li><details{' open' if is_open else ''}><summary>{name}"
            f' <span class="meta">{escape(count)}</span></summary>'
        )
        self.several(shown, level + 1, old if goes_on else ABSENT)
        self.out.append("</details>")
        if mark == CHANGED and not goes_on:
            self.out.append(f"<del>{_leaf(old)}</del>")
        self.out.append("</li>")

    def _leaves(self, shown: Any, old: Any, mark: str) -> str:
        if mark == CHANGED:
            return f"<del>{_leaf(old)}</del> <ins>{_leaf(shown)}</ins>"
        tag = {ADDED: "ins", REMOVED: "del"}.get(mark)
        return f"<{tag}>{_leaf(shown)}</{tag}>" if tag else _leaf(shown)


def _mark(inner: Any, old: Any) -> str:
    if inner is ABSENT or old is ABSENT:
        return REMOVED if inner is ABSENT else ADDED
    return "" if same(inner, old) else CHANGED


def _leaf(value: Any) -> str:
    if (
        isinstance(value, dict | list) and value
    ):  # what was there before, in place of which something else stands
        value = json.dumps(value, ensure_ascii=False)
    if isinstance(value, str):
        if len(value) <= SHORT:
            return f'<span class="tree-text"><bdi>{_text(value)}</bdi></span>'
        return (
            f'<details class="tree-long"><summary><bdi>{_text(value[: SHORT // 2])}…</bdi></summary>'
            f'<div class="as-written"><bdi>{_text(value)}</bdi></div></details>'
        )
    said = (
        {None: "null", True: "true", False: "false"}.get(value)
        if value is None or isinstance(value, bool)
        else None
    )
    text = said or ("{}" if value == {} else "[]" if value == [] else str(value))
    return f'<code class="tree-value">{escape(text)}</code>'


def _text(text: str) -> str:
    """A NUL is no character of HTML: its picture stands for it."""
    return escape(text.replace("\x00", "␀"))
