"""One row of an act that is to be undone: what was done at first, and which way it goes now."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from dataclasses import dataclass
from typing import Any

from django.utils.translation import gettext as _

from records.acts import current_act, new_act_id
from records.changes import Outcome
from records.errors import Refused
from records.models import Revision

UNDO = "undo"
LINKS = ("link", "unlink")

# How an event of a higher floor is taken back, by its verb; its detail names two records, `source` and `target`.
UndoOne = Callable[..., Outcome]
of_higher_floors: dict[str, UndoOne] = {}


def undone_by(verb: str, undo_one: UndoOne) -> None:
    """From a higher floor, when Django is ready: `undo_one(step, actor=, reason=)` takes the event back, or does it again."""
    of_higher_floors[verb] = undo_one


class Told(dict[str, Any]):
    """The detail of an event. What an erasing took out of it (records/erased_traces.py) is Refused, wherever it is asked for."""

    def __init__(self, row: Revision) -> None:
        super().__init__(row.detail or {})
        self._node_id = row.node_id

    def __missing__(self, name: str) -> Any:
        raise Refused(
            _("What this act did is not kept any more: a record that it told of was erased for good."),
            self._node_id,
        )


@dataclass(frozen=True)
class Step:
    """`verb` is that of the first act of the chain, `of` its id; `back` whether it is taken back now, or done again."""

    row: Revision
    verb: str
    of: str
    back: bool
    detail: Mapping[str, Any]

    @property
    def node_id(self) -> str:
        return self.row.node_id

    @property
    def act(self) -> str:
        """The act that is undone, which may be an undo itself."""
        return self.row.act or ""

    def said(self) -> dict[str, Any]:
        """Of the history of the undo."""
        return {"undoes": self.act, "of": self.of, "verb": self.verb, "back": self.back}


def step_of(row: Revision) -> Step:
    """Raises Refused where the history does not keep any more what an undo was of."""
    detail = Told(row)
    if row.verb == UNDO:
        return Step(row, detail["verb"], detail["of"], not detail["back"], detail)
    return Step(row, row.verb, row.act or "", True, detail)


def nodes_refused(outcome: Outcome) -> set[str]:
    return {node_id for node_id, _refusal in outcome.refused}


def this_act() -> str:
    return current_act() or new_act_id()
