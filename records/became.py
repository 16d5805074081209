"""What became of a write, told to whoever wrote: for one record or a set, with as many queries."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from datetime import datetime
from typing import Any

from records.hygiene import kept
from records.hygiene.findings import FieldFinding
from records.models import ProjectionMark

CREATED, UPDATED, UNCHANGED = "created", "updated", "unchanged"
DUPLICATE_OF, QUARANTINED = "duplicate_of", "quarantined"
BECAME = (CREATED, UPDATED, UNCHANGED, DUPLICATE_OF, QUARANTINED)


@dataclass(frozen=True, slots=True)
class Became:
    """`duplicate_of`: ids that say the same in the same words, linked. `searchable_at`: when its newest words and
    vectors were in place; None while `queued`, or where the worker gave it up."""

    became: str
    duplicate_of: tuple[str, ...] = ()
    findings: tuple[FieldFinding, ...] = ()
    searchable_at: datetime | None = None
    queued: bool = False


def became_of(records: Sequence[Any], act: str = CREATED) -> list[Became]:
    """In the order of the records, as the verbs returned them: of fresh creations no query, else two for all.

    `act` is what the verb did: CREATED, UPDATED or UNCHANGED. Quarantine by this write and a duplicate go before it.
    """
    found = _findings(records)
    marks = _marks([record.node_id for record in records if record.written is None])
    answers = []
    for record in records:
        written = record.written
        at, queued = (None, True) if written is not None else marks.get(record.node_id, (None, True))
        answers.append(
            Became(
                _named(act, written),
                () if written is None else written.duplicate_of,
                tuple(found.get(record.node_id, ())),
                at,
                queued,
            )
        )
    return answers


def _findings(records: Sequence[Any]) -> kept.Found:
    looked_at = {
        record.node_id: list(record.written.findings)
        for record in records
        if record.written is not None and record.written.findings is not None
    }
    others = [record.node_id for record in records if record.node_id not in looked_at]
    return looked_at | (kept.findings_of(others) if others else {})


def _named(act: str, written: Any) -> str:
    if written is not None and written.quarantined:
        return QUARANTINED
    return DUPLICATE_OF if written is not None and written.duplicate_of else act


def _marks(node_ids: Sequence[str]) -> dict[str, tuple[datetime | None, bool]]:
    """(searchable since, still queued) of each."""
    if not node_ids:
        return {}
    rows = ProjectionMark.objects.order_by().filter(node_id__in=node_ids)
    return {
        node_id: (at if embedded >= wanted else None, embedded < wanted and not dead)
        for node_id, at, embedded, wanted, dead in rows.values_list(
            "node_id", "searchable_at", "embedded_version", "wanted_version", "dead"
        )
    }
