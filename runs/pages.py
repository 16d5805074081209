"""What a run's page, and a part of it elsewhere, shows of its calls."""

from __future__ import annotations

from typing import Any

from runs.models import Run
from runs.summing import duration_of
from runs.tool_calls import tool_calls_of, waterfall

CALLS_SHOWN = 100  # each highlighted; the further ones as one block of JSON


def calls_context(run: Run) -> dict[str, Any]:
    """For templates/runs/_run.html."""
    calls = tool_calls_of(run)
    return {
        "waterfall": waterfall(calls[:CALLS_SHOWN]),
        "further_calls": [call.value for call in calls[CALLS_SHOWN:]],
        "took_ms": duration_of(run.started_at, run.ended_at),
    }
