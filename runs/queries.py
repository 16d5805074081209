"""Every read of runs and run memories."""

from __future__ import annotations

from typing import Any

from runs.models import Memory, Run


def memories_of(run: Run) -> list[Memory]:
    """The active summaries of a run, newest first."""
    return list(
        Memory.objects.active().select_related("project").filter(source_run_fk=run).order_by("-created_at")
    )


def tool_calls_of(run: Run) -> list[dict[str, Any]]:
    """The run's tool calls in order, each as a mapping whatever its writer sent."""
    calls = run.tool_calls if isinstance(run.tool_calls, list) else []
    return [call if isinstance(call, dict) else {"name": str(call)} for call in calls]
