"""Records that say the same in the same words: found by a hash of the normalised text, kept beside the projection mark."""

from __future__ import annotations

import hashlib
import unicodedata
from collections.abc import Sequence
from typing import Any

from records.kinds import Kind, kind_of, parse_node_id
from records.models import ProjectionMark, Record

NOT_COMPARED = ""
IDS_A_QUERY = 500


def text_hash_of(record: Record) -> str:
    """32 hex digits of heading and body; case, width and white space aside. Of a kind whose records are events (the
    same alert again is another run): NOT_COMPARED."""
    kind = kind_of(record)
    if not kind.repeats_are_duplicates:
        return NOT_COMPARED
    text = unicodedata.normalize("NFKC", f"{record.heading}\n{kind.body_of(record)}").casefold()
    said = f"{kind.name}\0{' '.join(text.split())}"
    return hashlib.sha256(said.encode("utf-8", "surrogatepass")).hexdigest()[:32]


def first_of_same_text(kind: Kind, records: Sequence[Any], hashes: dict[str, str]) -> dict[str, str]:
    """Node id of each of these new records -> the oldest active record of its project with the same text.

    One indexed look-up of the marks; one more of the records only where others are found.
    """
    if not kind.repeats_are_duplicates:
        return {}
    found: dict[tuple[int | None, str], list[Any]] = {}
    for start in range(0, len(records), IDS_A_QUERY):
        some = records[start : start + IDS_A_QUERY]
        rows = ProjectionMark.objects.order_by().filter(
            text_hash__in={hashes[record.node_id] for record in some} - {NOT_COMPARED},
            project_id__in={record.project_id for record in some},
            kind=kind.name,
            gone=False,
        )
        for project_id, text_hash, node_id in rows.values_list("project_id", "text_hash", "node_id"):
            parsed = parse_node_id(node_id)
            if parsed is not None and text_hash is not None:
                found.setdefault((project_id, text_hash), []).append(parsed[1])
    others = {key for keys in found.values() for key in keys} - {record.pk for record in records}
    rows_of_others = kind.model.objects.active().filter(pk__in=others) if others else None  # type: ignore[attr-defined]
    # Of a set that repeats itself the later ones are duplicates of the first that was not quarantined.
    own = {record.pk for record in records if record.is_active}
    active = own | (set(rows_of_others.values_list("pk", flat=True)) if rows_of_others is not None else set())
    first: dict[str, str] = {}
    for record in records:
        same = found.get((record.project_id, hashes[record.node_id]), ())
        older = [key for key in same if key in active and key < record.pk]
        if older:
            first[record.node_id] = kind.node_id(min(older))
    return first
