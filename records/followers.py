"""What higher floors do when records changed: registered by them in AppConfig.ready, called from below.

`written` and `gone` are called in the transaction of every act, the sweep's too: with records whose rows were inserted or
changed, and with node ids whose rows were deleted. `up_to_date` follows the worker: words, vectors and similarities of these records are as new as the records. Called
before that is acknowledged, so that a crash calls it again: a follower is idempotent. `hidden` is called in the
transaction of a verb that took active records away (archived, merged, rejected, quarantined). A chore runs now and
then beside one of the workers; it ends within some seconds and says whether more is to be done at once.
"""

from __future__ import annotations

import time
from collections.abc import Callable, Collection, Sequence
from typing import Any

Follower = Callable[[Collection[str]], object]
RecordFollower = Callable[[Sequence[Any]], object]
Chore = Callable[[], bool]

_written: list[RecordFollower] = []
_gone: list[Follower] = []
_up_to_date: list[Follower] = []
_hidden: list[Follower] = []
_chores: dict[str, Chore] = {}


class _Resting:
    """A chore that is left alone for a while after it found nothing more to do."""

    def __init__(self, chore: Chore, seconds: float) -> None:
        self._chore, self._seconds = chore, seconds
        self._rests_until = 0.0

    def __call__(self) -> bool:
        if time.monotonic() < self._rests_until:
            return False
        more = self._chore()
        if not more:
            self._rests_until = time.monotonic() + self._seconds
        return more


def follow(
    *,
    written: RecordFollower | None = None,
    gone: Follower | None = None,
    up_to_date: Follower | None = None,
    hidden: Follower | None = None,
) -> None:
    """From now on call these with node ids; `written` with the records themselves."""
    if written is not None and written not in _written:
        _written.append(written)
    for follower, followers in ((gone, _gone), (up_to_date, _up_to_date), (hidden, _hidden)):
        if follower is not None and follower not in followers:
            followers.append(follower)


def add_chore(name: str, chore: Chore, *, every: float = 0.0) -> None:
    """`name` names its lease, so that one worker at a time does it. Once all is done it rests for `every` seconds."""
    _chores[name] = _Resting(chore, every) if every else chore


def chores() -> dict[str, Chore]:
    return dict(_chores)


def tell_up_to_date(node_ids: Collection[str]) -> None:
    """These records, gone ones among them, are up to date in words, vectors and similarities."""
    for follower in _up_to_date if node_ids else ():
        follower(node_ids)


def tell_hidden(node_ids: Collection[str]) -> None:
    """These records were active and are not any more. Inside the verb's transaction."""
    for follower in _hidden if node_ids else ():
        follower(node_ids)


def tell_written(records: Sequence[Any]) -> None:
    """These rows were inserted or changed, as read back. Inside the act's transaction."""
    for follower in _written if records else ():
        follower(records)


def tell_gone(node_ids: Collection[str]) -> None:
    """These rows are deleted. Inside the act's transaction."""
    for follower in _gone if node_ids else ():
        follower(node_ids)
