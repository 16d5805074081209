"""Every read of runs and run memories."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

from runs.models import Memory, Run

NAME_LENGTH = 120


def memories_of(run: Run) -> list[Memory]:
    """The active summaries of a run, newest first."""
    return list(
        Memory.objects.active()
        .select_related("project")
        .filter(source_run_fk=run, project_id=run.project_id)
        .order_by("-created_at")
    )


@dataclass(frozen=True)
class ToolCall:
    """One tool call as its writer sent it (`value`), and what can be told from it."""

    name: str
    value: Any
    duration_ms: float | None = None
    failed: bool = False


def tool_calls_of(run: Run) -> list[ToolCall]:
    """The run's tool calls in order, whatever shape their writer gave them."""
    if run.tool_calls is None:
        return []
    calls = run.tool_calls if isinstance(run.tool_calls, list) else [run.tool_calls]
    return [_tool_call(call) for call in calls]


def _tool_call(value: Any) -> ToolCall:
    if not isinstance(value, dict):
        return ToolCall(str(value)[:NAME_LENGTH], value)
    function = value.get("function")
    names = (
        value.get("name"), value.get("tool"), value.get("tool_name"),
        function.get("name") if isinstance(function, dict) else function,
    )  # fmt: skip
    name = next((name for name in names if isinstance(name, str) and name.strip()), "")
    took = value.get("duration_ms")
    is_number = isinstance(took, int | float) and not isinstance(took, bool)
    return ToolCall(name[:NAME_LENGTH], value, took if is_number else None, bool(value.get("error")))
