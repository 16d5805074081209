"""The queues of the inbox. A room that has one registers it when Django is ready."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass, field
from datetime import datetime
from itertools import islice
from typing import Any

from django.db.models import QuerySet
from django.http import HttpRequest

from curation.inbox.asked import Asked
from projects.models import Project
from records.models import ReviewState
from records.pages.rows import Row
from records.paging import capped_counts


@dataclass(frozen=True)
class Entry:
    """One row of a list. `key` names it in the address (`selected=`); `other` the second record of a pair; `whys` are
    (text, is it worth a warning); `value` what a bulk act posts, empty where none is offered; `arrived` since when it
    has been in the queue, where that is known."""

    key: str
    row: Row
    whys: Sequence[tuple[str, bool]] = ()
    other: Row | None = None
    value: str = ""
    arrived: datetime | None = None

    @property
    def shown_state(self) -> str:
        """That all of a queue are unreviewed, or reviewed, needs no saying."""
        return self.row.review_state if self.row.review_state == ReviewState.QUARANTINED else ""


@dataclass
class Listing:
    """One page of a queue. `problems`: filters that cannot be applied, explained, by their names."""

    entries: list[Entry]
    count: int = 0
    noun: str = ""
    next_cursor: str | None = None
    previous_cursor: str | None = None
    sort: str = ""
    filter: Any = None  # with `form`, `drawn_key` and `chips(asked)`, for templates/_filter_bar.html
    problems: dict[str, list[str]] = field(default_factory=dict)


@dataclass(frozen=True)
class Pane:
    """What stands at the right: a template, drawn with `context` beside `asked` and `entry_key`."""

    template: str
    context: dict[str, Any]


@dataclass(frozen=True, kw_only=True)
class Queue:
    """`counted` are the rows whose number is told, capped (records.paging). `listing` answers a page, `keys` the keys of
    its entries alone, `newest` the latest arrivals (so many at most, in their order; none: the count alone), each with
    when it arrived where that is known; `pane` the open entry, or None where it is not (or no longer) in the queue. `order` is its place among the chips; `bulk` names the acts
    offered on many at once, on a selection or on all that `matching` gives (node ids, those of the filter)."""

    key: str
    label: Any
    order: int
    counted: Callable[[Project], Sequence[QuerySet[Any]]]
    listing: Callable[[Asked], Listing]
    keys: Callable[[Asked], list[str]]
    newest: Callable[[Asked, int], Listing]
    pane: Callable[[HttpRequest, Asked], Pane | None]
    sorts: Sequence[tuple[str, Any]] = ()
    bulk: Sequence[str] = ()
    matching: Callable[[Asked], Iterator[str]] | None = None
    empty: tuple[Any, Any] = ("", "")


_queues: dict[str, Queue] = {}


def register(queue: Queue) -> Queue:
    _queues[queue.key] = queue
    return queue


def all_queues() -> Iterator[Queue]:
    return iter(sorted(_queues.values(), key=lambda queue: queue.order))


def queue_named(key: str) -> Queue | None:
    """By its key; the first one where none is named; None where there is no such queue."""
    return _queues.get(key) if key else next(all_queues())


def counts_by_queue(project: Project, *, without: Queue | None = None) -> dict[str, int]:
    """By the key of each queue but one, in their order: one statement."""
    counted = {queue.key: queue.counted(project) for queue in all_queues() if queue is not without}
    numbers = iter(capped_counts(rows for several in counted.values() for rows in several))
    return {key: sum(islice(numbers, len(several))) for key, several in counted.items()}
