"""Every write to runs and run memories."""

from __future__ import annotations

import hashlib
import json
from collections.abc import Iterator, Mapping, Sequence
from typing import Any

from database.transactions import transactional
from projects.models import Project
from records import verbs
from records.actor import Actor
from runs.kind import MEMORY, RUN
from runs.models import Memory, PayloadValue, Run

EDITABLE = (
    "agent_version", "trigger_type", "trigger_payload", "started_at", "ended_at", "status", "outcome", "tool_calls",
    "token_cost", "escalated_to_human", "confidence", "tags",
)  # fmt: skip
PAYLOAD_VALUES_MAX = 200


@transactional
def record_run(
    *, actor: Actor, project: Project | None, agent_name: str, reason: str = "", **fields: Any
) -> Run:
    rows = [{"agent_name": agent_name, **verbs.only(fields, (*EDITABLE, "id"))}]
    (run,) = verbs.create(RUN, rows, actor=actor, project=project, reason=reason)
    index_payload(run)
    return run


@transactional
def edit_run(
    *,
    actor: Actor,
    run: Run,
    changes: Mapping[str, Any],
    reason: str = "",
    expected_version: int | None = None,
) -> Run:
    changes = verbs.only(changes, EDITABLE, run.node_id)
    edited = verbs.update(
        [run], changes, actor=actor, reason=reason, expected_version=expected_version
    ).record
    if "trigger_payload" in changes:
        index_payload(edited)
    return edited


def remember(
    *, actor: Actor, project: Project | None, agent_name: str, summary: str, run: Run | None = None
) -> Memory:
    """One summary of a run, found again by "have we seen this before?"."""
    rows = [{"agent_name": agent_name, "summary": summary, "source_run_fk": run}]
    return verbs.create(MEMORY, rows, actor=actor, project=project)[0]


def index_payload(run: Run) -> None:
    """Keep the leaves of the trigger payload as indexed key/values (the first 200; the payload itself is whole)."""
    PayloadValue.objects.filter(run=run).delete()
    PayloadValue.objects.bulk_create(payload_values_of(run))


def index_payloads(runs: Sequence[Run]) -> None:
    """The same for new runs, of which nothing is indexed yet."""
    PayloadValue.objects.bulk_create([value for run in runs for value in payload_values_of(run)])


def payload_values_of(run: Run) -> list[PayloadValue]:
    leaves = list(_leaves(run.trigger_payload))[:PAYLOAD_VALUES_MAX]
    return [
        PayloadValue(
            run=run,
            project_id=run.project_id,
            path=path[:255],
            value=value[:255],
            digest=hashlib.sha256(value.encode()).hexdigest(),
        )
        for path, value in leaves
    ]


def _leaves(value: Any, path: str = "") -> Iterator[tuple[str, str]]:
    if isinstance(value, dict):
        for key, inner in value.items():
            yield from _leaves(inner, f"{path}.{key}" if path else str(key))
    elif isinstance(value, list):
        for inner in value:
            yield from _leaves(inner, path)
    elif value is not None:
        yield path, value if isinstance(value, str) else json.dumps(value)
