"""What the address of an inbox asks for: a queue, its filters, an order, a page and the entry that is open."""

from __future__ import annotations

from collections.abc import Iterable, Iterator
from dataclasses import dataclass
from urllib.parse import quote

from django.http import HttpRequest, QueryDict
from django.urls import reverse

from projects.models import Project

UNREADABLE = -1  # the version of what was posted wrong: that of no record
FRAME = frozenset({"queue", "sort", "selected", "cursor"})  # all else is the queue's own filter


def shown_versions(values: Iterable[str]) -> Iterator[tuple[str, int | None]]:
    """`dec_1:3` -> the record and the version that was shown of it; None where none was said."""
    for value in values:
        node_id, _colon, version = value.partition(":")
        known = version.isascii() and version.isdecimal() and len(version) < 10
        yield node_id, int(version) if known else UNREADABLE if version else None


@dataclass(frozen=True)
class Asked:
    """Of the page, or of the address that a form carries on from it (its action's query)."""

    project: Project
    query: QueryDict

    @classmethod
    def of(cls, request: HttpRequest, project: Project) -> Asked:
        return cls(project, request.GET)

    @property
    def queue(self) -> str:
        return str(self.query.get("queue", ""))

    @property
    def sort(self) -> str:
        return str(self.query.get("sort", ""))

    @property
    def selected(self) -> str:
        return str(self.query.get("selected", ""))

    @property
    def cursor(self) -> str | None:
        return self.query.get("cursor") or None

    @property
    def filters(self) -> QueryDict:
        """The queue's own, without the frame's."""
        query = self.query.copy()
        for name in FRAME:
            query.pop(name, None)
        return query

    def url(self, to: str = "inbox:page", **changes: str | None) -> str:
        """The same address with these parts changed; None takes one away."""
        query = self.query.copy()
        for name, value in changes.items():
            query.pop(name, None)
            if value:
                query[name] = value
        address, encoded = reverse(to, args=[self.project.slug]), query.urlencode()
        return f"{address}?{encoded}" if encoded else address

    def urls(self, keys: Iterable[str]) -> list[tuple[str, str]]:
        """Of the page with each of these entries open, and of its pane alone."""
        bases = [self.url(to, selected=None) for to in ("inbox:page", "inbox:pane")]
        begun = [f"{base}{'&' if '?' in base else '?'}selected=" for base in bases]
        return [(begun[0] + key, begun[1] + key) for key in map(quote, keys)]
