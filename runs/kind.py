"""What the shared floors know of runs and run memories."""

import json

from django.utils.translation import gettext_lazy as _

from records.kinds import Kind, register
from runs.models import Memory, Run


def run_body(run: Run) -> str:
    """Trigger and outcome as text: what "have we seen this before?" compares."""
    parts = [run.trigger_type, _as_text(run.trigger_payload), _as_text(run.outcome)]
    return "\n\n".join(filter(None, parts))


def _as_text(value: object) -> str:
    if value is None or isinstance(value, str):
        return value or ""
    return json.dumps(value, ensure_ascii=False, indent=1)


RUN = register(
    Kind(
        name="run",
        prefix="run",
        label=_("run"),
        label_plural=_("runs"),
        model=Run,
        url_name="runs:detail",
        list_url_name="runs:list",
        summary_of=run_body,
        body_of=run_body,
        graph_label="Run",
        when="started_at",
        status_of=lambda run: run.status,
        graph_properties=lambda run: {"agent_name": run.agent_name, "escalated": run.escalated_to_human},
        integer_key=False,
    )
)

MEMORY = register(
    Kind(
        name="memory",
        prefix="mem",
        label=_("run memory"),
        label_plural=_("run memories"),
        model=Memory,
        url_name="runs:memory",
        list_url_name="runs:list",
        summary_of=lambda memory: memory.summary,
        body_of=lambda memory: memory.summary,
        graph_label=None,
        vector_of=lambda memory: memory.embedding if isinstance(memory.embedding, list) else None,
        integer_key=False,
    )
)
