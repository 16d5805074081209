"""A post-mortem as rows: the incident (a run), its memory, the pitfall, and an outcome of each decision it names."""

from __future__ import annotations

import re
from typing import Any

from transfer.postmortems.records import PostMortem, Step

TRIGGER_TYPE = "incident"
_OUTCOMES = (
    ("security", r"leak|expos|credential|secret|injection|exfiltrat|compromis|vulnerab"),
    ("outage", r"outage|unavailable|not available|\bdown\b|not accessible|could not access|unable to|stop(?:s|ped)? working"),
    ("regression", r"regress|roll(?:ed)? ?back|revert"),
    ("performance", r"slow|latency|performance|time-?outs?"),
    ("cost", r"\bcosts?\b|\bbill\b|overspen"),
)  # fmt: skip
_OUTCOME_PATTERNS = [(name, re.compile(pattern)) for name, pattern in _OUTCOMES]


def run_columns(one: PostMortem) -> dict[str, Any]:
    """The trigger is what was seen; the outcome what it was and what was done. `alert` comes first: it heads the run."""
    payload = {
        "alert": one.title,
        "title": one.title_written,
        "signal": one.signal,
        "severity": one.severity_written or None,
        "document": {"path": one.path, **({"fields": one.fields} if one.fields else {})},
    }
    columns: dict[str, Any] = {
        "trigger_type": TRIGGER_TYPE,
        "trigger_payload": {name: value for name, value in payload.items() if value},
        "status": "succeeded" if one.resolved else "failed",
        "outcome": one.texts,
        "tool_calls": [_tool_call(step) for step in one.steps] or None,
        "ended_at": one.ended,
        # People dealt with it, whoever or whatever was first.
        "escalated_to_human": True,
        "tags": one.tags,
    }
    return {**columns, "started_at": one.started} if one.started else columns


def _tool_call(step: Step) -> dict[str, Any]:
    call: dict[str, Any] = {
        "name": step.command.split()[0],
        "arguments": {"command": step.command},
        "said": step.said,
    }
    return {**call, "at": step.at} if step.at else call


def memory_columns(one: PostMortem) -> dict[str, Any]:
    return {"summary": one.summary, "tags": one.tags}


def pitfall_columns(one: PostMortem) -> dict[str, Any]:
    return {
        "category": one.category,
        "title": one.title,
        "description": one.whole,
        "how_to_avoid": one.prevention or None,
        "severity": one.severity,
        "tags": one.tags,
    }


def outcome_columns(one: PostMortem) -> dict[str, Any]:
    columns: dict[str, Any] = {"type": _outcome_type(one), "note": one.summary, "tags": one.tags}
    return {**columns, "occurred_at": one.started} if one.started else columns


def _outcome_type(one: PostMortem) -> str:
    text = f"{one.title} {one.texts.get('impact', '')} {one.signal}".casefold()
    return next((name for name, pattern in _OUTCOME_PATTERNS if pattern.search(text)), "failure")
