"""The similar records that a record's page shows."""

from typing import Any

from recall.queries import similar_to
from records.kinds import all_kinds, kind_of
from records.pages.rows import record_url


def similar_context(record: Any, k: int = 8) -> dict[str, Any]:
    """`similar`: rows for templates/_similar.html, best first, plain cosine."""
    found = similar_to(record, k=k)
    followed: dict[str, tuple[str, str]] = {}
    for kind in all_kinds():
        same = [item.record for item in found if kind_of(item.record) is kind]
        followed |= kind.outcome_badges(same) if same else {}
    return {
        "similar": [
            {
                "node_id": item.record.node_id,
                "title": item.record.heading,
                "url": record_url(item.record),
                "kind": kind_of(item.record).name,
                "score": item.score,
                "status": kind_of(item.record).status_label_of(item.record),
                "outcome": followed.get(item.record.node_id),
            }
            for item in found
        ]
    }
