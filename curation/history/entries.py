"""View-models of the history page: an act in words, with its record or how many there were, and what changed."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, field
from datetime import datetime
from typing import Any

from django.urls import reverse
from django.utils.safestring import SafeString
from django.utils.translation import ngettext

from curation.history.queries import Entry, records_of
from records.images import changed_between
from records.models import Revision
from records.pages.history import VERBS, act_of
from records.pages.rows import record_url, run_url, session_url, title_of
from records.queries import images_before
from records.undo_step import UNDO

# Of longer texts the words that changed are on the change's own page.
COMPARED_HERE = 12_000
# Their only change is the one that they name.
SAID_BY_VERB = ("approve", "reject", "quarantine", "unreview")


@dataclass
class EntryRow:
    """What one entry of the list shows. `url` is the change's own page, `rows_url` the rows of a folded act."""

    pk: int
    verb: str
    actor: str
    channel: str
    when: datetime
    reason: str
    node_id: str
    kind: str
    title: str
    record_url: str
    url: str
    version: int | None = None
    act: str = ""
    rows_url: str = ""
    rows: int = 1
    session: str = ""
    session_url: str = ""
    run: str = ""
    run_url: str = ""
    token: str = ""
    diffs: list[tuple[str, SafeString]] = field(default_factory=list)
    is_long: bool = False
    record: Any = field(default=None, repr=False)

    @property
    def is_folded(self) -> bool:
        """One entry of several records: it has no record of its own."""
        return bool(self.rows_url)


def entry_rows(entries: Sequence[Entry], project: Any, *, whole: bool = False) -> list[EntryRow]:
    """The entries in words. `whole`: with the words that changed, however long the texts."""
    heads = [entry.head for entry in entries]
    records = records_of(heads, project.pk)
    earlier = images_before([head for head in heads if head.after is not None])
    return [_row(entry, records.get(entry.head.node_id), earlier, project.slug, whole) for entry in entries]


def _row(entry: Entry, record: Any, earlier: dict[int, dict[str, Any]], slug: str, whole: bool) -> EntryRow:
    head = entry.head
    before = earlier.get(head.pk)
    is_long = not whole and before is not None and _length(before, head.after or {}) > COMPARED_HERE
    act = act_of(head, None if is_long else before)
    several = max((counted.records for counted in entry.counts), default=1) > 1
    row = EntryRow(
        pk=head.pk,
        verb=act.verb,
        actor=act.actor,
        channel=str(act.channel),
        when=act.when,
        reason=act.reason,
        node_id=head.node_id,
        kind=head.kind,
        title=title_of(record) if record is not None else "",
        record_url=record_url(record) if record is not None else "",
        url=reverse("history:change", args=[slug, head.pk]),
        version=head.version,
        act=head.act or "",
        session=head.session,
        session_url=session_url(slug, head.session),
        run=head.run,
        run_url=run_url(head.run),
        token=str(head.token) if head.token else "",
        diffs=[] if head.verb in SAID_BY_VERB and "review_state" in head.changed else act.diffs,
        is_long=is_long,
        record=record,
    )
    if _is_one_link(entry):  # it stands in the histories of both ends: said once, as it is
        return row
    if several or len(entry.counts) > 1:
        row.verb, row.rows = _said(entry, several, act.verb), entry.rows
    if several:
        row.rows_url = f"{reverse('history:list', args=[slug])}?act={head.act}"
        row.diffs, row.is_long = [], False
    return row


def _is_one_link(entry: Entry) -> bool:
    return len(entry.counts) == 1 and entry.rows == 2 and "relation" in (entry.head.detail or {})


def _said(entry: Entry, several: bool, undone: str) -> str:
    """ "approved 312 records", "superseded 1 record, linked 2 records"; of one record the verbs alone."""
    words = []
    for counted in entry.counts:
        verb = (
            undone if counted.verb == UNDO == entry.head.verb else str(VERBS.get(counted.verb, counted.verb))
        )
        number = ngettext("%(n)s record", "%(n)s records", counted.records) % {"n": f"{counted.records:,}"}
        words.append(f"{verb} {number}" if several else verb)
    return ", ".join(words)


def _length(before: dict[str, Any], after: dict[str, Any]) -> int:
    changed = changed_between(before, after)
    return sum(len(str(image.get(name) or "")) for name in changed for image in (before, after))


def revision_rows(revisions: Sequence[Revision], project: Any, *, whole: bool = False) -> list[EntryRow]:
    return entry_rows([Entry(revision) for revision in revisions], project, whole=whole)
