"""Writes of the doors themselves: the catalogue of what MCP offers, and what each token used of it."""

from __future__ import annotations

import logging
from typing import Any

from django.db import DatabaseError, IntegrityError, transaction
from django.db.models import F
from django.utils import timezone

from agent_api.mcp.resources import LISTINGS, TEMPLATE
from agent_api.mcp.tools import TOOLS
from agent_api.models import CatalogueEntry, CatalogueUse, EntryKind
from projects.models import AgentToken

log = logging.getLogger("memory_desk.mcp")


@transaction.atomic
def sync_catalogue(**_signal: Any) -> None:
    """Make the table what the code offers; an entry that is no longer offered keeps its counts."""
    kept = []
    for entry in _offered():
        names = {"kind": entry.pop("kind"), "name": entry.pop("name")}
        row, _made = CatalogueEntry.objects.update_or_create(**names, defaults={**entry, "is_offered": True})
        kept.append(row.pk)
    CatalogueEntry.objects.exclude(pk__in=kept).update(is_offered=False)


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


def note_call(kind: str, name: str, token: AgentToken, *, failed: bool) -> None:
    """Count one call: two statements, three the first time. What was done is answered though it cannot be counted."""
    try:
        _count_call(kind, name, token, failed=failed)
    except DatabaseError as error:
        log.warning("A call of %s was not counted: %s", name, error)


def _count_call(kind: str, name: str, token: AgentToken, *, failed: bool) -> None:
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
