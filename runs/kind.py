"""What the shared floors know of runs and run memories."""

import json
from typing import Any

from django.utils.translation import gettext_lazy as _

from records.kinds import Kind, register
from runs.filters import MemoryFilterSet, RunFilterSet
from runs.models import Memory, Run
from runs.took import took_words


def run_body(run: Run) -> str:
    """Trigger and outcome as text: what "have we seen this before?" compares."""
    parts = [run.trigger_type, _as_text(run.trigger_payload), _as_text(run.outcome)]
    return "\n\n".join(filter(None, parts))


def _facts(run: Run) -> list[tuple[Any, Any]]:
    facts: list[tuple[Any, Any]] = [(_("agent"), f"{run.agent_name} {run.agent_version or ''}".strip())]
    if run.ended_at:
        milliseconds = max(0.0, (run.ended_at - run.started_at).total_seconds() * 1000)
        facts.append((_("took"), took_words(milliseconds)))
    if run.token_cost is not None:
        facts.append((_("tokens"), f"{run.token_cost:,}"))
    if run.escalated_to_human:
        facts.append(("", _("escalated to a person")))
    return facts


def _calls(run: Run) -> dict[str, Any]:
    from runs.pages import calls_context  # the queries beneath know the kind

    return calls_context(run)


def _as_text(value: object) -> str:
    if value is None or isinstance(value, str):
        return value or ""
    return json.dumps(value, ensure_ascii=False, indent=1)


RUN = register(
    Kind(
        name="run",
        sections="runs/_run.html",
        sections_of=_calls,
        repeats_are_duplicates=False,
        filterset=RunFilterSet,
        prefix="run",
        label=_("run"),
        label_plural=_("runs"),
        pack_section="incidents",
        model=Run,
        url_name="runs:detail",
        list_url_name="runs:list",
        summary_of=run_body,
        body_of=run_body,
        graph_label="Run",
        headed=("trigger_type", "agent_name", "status", "trigger_payload"),
        listed=("trigger_payload",),
        status_column="status",
        facts_of=_facts,
        when="started_at",
        editable=(
            "agent_version",
            "trigger_type",
            "trigger_payload",
            "started_at",
            "ended_at",
            "status",
            "outcome",
            "tool_calls",
            "token_cost",
            "escalated_to_human",
            "confidence",
            "tags",
        ),
        status_of=lambda run: run.status,
        graph_properties=lambda run: {"agent_name": run.agent_name, "escalated": run.escalated_to_human},
        integer_key=False,
    )
)

MEMORY = register(
    Kind(
        name="memory",
        sections="runs/_memory.html",
        repeats_are_duplicates=False,
        filterset=MemoryFilterSet,
        prefix="mem",
        label=_("run memory"),
        label_plural=_("run memories"),
        pack_section="incidents",
        unpacked=("embedding",),
        editable=("summary", "tags"),
        model=Memory,
        url_name="runs:memory",
        list_url_name="runs:list",
        summary_of=lambda memory: memory.summary,
        body_of=lambda memory: memory.summary,
        graph_label=None,
        headed=("summary", "agent_name"),
        listed=("summary",),
        vector_of=lambda memory: (memory.embedding, memory.embedding_model) if memory.embedding else None,
        integer_key=False,
    )
)
