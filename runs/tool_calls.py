"""The tool calls of a run, whatever shape their writer gave them: names, inputs, outputs, errors, and when each was at work."""

from __future__ import annotations

from dataclasses import dataclass
from datetime import UTC, datetime
from math import isfinite
from typing import Any

from django.utils.dateparse import parse_datetime

from runs.models import Run

NAME_LENGTH = 120
NAMES = ("name", "tool", "tool_name")
INPUTS = ("arguments", "args", "input", "inputs", "parameters", "params")
OUTPUTS = ("result", "results", "output", "outputs", "response", "content")
ERRORS = ("error", "errors", "exception", "stderr")
STARTS = ("started_at", "start_time", "start", "timestamp", "at")
ENDS = ("ended_at", "end_time", "end")
DURATIONS = (
    ("duration_ms", 1),
    ("elapsed_ms", 1),
    ("latency_ms", 1),
    ("duration_s", 1000),
    ("duration_seconds", 1000),
)
OFFSETS = (("offset_ms", 1), ("start_ms", 1))
WRONG = ("error", "failed", "failure", "timeout")
MOST_MS = 10.0**12


@dataclass(frozen=True)
class ToolCall:
    """One call as its writer sent it (`value`), and what can be told from it: milliseconds; None where it does not say.

    `others` are its fields that are none of the named ones.
    """

    name: str
    value: Any
    duration_ms: float | None = None
    failed: bool = False
    offset_ms: float | None = None
    inputs: Any = None
    outputs: Any = None
    error: Any = None
    others: Any = None


def tool_calls_of(run: Run) -> list[ToolCall]:
    """The run's tool calls in order."""
    if run.tool_calls is None:
        return []
    calls = run.tool_calls if isinstance(run.tool_calls, list) else [run.tool_calls]
    return [_tool_call(call, run.started_at) for call in calls]


def _tool_call(value: Any, run_started: datetime) -> ToolCall:
    if not isinstance(value, dict):
        return ToolCall(str(value)[:NAME_LENGTH], value)
    function = value.get("function")
    inner = function if isinstance(function, dict) else {}
    names = (*(value.get(key) for key in NAMES), inner.get("name") if inner else function)
    name = next((name for name in names if isinstance(name, str) and name.strip()), "")
    started, ended = _time(value, STARTS), _time(value, ENDS)
    offset = _number(value, OFFSETS)
    if offset is None and started is not None:
        offset = max(0.0, (started - run_started).total_seconds() * 1000)
    took = _number(value, DURATIONS)
    if took is None and started is not None and ended is not None and ended >= started:
        took = (ended - started).total_seconds() * 1000
    error = _first(value, ERRORS)
    told = {*NAMES, *INPUTS, *OUTPUTS, *ERRORS, *STARTS, *ENDS, *dict(DURATIONS), *dict(OFFSETS), "function"}
    return ToolCall(
        name[:NAME_LENGTH],
        value,
        took,
        bool(error) or _says_it_failed(value),
        offset,
        _first(value, INPUTS) if _first(value, INPUTS) is not None else _first(inner, INPUTS),
        _first(value, OUTPUTS),
        error or None,
        {key: one for key, one in value.items() if key not in told} or None,
    )


def _first(value: dict[str, Any], keys: tuple[str, ...]) -> Any:
    return next((value[key] for key in keys if value.get(key) is not None), None)


def _says_it_failed(value: dict[str, Any]) -> bool:
    status = value.get("status")
    said = isinstance(status, str) and status.lower() in WRONG
    return said or value.get("ok") is False or value.get("success") is False or value.get("is_error") is True


def _number(value: dict[str, Any], keys: tuple[tuple[str, int], ...]) -> float | None:
    for key, size in keys:
        number = value.get(key)
        if (
            isinstance(number, int | float)
            and not isinstance(number, bool)
            and 0 <= number < MOST_MS
            and isfinite(number)
        ):
            return number * size
    return None


def _time(value: dict[str, Any], keys: tuple[str, ...]) -> datetime | None:
    for key in keys:
        said = value.get(key)
        if not isinstance(said, str) or len(said) > 40:
            continue
        try:
            when = parse_datetime(said)
        except ValueError:
            continue
        if when is not None and 1900 < when.year < 9000:
            return when if when.tzinfo else when.replace(tzinfo=UTC)
    return None


@dataclass(frozen=True)
class Step:
    """One line of the waterfall: `x` and `width` of a hundred, both 0 where nothing is known of its time."""

    call: ToolCall
    x: float = 0.0
    width: float = 0.0


@dataclass(frozen=True)
class Waterfall:
    """`total_ms` is from the first start to the last end; `one_by_one`: where no call says when it began, each is drawn
    after the one before it."""

    steps: list[Step]
    total_ms: float
    one_by_one: bool


LEAST_WIDTH = 0.6


def waterfall(calls: list[ToolCall]) -> Waterfall:
    """When each call was at work."""
    spans: list[tuple[float, float] | None] = []
    at = 0.0
    for call in calls:
        if call.offset_ms is not None:
            at = call.offset_ms
        known = call.duration_ms is not None or call.offset_ms is not None
        spans.append((at, call.duration_ms or 0.0) if known else None)
        at += call.duration_ms or 0.0
    known_spans = [span for span in spans if span is not None]
    begin = min((start for start, _took in known_spans), default=0.0)
    total = max((start + took for start, took in known_spans), default=0.0) - begin
    steps = [
        Step(call) if span is None else Step(call, *_placed(span[0] - begin, span[1], total))
        for call, span in zip(calls, spans, strict=True)
    ]
    return Waterfall(steps, total, all(call.offset_ms is None for call in calls))


def _placed(start: float, took: float, total: float) -> tuple[float, float]:
    if not total:
        return 0.0, LEAST_WIDTH
    width = max(took / total * 100, LEAST_WIDTH)
    return round(min(start / total * 100, 100 - width), 2), round(width, 2)
