"""Reads of the doors themselves: what MCP offers, what was used of it, which agents came."""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import dataclass
from datetime import datetime, timedelta
from typing import Any

from django.db.models import Count, Max, Q, Sum
from django.utils import timezone

from agent_api.models import CatalogueEntry, CatalogueUse
from projects.models import AgentToken, Project

# A token's use is noted once a minute: whoever came since then may be there still.
HERE_FOR = timedelta(minutes=2)


@dataclass(frozen=True)
class EntryUse:
    """One line of the catalogue: the entry, and what the project's tokens used of it."""

    entry: CatalogueEntry
    calls: int
    errors: int
    last_at: datetime | None
    agents: int


def catalogue_of(project: Project) -> list[EntryUse]:
    """What is offered, with the counts of the tokens that may enter this project. One statement."""
    ours = Q(uses__token__projects=project)
    rows: Iterable[Any] = (
        CatalogueEntry.objects.filter(is_offered=True)
        .annotate(
            calls=Sum("uses__calls", filter=ours, default=0),
            failed=Sum("uses__errors", filter=ours, default=0),
            last=Max("uses__last_at", filter=ours),
            agents=Count("uses__token__agent_name", filter=ours, distinct=True),
        )
        .order_by("-kind", "pk")
    )
    return [EntryUse(row, row.calls, row.failed, row.last, row.agents) for row in rows]


@dataclass(frozen=True)
class AgentSeen:
    """One agent: `calls` and `last_call` are of MCP, `last_seen` of any door, to the minute."""

    agent: str
    tokens: int
    last_seen: datetime | None
    calls: int
    last_call: datetime | None

    @property
    def is_here(self) -> bool:
        return self.last_seen is not None and timezone.now() - self.last_seen < HERE_FOR


def agents_seen(project: Project) -> list[AgentSeen]:
    """Agents with a live token, the last to come first. Two statements."""
    tokens = [token for token in AgentToken.objects.filter(projects=project) if token.is_live]
    rows = (
        CatalogueUse.objects.filter(token__in=tokens)
        .order_by()
        .values_list("token_id")
        .annotate(Sum("calls"), Max("last_at"))
    )
    used = {token_id: (calls, last) for token_id, calls, last in rows}
    by_agent: dict[str, list[AgentToken]] = {}
    for token in tokens:
        by_agent.setdefault(token.agent_name, []).append(token)
    seen = [
        AgentSeen(
            agent=agent,
            tokens=len(own),
            last_seen=max((t.last_used_at for t in own if t.last_used_at), default=None),
            calls=sum(used[t.pk][0] for t in own if t.pk in used),
            last_call=max((used[t.pk][1] for t in own if t.pk in used), default=None),
        )
        for agent, own in by_agent.items()
    ]
    return sorted(seen, key=lambda one: (one.last_seen is None, -_seconds(one.last_seen), one.agent))


def _seconds(when: datetime | None) -> float:
    return when.timestamp() if when else 0.0
