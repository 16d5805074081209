"""Ids beyond all that are in use, for rows whose own id is taken."""

from __future__ import annotations


class NewKeys:
    """Counts up from the greatest in use, there and here, so that no later row finds its own id taken by it."""

    def __init__(self, *greatest: int) -> None:
        self._last = max(0, *greatest)

    def __call__(self) -> int:
        self._last += 1
        return self._last
