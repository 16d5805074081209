"""The frame of the inbox: queues, the list of one of them, and the open entry."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

from django.http import Http404, HttpRequest
from django.utils.translation import gettext as _

from curation.inbox.actions import BULK
from curation.inbox.asked import Asked
from curation.inbox.queues import Listing, Queue, all_queues, counts_by_queue, queue_named
from records.paging import count_label


def frame_context(request: HttpRequest, asked: Asked) -> dict[str, Any]:
    """For templates/inbox/page.html. Without `selected` the first entry is open beside the list."""
    queue = queue_or_404(asked)
    listing = queue.listing(asked)
    opened = asked.selected or (listing.entries[0].key if listing.entries else "")
    chips = listing.filter.chips() if listing.filter is not None else []
    noun = _("record") if listing.count == 1 else _("records")
    return {
        **pane_context(request, Asked(asked.project, _selecting(asked, opened))),
        "asked": asked,
        "queues": _queue_chips(asked, queue, listing, filtered=bool(chips)),
        "listing": listing,
        "entries": [
            (entry, *urls)
            for entry, urls in zip(
                listing.entries, asked.urls(entry.key for entry in listing.entries), strict=True
            )
        ],
        "opened": opened,
        "sorts": [
            (name, label, asked.url(sort=name, cursor=None, selected=None)) for name, label in queue.sorts
        ],
        "bulk_url": asked.url("inbox:bulk", selected=None),
        "bulk_verbs": [(verb, *BULK[verb]) for verb in queue.bulk],
        "filter": listing.filter,
        "chips": chips,
        "kept_fields": [(name, asked.query[name]) for name in ("queue", "sort") if asked.query.get(name)],
        "clear_url": f"{asked.url().partition('?')[0]}?queue={queue.key}",
        "count": listing.count,
        "count_label": count_label(listing.count),
        "noun": listing.noun or noun,
        "next_url": asked.url(cursor=listing.next_cursor, selected=None) if listing.next_cursor else None,
        "previous_url": asked.url(cursor=listing.previous_cursor, selected=None)
        if listing.previous_cursor
        else None,
    }


def pane_context(request: HttpRequest, asked: Asked) -> dict[str, Any]:
    """The open entry alone; `pane` None: it is not, or no longer, in the queue."""
    queue = queue_or_404(asked)
    pane = queue.pane(request, asked) if asked.selected else None
    context = dict(pane.context) if pane is not None else {}
    return {
        **context,
        "asked": asked,
        "queue": queue,
        "pane": pane,
        "entry_key": asked.selected,
        "list_url": asked.url(selected=None),
        "here": asked.url(),
        "act_url": asked.url("inbox:act"),
    }


def queue_or_404(asked: Asked) -> Queue:
    queue = queue_named(asked.queue)
    if queue is None:
        raise Http404
    return queue


def next_key(keys: Sequence[str], key: str) -> str:
    """Which entry is open once `key` has left the list: the one below it, else the one above, else none."""
    if key not in keys:
        return keys[0] if keys else ""
    at = keys.index(key)
    rest = keys[at + 1 :] or keys[:at][::-1]
    return rest[0] if rest else ""


def _selecting(asked: Asked, key: str) -> Any:
    query = asked.query.copy()
    query["selected"] = key
    return query


def _queue_chips(asked: Asked, current: Queue, listing: Listing, *, filtered: bool) -> list[dict[str, Any]]:
    base = asked.url().partition("?")[0]
    # The list has counted its own, unless it is narrowed.
    counts = {current.key: listing.count} | counts_by_queue(
        asked.project, without=None if filtered or listing.problems else current
    )
    return [
        {
            "label": queue.label,
            "url": f"{base}?queue={queue.key}",
            "count": count_label(counts[queue.key]),
            "current": queue is current,
        }
        for queue in all_queues()
    ]
