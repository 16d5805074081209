"""What a row of each source table becomes: the columns of a record."""

from __future__ import annotations

import hashlib
import re
import uuid
from collections.abc import Callable, Mapping
from dataclasses import dataclass
from datetime import UTC, datetime
from decimal import Decimal
from typing import Any

from django.utils import timezone

from decisions.kind import DECISION, OUTCOME
from decisions.models import Precision, Status
from patterns.kind import PATTERN
from pitfalls.kind import PITFALL
from pitfalls.models import Severity
from records.kinds import Kind
from runs.kind import MEMORY, RUN
from runs.models import RunStatus
from transfer.adopt.cells import Cells, LeftOut
from transfer.adr.statuswords import find_status_words
from work_sessions.kind import SESSION

UNNAMED_MODEL = "unnamed"
FIRST_STAMP, LAST_STAMP = datetime(1970, 1, 2, tzinfo=UTC), datetime(2038, 1, 18, tzinfo=UTC)
SEVERITIES = {value: value for value in Severity.values} | {
    "severe": "critical", "blocker": "critical", "major": "high", "moderate": "medium", "minor": "low",
}  # fmt: skip
STATUSES = {value: value for value in Status.values}
RUN_STATUSES = {value: value for value in RunStatus.values} | {
    "success": "succeeded", "ok": "succeeded", "completed": "succeeded", "done": "succeeded", "failure": "failed",
    "error": "failed", "canceled": "cancelled", "aborted": "cancelled", "in_progress": "running", "started": "running",
}  # fmt: skip
_NOT_TYPE = re.compile(r"[^a-z0-9_-]+")


def decision_of(cells: Cells) -> dict[str, Any]:
    said, title = cells.text("decision"), cells.row.get("title")
    values: dict[str, Any] = {
        "title": cells.required("title", most=255, instead=said),
        "decision": said or cells.required("decision", instead=_decoded(title)),
        "rationale": cells.text("rationale"),
        "alternatives_considered": cells.text("alternatives_considered"),
        "decided_at": cells.time("decided_at"),
        "decided_precision": Precision.DAY if cells.is_day("decided_at") else Precision.INSTANT,
        "tags": cells.tags(),
        "created_at": cells.time("created_at"),
    }
    values["status"], values["status_written"] = _status(cells)
    values["created_at"] = values["created_at"] or values["decided_at"] or timezone.now()
    values["sort_at"] = values["decided_at"] or values["created_at"]
    return values


def _status(cells: Cells) -> tuple[str, str | None]:
    """A status in other words is read as in a decision record; what says none waits for a person."""
    written = _decoded(cells.row.get("status"))
    if written is None:
        return Status.ACCEPTED, None
    if written.strip().lower() in STATUSES:
        return written.strip().lower(), written if written not in STATUSES else None
    words = find_status_words(written.lower())
    if words:
        return words[0].status, written[:255]
    return cells.choice("status", STATUSES, Status.ACCEPTED, Status.PENDING), written.strip()[:255] or None


def pattern_of(cells: Cells) -> dict[str, Any]:
    described, code = cells.text("description"), cells.text("code_example")
    confidence = cells.fraction("confidence_score", 0.5)
    created = cells.time("created_at") or timezone.now()
    values: dict[str, Any] = {
        "category": cells.required("category", most=50, instead="uncategorised"),
        "name": cells.required("name", most=255, instead=described or code),
        "description": described,
        "code_example": code,
        "language": cells.text("language", most=50),
        "confidence_score": confidence,
        "prior_confidence": confidence,
        "usage_count": cells.whole("usage_count", 0),
        "tags": cells.tags(),
        "created_at": created,
    }
    updated = cells.time("updated_at") or created
    if FIRST_STAMP < updated < LAST_STAMP:
        values["updated_at"] = updated
    return values


def session_of(cells: Cells) -> dict[str, Any]:
    started = cells.time("started_at")
    return {
        "session_id": _session_id(cells),
        "started_at": started or cells.time("ended_at") or timezone.now(),
        "ended_at": cells.time("ended_at"),
        "summary": cells.text("summary"),
        "context": cells.json("context"),
        "tags": cells.tags(),
        "created_at": cells.time("created_at") or started or timezone.now(),
    }


def _session_id(cells: Cells) -> str:
    name = cells.text("session_id")
    if name is None:
        return cells.required("session_id", instead=f"session-{cells.key}")
    if len(name) > 255:
        short = f"{name[:240]}…{hashlib.sha256(name.encode()).hexdigest()[:12]}"
        cells.tell("session_id", f"has {len(name)} characters: shortened to {short[:20]}…{short[-12:]}", name)
        return short
    return name


def pitfall_of(cells: Cells) -> dict[str, Any]:
    described = cells.text("description")
    return {
        "category": cells.required("category", most=50, instead="uncategorised"),
        "title": cells.required("title", most=255, instead=described or cells.text("how_to_avoid")),
        "description": described,
        "how_to_avoid": cells.text("how_to_avoid"),
        "severity": cells.choice("severity", SEVERITIES, Severity.MEDIUM, Severity.MEDIUM),
        "encountered_count": cells.whole("encountered_count", 1),
        "tags": cells.tags(),
        "created_at": cells.time("created_at") or timezone.now(),
    }


