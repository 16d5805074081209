"""What surrounds a run: what it read, and past runs like it with what was done then and how that ended."""

from __future__ import annotations

import uuid
from collections import deque
from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any

from django.db.models import Count, Max
from django.utils.translation import gettext as _
from django.utils.translation import ngettext

from graph.similar import similar_records
from records.models import Read
from records.one_line import one_line
from records.pages.rows import Row, row_of
from records.queries import records_by_node_id
from runs.kind import RUN
from runs.models import Run, RunStatus
from runs.tool_calls import tool_calls_of

SHOWN = 50
SIMILAR = 5
STEPS_NAMED = 6
MOST_LOOKED_AT = 200  # values of an outcome


def names_of(run: Run) -> list[str]:
    """As agents call a run in X-Run-Id: its node id, its id, its id as a UUID is written."""
    return [run.node_id, run.pk, str(uuid.UUID(run.pk))]


def read_by(run: Run) -> tuple[list[Row], bool]:
    """The records of its project that were answered to it, last read first; and whether there are more. Two queries
    and one a kind."""
    reads = (
        Read.objects.filter(run__in=names_of(run), project_id=run.project_id)
        .order_by()
        .values_list("node_id")
        .annotate(times=Count("pk"), last=Max("read_at"))
        .order_by("-last", "node_id")
    )
    found = list(reads[: SHOWN + 1])
    times = {node_id: count for node_id, count, _last in found[:SHOWN]}
    rows = _rows(run, times)
    for row in rows:
        count = times[row.node_id]
        row.why = ngettext("read once", "read %d times", count) % count if count > 1 else _("read once")
    return rows, len(found) > SHOWN


def _rows(run: Run, node_ids: Any) -> list[Row]:
    records = records_by_node_id(node_ids, [run.project_id] if run.project_id else [], brief=True)
    return [row_of(records[node_id]) for node_id in node_ids if node_id in records]


@dataclass(frozen=True)
class PastRun:
    """A run like this one: plain cosine, the names of what it called, its outcome and how it ended."""

    row: Row
    cosine: float
    steps: list[str]
    more_steps: int
    outcome: Any
    failed: bool
    escalated: bool


def past_runs_like(run: Run, k: int = SIMILAR) -> list[PastRun]:
    """The most similar active runs of the project, best first, with what was done then and how it ended."""
    answer = similar_records(run, k=k, kinds=[RUN.name])
    whole = Run.objects.select_related("project").in_bulk([item.record.pk for item in answer.found])
    past = []
    for item in answer.found:
        other = whole.get(item.record.pk)
        if other is None:
            continue
        names = [call.name for call in tool_calls_of(other) if call.name]
        past.append(
            PastRun(
                row_of(other), item.score, names[:STEPS_NAMED], len(names[STEPS_NAMED:]), other.outcome,
                other.status == RunStatus.FAILED, other.escalated_to_human,
            )
        )  # fmt: skip
    return past


def outcome_words(outcome: Any, most: int = 240) -> str:
    """What an outcome says first, in one line: its texts in their order, or the value itself."""
    texts: list[str] = []
    waiting: deque[Any] = deque([outcome])
    for _step in range(MOST_LOOKED_AT):
        if not waiting or sum(map(len, texts)) >= most:
            break
        value = waiting.popleft()
        if isinstance(value, dict):
            waiting.extendleft(reversed(_said(value)))
        elif isinstance(value, list):
            waiting.extendleft(reversed(value))
        elif value is not None and str(value).strip():
            texts.append(one_line(str(value), most))
    return one_line(" · ".join(texts), most)


def _said(value: dict[str, Any]) -> Sequence[Any]:
    return [
        f"{key}: {one}" if isinstance(one, str | int | float | bool) else one for key, one in value.items()
    ]
