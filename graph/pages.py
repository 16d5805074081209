"""The similar records that a record's page shows."""

from typing import Any

from django.conf import settings

from graph.similar import similar_records
from records.kinds import all_kinds, kind_of
from records.pages.rows import record_url


def similar_context(record: Any, k: int = 8) -> dict[str, Any]:
    """`similar`: rows for templates/_similar.html, best first, plain cosine; `similar_from`: the store that answered.

    `similar_from` is empty where the desk has only one store, which needs no saying.
    """
    answer = similar_records(record, k=k)
    followed: dict[str, tuple[str, str]] = {}
    for kind in all_kinds():
        same = [item.record for item in answer.found if kind_of(item.record) is kind]
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
            for item in answer.found
        ],
        "similar_from": answer.answered_by if settings.GRAPH_URL and kind_of(record).graph_label else "",
    }
