"""One record of any kind, and where its pages are."""

from __future__ import annotations

from typing import Any

from django.urls import reverse

from decisions.actions import create_decision, record_outcome
from patterns.actions import create_pattern
from pitfalls.actions import create_pitfall
from projects.models import Project
from records.actor import Actor
from records.guard import writing
from records.kinds import kind_of
from runs.actions import record_run, remember
from work_sessions.actions import start_session

KINDS = ("decision", "outcome", "pattern", "pitfall", "session", "run", "memory")
LISTS = {
    "decision": "decisions:list",
    "outcome": "decisions:outcomes",
    "pattern": "patterns:list",
    "pitfall": "pitfalls:list",
    "session": "work_sessions:list",
    "run": "runs:list",
}


def make(kind: str, actor: Actor, project: Project, title: str = "Cache totals", **fields: Any) -> Any:
    """A record of the kind whose heading holds `title`."""
    common: dict[str, Any] = {"actor": actor, "project": project}
    if kind == "decision":
        return create_decision(**common, title=title, **{"decision": "Serve totals from Redis.", **fields})
    if kind == "outcome":
        decision = fields.pop("decision", None) or create_decision(**common, title=title, decision="D")
        return record_outcome(actor=actor, decision=decision, **{"type": "success", "note": title, **fields})
    if kind == "pattern":
        return create_pattern(**common, name=title, **{"category": "cache", **fields})
    if kind == "pitfall":
        return create_pitfall(**common, title=title, **{"category": "cache", **fields})
    if kind == "session":
        return start_session(**common, session_id=title, **fields)
    if kind == "run":
        return record_run(**common, agent_name="order-bot", trigger_type=title, **fields)
    return remember(**common, agent_name="order-bot", summary=title, **fields)


def list_url(kind: str, slug: str = "shop") -> str:
    return reverse(LISTS[kind], args=[slug])


def page_of(record: Any, slug: str = "shop") -> str:
    return reverse(kind_of(record).url_name, args=[slug, record.pk])


def verb_url(verb: str, record: Any, *more: Any, slug: str = "shop") -> str:
    return reverse(f"records:{verb}", args=[slug, record.node_id, *more])


def write_as_sql(record: Any, **columns: Any) -> None:
    """What a plain-SQL writer would do: the row alone, no history, no mark."""
    with writing():
        type(record).objects.filter(pk=record.pk).update(**columns)
