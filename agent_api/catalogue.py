"""The catalogue of tools and resources: kept in the database, with what each token used of it."""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import dataclass
from datetime import datetime
from typing import Any

from django.db import IntegrityError, transaction
from django.db.models import Count, F, Max, Q, Sum
from django.utils import timezone

from agent_api.mcp.resources import LISTINGS, TEMPLATE
from agent_api.mcp.tools import TOOLS
from agent_api.models import CatalogueEntry, CatalogueUse, EntryKind
from projects.models import AgentToken, Project


def _offered() -> list[dict[str, Any]]:
    tools = [
        {
            "kind": EntryKind.TOOL,
            "name": tool.name,
            "title": tool.title,
            "description": tool.description,
            "is_write": tool.is_write,
        }
        for tool in TOOLS
    ]
    resources = [(listing.name, listing.title, listing.description) for listing in LISTINGS]
    resources.append((str(TEMPLATE["name"]), str(TEMPLATE["title"]), str(TEMPLATE["description"])))
    return tools + [
        {
            "kind": EntryKind.RESOURCE,
            "name": name,
            "title": title,
            "description": description,
            "is_write": False,
        }
        for name, title, description in resources
    ]


@transaction.atomic
def sync_catalogue(**_signal: Any) -> None:
    """Make the table what the code offers; an entry that is no longer offered keeps its counts."""
    kept = []
    for entry in _offered():
        names = {"kind": entry.pop("kind"), "name": entry.pop("name")}
        row, _made = CatalogueEntry.objects.update_or_create(**names, defaults={**entry, "is_offered": True})
        kept.append(row.pk)
    CatalogueEntry.objects.exclude(pk__in=kept).update(is_offered=False)


def note_call(kind: str, name: str, token: AgentToken, *, failed: bool) -> None:
    """Count one call: two statements, three the first time."""
    more = {"calls": F("calls") + 1, "errors": F("errors") + int(failed), "last_at": timezone.now()}
    key = CatalogueEntry.objects.filter(kind=kind, name=name).values_list("pk", flat=True).first()
    rows = CatalogueUse.objects.filter(token=token, entry_id=key)
    if key is None or rows.update(**more):  # no key: the code is newer than the last migrate
        return
    try:
        with transaction.atomic():
            CatalogueUse.objects.create(token=token, entry_id=key, calls=1, errors=int(failed))
    except IntegrityError:  # another call of the same token was first
        rows.update(**more)


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
