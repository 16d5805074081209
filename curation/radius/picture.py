"""The radius as a small server-drawn picture: origin, what it wrote, what came of that, who was told."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, field
from typing import Any

from django.utils.translation import gettext as _
from django.utils.translation import ngettext

from curation.radius.queries import Radius
from records.kinds import parse_node_id
from records.pages.rows import title_of

WIDTH, COLUMN, BOX_WIDTH, BOX_HEIGHT, GAP, TOP = 960, 250, 200, 26, 8, 26
SHOWN = 9
LETTERS = 25


@dataclass
class Box:
    x: int
    y: int
    text: str
    title: str
    kind: str = ""
    is_more: bool = False

    @property
    def left(self) -> tuple[int, int]:
        return self.x, self.y + BOX_HEIGHT // 2

    @property
    def right(self) -> tuple[int, int]:
        return self.x + BOX_WIDTH, self.y + BOX_HEIGHT // 2

    @property
    def text_y(self) -> int:
        return self.y + 17

    @property
    def text_x(self) -> int:
        return self.x + 12


@dataclass
class Picture:
    """`lines` are SVG paths; sizes are in units of the picture's own box."""

    height: int
    boxes: list[Box] = field(default_factory=list)
    lines: list[str] = field(default_factory=list)
    heads: list[tuple[int, str]] = field(default_factory=list)
    width: int = WIDTH
    box_width: int = BOX_WIDTH
    box_height: int = BOX_HEIGHT


def picture_of(radius: Radius, origin: str) -> Picture | None:
    """None where there is nothing to draw."""
    if not radius.written:
        return None
    columns = [
        [_record(radius, each.node_id) for each in radius.written],
        [_record(radius, each.node_id) for each in radius.derived],
        [(key, text, "") for key, text in _readers(radius)],
    ]
    rows = max(1, *(min(len(column), SHOWN + 1) for column in columns))
    picture = Picture(TOP + rows * (BOX_HEIGHT + GAP))
    titles = [_("wrote or changed"), _("came of it"), _("was told afterwards")]
    start = Box(0, TOP, _short(origin, wide=True), origin)
    picture.boxes.append(start)
    picture.heads.append((0, _("origin")))
    placed: dict[str, Box] = {}
    at = 0
    for title, column in zip(titles, columns, strict=True):
        if not column:
            continue
        at += 1
        picture.heads.append((at * COLUMN, title))
        _place(picture, placed, at * COLUMN, column)
    for each in radius.written:
        _join(picture, start, placed.get(each.node_id))
    for came in radius.derived:
        _join(picture, placed.get(came.via), placed.get(came.node_id))
    for reader in radius.readers:
        for node_id in reader.records[:SHOWN]:
            _join(picture, placed.get(node_id), placed.get(_key(reader)))
    return picture


def _record(radius: Radius, node_id: str) -> tuple[str, str, str]:
    record: Any = radius.records.get(node_id)
    parsed = parse_node_id(node_id)
    return node_id, title_of(record) if record is not None else node_id, parsed[0].name if parsed else ""


def _readers(radius: Radius) -> list[tuple[str, str]]:
    return [(_key(each), _called(each.agent, each.run or each.session)) for each in radius.readers]


def _called(agent: str, place: str) -> str:
    """An agent and where it was at work; of a run's id the first digits tell enough."""
    short = place if len(place) <= 12 else f"{place[:9]}…"
    return " · ".join(filter(None, [agent, short]))


def _key(reader: Any) -> str:
    return f"reader {reader.agent} {reader.session} {reader.run}"


def _place(picture: Picture, placed: dict[str, Box], x: int, column: Sequence[tuple[str, str, str]]) -> None:
    for number, (key, text, kind) in enumerate(column[:SHOWN]):
        box = Box(x, TOP + number * (BOX_HEIGHT + GAP), _short(text), text, kind)
        picture.boxes.append(box)
        placed[key] = box
    more = len(column) - SHOWN
    if more > 0:
        text = ngettext("and %(n)s more", "and %(n)s more", more) % {"n": f"{more:,}"}
        picture.boxes.append(Box(x, TOP + SHOWN * (BOX_HEIGHT + GAP), text, text, is_more=True))


def _join(picture: Picture, one: Box | None, other: Box | None) -> None:
    if one is None or other is None or one is other:
        return
    (x1, y1), (x2, y2) = one.right, other.left
    if one.x == other.x:  # in one column: a bow at its right side
        (x2, y2), bend = other.right, 24
        picture.lines.append(f"M{x1} {y1}C{x1 + bend} {y1} {x2 + bend} {y2} {x2} {y2}")
        return
    middle = (x1 + x2) // 2
    picture.lines.append(f"M{x1} {y1}C{middle} {y1} {middle} {y2} {x2} {y2}")


def _short(text: str, *, wide: bool = False) -> str:
    """What fits into a box; `wide`: of digits, as in ids."""
    most = LETTERS - 3 if wide else LETTERS
    return text if len(text) <= most else f"{text[: most - 1]}…"
