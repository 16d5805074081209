"""Keeps the words of records for full-text search, as `recall.tokenise` cuts them."""

from __future__ import annotations

import hashlib
from collections.abc import Callable, Collection, Sequence

from database.transactions import transactional
from recall.models import SearchText
from recall.tokenise import search_text
from records.kinds import kind_of
from records.models import Record
from records.validation import tag_words

INSERTS_A_QUERY = 100
# A word of the heading counts as often as this many in the body: what a record is about, it says there.
HEADING_WEIGHT = 3
# Another cut of the same text: the rows are made again.
CUT = "1"


def text_of(record: Record) -> str:
    """Everything of a record that words may find: heading, tags, body."""
    kind = kind_of(record)
    body = kind.body_of(record)
    parts = [
        *[record.heading] * HEADING_WEIGHT,
        " ".join(tag_words(record.tags) if record.tags else ()),
        body,
    ]
    return "\n".join(part for part in parts if part)


def keep_words(
    records: Sequence[Record], *, may_write: Callable[[Collection[str]], set[str]] | None = None
) -> None:
    """Bring the search texts of these records up to date; an unchanged one is not written.

    `may_write` is asked inside the transaction which of the node ids are still the caller's to write.
    """
    texts = {record.node_id: text_of(record) for record in records}
    hashes = {node_id: _hash(text) for node_id, text in texts.items()}
    kept = {
        row[0]: row[1:]
        for row in SearchText.objects.filter(node_id__in=texts).values_list("node_id", "content_hash", "project_id")
    }  # fmt: skip
    changed = [
        record
        for record in records
        if kept.get(record.node_id) != (hashes[record.node_id], record.project_id)
    ]
    if not changed:
        return
    rows = [
        SearchText(
            node_id=record.node_id,
            kind=kind_of(record).name,
            project_id=record.project_id,
            content_hash=hashes[record.node_id],
            words=search_text(texts[record.node_id]),
        )
        for record in changed
    ]
    _store(rows, may_write)


def forget_words(node_ids: Collection[str]) -> None:
    """The records are gone: nothing finds them any more."""
    SearchText.objects.filter(node_id__in=list(node_ids)).delete()


@transactional
def _store(rows: list[SearchText], may_write: Callable[[Collection[str]], set[str]] | None) -> None:
    node_ids = {row.node_id for row in rows}
    ours = node_ids if may_write is None else may_write(node_ids)
    SearchText.objects.filter(node_id__in=ours).delete()
    SearchText.objects.bulk_create([row for row in rows if row.node_id in ours], batch_size=INSERTS_A_QUERY)


def _hash(text: str) -> str:
    return hashlib.sha256(f"{CUT}\0{text}".encode("utf-8", "surrogatepass")).hexdigest()
