"""How long the report of an act on many is kept, and what erasing takes out of it."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

from django.db.models import Case, Q, TextField, Value, When
from django.db.models.functions import Cast
from django.db.models.lookups import Contains

from curation.models import BulkJob
from records.models import Revision
from records.retention import Policy, add_policy, delete_oldest
from records.text_tables import TextTable, add_text_table

ERASED = "[erased]"  # a job that is not done yet may need a reason


def _jobs_about(records: Sequence[Any]) -> Q:
    """What acted on one of these, or was meant to: the reason may quote it, and so may the filter it came from."""
    node_ids = [record.node_id for record in records]
    acts = Revision.objects.filter(node_id__in=node_ids).exclude(act=None).order_by()
    found = Q(act__in=acts.values("act"))
    for node_id in node_ids:
        found |= Q(Contains(Cast("wanted", TextField()), f'"{node_id}"'))
    return found


add_text_table(
    TextTable(
        model=BulkJob,
        rows_of=_jobs_about,
        emptied={"reason": Case(When(reason="", then=Value("")), default=Value(ERASED)), "back": ""},
    )
)
add_policy(
    Policy(
        "bulk jobs",
        "KEEP_BULK_JOBS_DAYS",
        lambda before, limit: delete_oldest(BulkJob.objects.all(), "started_at", before, limit),
    )
)
