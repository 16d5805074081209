"""View-models of the incident view."""

from __future__ import annotations

import json
from collections.abc import Iterator
from dataclasses import dataclass
from itertools import islice
from typing import Any

from django.utils.translation import gettext as _

from desk.context_pack.asked import trigger_text
from desk.incident.screen import Known
from desk.incident.similar import Incident
from records.one_line import one_line
from records.pages.rows import Row, record_url, row_of
from runs.models import Run
from runs.took import took_words
from runs.tool_calls import NAMES, ToolCall, tool_calls_of

SUMMARY_SHOWN, CALL_SHOWN, LINE_SHOWN = 320, 400, 200  # characters
CALLS_SHOWN, LINES_SHOWN, BAD_SHOWN = 40, 8, 3
TOLD_APART = (*NAMES, "duration_ms")
LEVELS = {"succeeded": "good", "failed": "bad", "cancelled": "mute", "running": "info"}


@dataclass
class CallRow:
    name: str
    took_ms: float | None
    failed: bool
    preview: str


@dataclass
class IncidentRow:
    """A past run: how like the alert it is, what was done, how it ended, what it cost."""

    row: Row
    why: str
    status: str
    level: str
    facts: list[tuple[str, str]]
    escalated: bool
    summary: str
    summary_url: str
    outcome: list[str]
    calls: list[CallRow]
    further_calls: int


def incident_row(one: Incident) -> IncidentRow:
    run = one.run
    calls = tool_calls_of(run) if run is not None else []
    return IncidentRow(
        row=row_of(one.record),
        why=_why(one),
        status=run.get_status_display() if run is not None else "",
        level=LEVELS.get(run.status, "mute") if run is not None else "",
        facts=_facts(run) if run is not None else [],
        escalated=bool(run is not None and run.escalated_to_human),
        summary=one_line(one.memory.summary, SUMMARY_SHOWN) if one.memory is not None else "",
        summary_url=record_url(one.memory) if one.memory is not None else "",
        outcome=lines_of(run.outcome) if run is not None else [],
        calls=[_call_row(call) for call in calls[:CALLS_SHOWN]],
        further_calls=max(0, len(calls) - CALLS_SHOWN),
    )


def _why(one: Incident) -> str:
    words = {"words": _("words"), "phrase": _("words side by side"), "meaning": _("meaning")}
    told = [str(words[why]) for why in one.why if why in words and why != "meaning"]
    if one.cosine is not None:
        told.insert(0, _("cosine %.2f") % one.cosine)
    return ", ".join(told)


def _facts(run: Run) -> list[tuple[str, str]]:
    facts = [(_("agent"), " ".join(filter(None, [run.agent_name, run.agent_version])))]
    if run.ended_at is not None:
        facts.append(
            (_("took"), took_words(max(0.0, (run.ended_at - run.started_at).total_seconds() * 1000)))
        )
    if run.token_cost is not None:
        facts.append((_("tokens"), f"{run.token_cost:,}"))
    if run.confidence is not None:
        facts.append((_("confidence"), f"{run.confidence:.2f}"))
    return facts


def _call_row(call: ToolCall) -> CallRow:
    value = call.value
    if isinstance(value, dict):
        value = {name: inner for name, inner in value.items() if name not in TOLD_APART}
    return CallRow(call.name, call.duration_ms, call.failed, brief_json(value, CALL_SHOWN) if value else "")


def brief_json(value: Any, most: int) -> str:
    """JSON in one line, of a long one its beginning with `…`; no more of it is written than is shown."""
    text = ""
    for piece in json.JSONEncoder(ensure_ascii=False).iterencode(value):
        text += piece[: most + 1]
        if len(text) > most:
            return f"{text[:most].rstrip()}…"
    return text


def lines_of(value: Any) -> list[str]:
    """A JSON value as its leaves, one a line, the first of them."""
    if value is None:
        return []
    lines = list(islice(_lines(value), LINES_SHOWN + 1))
    return [*lines[:LINES_SHOWN], "…"] if len(lines) > LINES_SHOWN else lines


def _lines(value: Any) -> Iterator[str]:
    said = trigger_text(value) if isinstance(value, dict | list | str) else str(value)
    for line in said.splitlines():
        if line.strip():
            yield one_line(line, LINE_SHOWN)


def known_row(one: Known) -> Row:
    """A pitfall or a decision: why it stands here, what bad came of it, how to avoid it."""
    why = [_("tied to these runs")] if one.tied_to else []
    if one.cosine is not None:
        why.append(_("cosine %.2f") % one.cosine)
    row = row_of(one.record, why=", ".join(why))
    row.badges += [(_("led to %s") % bad.type, "bad") for bad in one.bad[:BAD_SHOWN]]
    if advice := one_line(getattr(one.record, "how_to_avoid", None) or "", LINE_SHOWN):
        row.excerpt = [(advice, False)]
    return row