def run_of(cells: Cells) -> dict[str, Any]:
    started = cells.time("started_at")
    ended = cells.time("ended_at")
    return {
        "agent_name": cells.required("agent_name", most=255, instead="unknown"),
        "agent_version": cells.text("agent_version", most=50),
        "trigger_type": cells.text("trigger_type", most=100),
        "trigger_payload": cells.json("trigger_payload"),
        "started_at": started or ended or timezone.now(),
        "ended_at": ended,
        "status": cells.choice("status", RUN_STATUSES, RunStatus.RUNNING, RunStatus.RUNNING),
        "outcome": cells.json("outcome"),
        "tool_calls": cells.json("tool_calls"),
        "token_cost": cells.whole("token_cost", None),
        "escalated_to_human": _flag(cells, "escalated_to_human"),
        "confidence": _two_digits(cells.fraction("confidence", None)),
        "tags": cells.tags(),
        "created_at": cells.time("created_at") or started or timezone.now(),
    }


def memory_of(cells: Cells) -> dict[str, Any]:
    vector = cells.json("embedding")
    if isinstance(vector, str):  # a column of text that holds a list
        vector = None
    model = cells.text("embedding_model", most=255) or cells.text("model", most=255)
    summary = cells.text("summary")
    if summary is None:
        raise LeftOut("has no summary")
    return {
        "agent_name": cells.required("agent_name", most=255, instead="unknown"),
        "summary": summary,
        "embedding": vector,
        # A vector of a model that nobody names is kept, and compared with none.
        "embedding_model": (model or UNNAMED_MODEL) if vector is not None else None,
        "tags": cells.tags(),
        "created_at": cells.time("created_at") or timezone.now(),
    }


def outcome_of(cells: Cells) -> dict[str, Any]:
    written = cells.text("type")
    kind = _NOT_TYPE.sub("_", (written or "").strip().lower()).strip("_-")[:50].lstrip("0123456789_-")
    if not kind:
        cells.tell("type", "names no type: 'unknown' stands for it", written)
        kind = "unknown"
    elif kind != written:
        cells.tell("type", f"is written {written!r}: kept as {kind!r}", written)
    happened = cells.time("occurred_at") or cells.time("created_at")
    return {
        "type": kind,
        "success_rate": cells.fraction("success_rate", None),
        "note": cells.text("note") or cells.text("description"),
        "occurred_at": happened,
        "created_at": cells.time("created_at") or happened or timezone.now(),
    }


def hex_id(written: Any, origin: str) -> tuple[str, bool]:
    """A run's key of 32 hex digits, and whether it is the one that was written (with or without hyphens)."""
    text = str(written or "").strip()
    try:
        return uuid.UUID(text).hex, True
    except ValueError:
        return uuid.uuid5(uuid.NAMESPACE_URL, f"{origin} {text}").hex, False


def _decoded(value: Any) -> str | None:
    return value.decode("utf-8", "replace") if isinstance(value, bytes) else value


def _flag(cells: Cells, name: str) -> bool:
    value = cells.row.get(name)
    return str(value).strip().lower() in ("1", "true", "yes") if value is not None else False


def _two_digits(number: float | None) -> Any:
    return None if number is None else Decimal(f"{number:.2f}")


@dataclass(frozen=True)
class Plan:
    """How one table, or one sort of line or relation, is adopted. `reads` are the columns that are looked for."""

    table: str
    kind: Kind
    values_of: Callable[[Cells], Mapping[str, Any]]
    reads: tuple[str, ...]


DECISIONS = Plan(
    "architecture_decisions", DECISION, decision_of,
    ("id", "project_id", "title", "decision", "rationale", "alternatives_considered", "status", "decided_at", "tags", "created_at"),
)  # fmt: skip
PATTERNS = Plan(
    "code_patterns", PATTERN, pattern_of,
    ("id", "project_id", "category", "name", "description", "code_example", "language", "confidence_score",
     "usage_count", "created_at", "updated_at", "tags"),
)  # fmt: skip
SESSIONS = Plan(
    "work_sessions", SESSION, session_of,
    ("id", "session_id", "project_id", "started_at", "ended_at", "summary", "context", "created_at", "tags"),
)  # fmt: skip
PITFALLS = Plan(
    "pitfalls", PITFALL, pitfall_of,
    ("id", "project_id", "category", "title", "description", "how_to_avoid", "severity", "encountered_count",
     "created_at", "tags"),
)  # fmt: skip
RUNS = Plan("agent_runs", RUN, run_of, ())
MEMORIES = Plan("agent_memory", MEMORY, memory_of, ())
OUTCOMES = Plan("outcomes", OUTCOME, outcome_of, ())
OF_TABLES = (DECISIONS, PATTERNS, SESSIONS, PITFALLS)
