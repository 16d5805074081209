"""The similar records that a record's page shows."""

from typing import Any

from recall.queries import similar_to
from records.kinds import kind_of
from records.pages.rows import record_url


def similar_context(record: Any, k: int = 8) -> dict[str, Any]:
    """`similar`: rows for templates/_similar.html, best first, plain cosine."""
    rows = []
    for found in similar_to(record, k=k):
        kind = kind_of(found.record)
        rows.append(
            {
                "node_id": found.record.node_id,
                "title": found.record.heading,
                "url": record_url(found.record),
                "kind": kind.name,
                "score": found.score,
                "status": kind.status_label_of(found.record) if kind.status_of(found.record) else "",
                "outcome": kind.outcome_badge_of(found.record) if kind.outcome_badge_of else None,
            }
        )
    return {"similar": rows}
