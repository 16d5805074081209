"""An act: what one call of a verb wrote, over however many records, tables and transactions. Its rows of the history
have one id, by which it is shown, and undone, as a whole.

Whatever runs through `transactional` is an act, and within another part of that one; `one_act` makes one of several.
"""

from __future__ import annotations

import re
import uuid

from database.transactions import current_unit as current_act
from database.transactions import one_unit as one_act

__all__ = ["current_act", "is_act_id", "new_act_id", "one_act"]
ACT_ID = re.compile(r"[0-9a-f]{32}", re.ASCII)


def new_act_id() -> str:
    """Of a row of the history that belongs to no other: what plain SQL wrote, found while another act runs."""
    return uuid.uuid4().hex


def is_act_id(text: str) -> bool:
    return ACT_ID.fullmatch(text) is not None
