"""Which decisions of the project a post-mortem names: by id, by the number of its record, by its whole title."""

from __future__ import annotations

import re

from decisions.kind import DECISION
from decisions.models import Decision
from projects.models import Project

_ID = re.compile(r"(?<![\w-])dec_(\d{1,10})(?!\w)")
_NUMBER = re.compile(r"(?<!\w)(?:ADR|RFC|MADR)[- #:]{0,3}0*(\d{1,6})(?!\w)")
SHORTEST_TITLE, FEWEST_WORDS = 16, 3


class Decisions:
    """The project's decisions, read once. A number that two of them have names neither."""

    def __init__(self, project: Project | None) -> None:
        self._keys: set[int] = set()
        self._numbers: dict[str, list[int]] = {}
        self._titles: list[tuple[str, int]] = []
        rows = Decision.objects.active().filter(project=project) if project else Decision.objects.none()
        for key, title, origin in (
            rows.order_by("pk").values_list("pk", "title", "origin").iterator(chunk_size=500)
        ):
            self._keys.add(key)
            number = origin.get("number") if isinstance(origin, dict) else None
            if number is not None:
                self._numbers.setdefault(str(number).lstrip("0"), []).append(key)
            folded = " ".join(title.split()).casefold()
            if len(folded) >= SHORTEST_TITLE and len(folded.split()) >= FEWEST_WORDS:
                self._titles.append((folded, key))

    def named_in(self, text: str) -> list[int]:
        """Keys of those that are named, in order."""
        found = {int(match) for match in _ID.findall(text)} & self._keys
        for number in _NUMBER.findall(text):
            keys = self._numbers.get(number.lstrip("0"), [])
            found |= set(keys) if len(keys) == 1 else set()
        folded = " ".join(text.split()).casefold()
        found |= {key for title, key in self._titles if title in folded}
        return sorted(found)

    @staticmethod
    def node_id(key: int) -> str:
        return DECISION.node_id(key)
