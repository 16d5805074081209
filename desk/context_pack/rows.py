"""View-models of the Recall page."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

from django.utils.translation import gettext as _
from django.utils.translation import gettext_lazy

from desk.context_pack.candidates import LeftOut
from desk.context_pack.pack import Pack
from desk.context_pack.pack_item import PackedItem
from desk.context_pack.queries import served_this_week
from records.pages.rows import Row, row_of

SECTION_LABELS = {
    "session": gettext_lazy("Session"),
    "pitfalls": gettext_lazy("Pitfalls to avoid"),
    "incidents": gettext_lazy("Similar incidents"),
    "decisions": gettext_lazy("Similar decisions"),
    "recent": gettext_lazy("Recent decisions"),
    "patterns": gettext_lazy("Trusted patterns"),
}
REASONS = {
    "budget": gettext_lazy("the budget was spent"),
    "k": gettext_lazy("its section has enough"),
    "duplicate": gettext_lazy("says the same as"),
    "superseded": gettext_lazy("superseded by"),
    "unreviewed": gettext_lazy("no person approved it"),
    "confidence": gettext_lazy("its confidence is below 0.80"),
}


@dataclass
class ItemRow:
    """An item as the page shows it; `section` where it begins one. `share` is that of the budget, 0 to 1."""

    item: PackedItem
    row: Row
    section: str
    why: str
    facts: list[tuple[str, str]]
    share: float
    served: int


def item_rows(pack: Pack) -> list[ItemRow]:
    served = served_this_week([item.candidate.node_id for item in pack.items])
    rows, section = [], ""
    for item in pack.items:
        one = item.candidate
        label = "" if one.section == section else str(SECTION_LABELS[one.section])
        section = one.section
        rows.append(
            ItemRow(
                item=item,
                row=row_of(one.record),
                section=label,
                why=", ".join(map(_why, one.why)),
                facts=_facts(item),
                share=item.tokens / pack.asked.budget,
                served=served.get(one.node_id, 0),
            )
        )
    return rows


@dataclass
class Segment:
    """One item's stretch of the bar of tokens: place and width in thousandths of the budget."""

    kind: str
    start: float
    width: float


def segments(pack: Pack) -> list[Segment]:
    found, at = [], 1000 * pack.frame_tokens / pack.asked.budget
    found.append(Segment("frame", 0, round(at, 2)))
    for item in pack.items:
        width = 1000 * item.tokens / pack.asked.budget
        found.append(Segment(item.candidate.kind.name, round(at, 2), round(width, 2)))
        at += width
    return found


@dataclass
class LeftOutRow:
    row: Row
    section: str
    score: float
    reason: str
    of: str


def left_out_rows(pack: Pack) -> list[LeftOutRow]:
    return [_left_out_row(one) for one in pack.left_out]


def _left_out_row(one: LeftOut) -> LeftOutRow:
    return LeftOutRow(
        row_of(one.record), str(SECTION_LABELS[one.section]), one.score, str(REASONS[one.reason]), one.of
    )


def _facts(item: PackedItem) -> list[tuple[str, str]]:
    one = item.candidate
    facts: list[tuple[Any, str]] = [
        (_("score"), f"{item.score:.2f}"),
        (_("relevance"), f"{one.relevance:.2f}"),
    ]
    if one.cosine is not None:
        facts.append((_("cosine"), f"{one.cosine:.2f}"))
    return [*facts, (_("trust"), f"{item.record.trust:.2f}")]


def _why(said: str) -> str:
    """What found an item, in the reader's words."""
    first, _space, rest = said.partition(" ")
    plain = {
        "words": _("words"),
        "meaning": _("meaning"),
        "phrase": _("words side by side"),
        "recent": _("decided in the last 30 days"),
        "successor": _("holds in place of one that was found"),
        "session": _("the session asked for"),
    }
    if first == "category":
        return _("of the category %s") % rest
    if first == "outcome":
        return _("through its outcome %s") % rest
    return plain.get(said, said)
