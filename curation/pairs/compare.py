"""Two records side by side, field by field: what each says, with the words marked that only it has."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any

from django.utils.html import format_html
from django.utils.safestring import SafeString
from django.utils.translation import gettext as _

from records.diff import Piece, fold, render_diff, word_diff
from records.hygiene.kept import text_columns
from records.images import image_of
from records.kinds import kind_of
from records.models import Attention
from records.pages.history import as_text
from records.pages.rows import Row, row_of

# Where less than this share of the words is common, marks would be on nearly all of them and tell nothing.
LEAST_COMMON = 0.25
NOT_COMPARED = frozenset({"origin", "source_text"})


@dataclass(frozen=True)
class Field:
    """One column of both. Where they are the same, `one` holds it; `marked`: the words that differ are."""

    label: str
    one: SafeString
    other: SafeString
    same: bool
    marked: bool


@dataclass(frozen=True)
class Side:
    """What stands above one of the two: its row, and (label, words) of what to weigh it by."""

    row: Row
    facts: Sequence[tuple[str, str]]
    outcome: tuple[str, str] | None


@dataclass(frozen=True)
class Comparison:
    one: Side
    other: Side
    fields: Sequence[Field]
    is_one_kind: bool

    @property
    def differing(self) -> list[Field]:
        return [field for field in self.fields if not field.same]

    @property
    def same(self) -> list[Field]:
        return [field for field in self.fields if field.same]


def comparison_of(one: Any, other: Any) -> Comparison:
    """Of any two records; of two kinds their whole texts are compared. Two or three queries."""
    is_one_kind = kind_of(one) is kind_of(other)
    served = dict(
        Attention.objects.filter(node_id__in=[one.node_id, other.node_id])
        .order_by()
        .values_list("node_id", "read_count")
    )
    outcomes = kind_of(one).outcome_badges([one, other]) if is_one_kind else {}
    fields = _columns(one, other) if is_one_kind else _texts(one, other)
    sides = [_side(record, served.get(record.node_id, 0), outcomes) for record in (one, other)]
    return Comparison(sides[0], sides[1], fields, is_one_kind)


def older_first(one: Any, other: Any) -> tuple[Any, Any]:
    """The two in the order in which they came to be; of the same moment by their ids."""
    return tuple(sorted((one, other), key=_age))  # type: ignore[return-value]


def _age(record: Any) -> tuple[float, str]:
    when = getattr(record, kind_of(record).when) or record.created_at
    return when.timestamp(), record.node_id


def _side(record: Any, served: int, outcomes: dict[str, tuple[str, str]]) -> Side:
    row = row_of(record)
    facts = [(str(label), text) for label, text in kind_of(record).facts_of(record) if label]
    by = record.source_name or str(record.get_source_kind_display())
    written = [(_("written by"), by)]
    if record.source_session:
        written.append((_("in session"), record.source_session))
    told = [(_("told to agents"), _("%s times") % f"{served:,}" if served else _("never"))]
    return Side(
        row,
        [*written, (_("trust"), f"{record.trust:.2f}"), *facts, *told],
        outcomes.get(record.node_id),
    )


def _columns(one: Any, other: Any) -> list[Field]:
    images = image_of(one), image_of(other)
    columns = {column.name: column for column in type(one)._meta.concrete_fields}
    names = [name for name in text_columns(type(one)) if name not in NOT_COMPARED]
    values = [(name, as_text(images[0].get(name)), as_text(images[1].get(name))) for name in names]
    return [
        _field(str(columns[name].verbose_name).capitalize(), first, second)
        for name, first, second in values
        if first or second
    ]


def _texts(one: Any, other: Any) -> list[Field]:
    texts = [kind_of(record).body_of(record) for record in (one, other)]
    return [
        _field(_("Title"), one.heading, other.heading),
        Field(_("Text"), format_html("{}", texts[0]), format_html("{}", texts[1]), same=False, marked=False),
    ]


def _field(label: str, one: str, other: str) -> Field:
    if one == other:
        return Field(label, format_html("{}", one), SafeString(""), same=True, marked=False)
    pieces = word_diff(one, other)
    if not one or not other or _common(pieces) < LEAST_COMMON * max(len(one), len(other)):
        return Field(label, format_html("{}", one), format_html("{}", other), same=False, marked=False)
    folded = fold(pieces)
    before = render_diff([piece for piece in folded if piece.op != "ins"])
    after = render_diff([piece for piece in folded if piece.op != "del"])
    return Field(label, before, after, same=False, marked=True)


def _common(pieces: Sequence[Piece]) -> int:
    """How many characters both have."""
    return sum(len(piece.text) for piece in pieces if piece.op == "same")
