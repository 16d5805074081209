"""The resources: lists and records that a client may read by address, `memory://<project>/…`."""

from __future__ import annotations

import re
from collections.abc import Mapping
from dataclasses import dataclass, field
from datetime import timedelta
from typing import Any

from django.utils import timezone

from agent_api.mcp.inner import Call
from agent_api.mcp.tools import API, path_of
from patterns.queries import TRUSTED
from projects.models import Project

RECENT_DAYS, LISTED = 30, 20
MIME_TYPE = "text/markdown"
URI = re.compile(r"memory://(?P<project>[a-zA-Z0-9_-]{1,100})/(?P<path>[a-z0-9_/]{1,60})", re.ASCII)


@dataclass(frozen=True)
class Listing:
    """A list of a project: `query` may hold what depends on the day."""

    path: str
    name: str
    title: str
    description: str
    api: str
    query: Mapping[str, Any] = field(default_factory=dict)

    def call(self, slug: str) -> Call:
        query = dict(self.query)
        if self.path == "decisions/recent":
            query["decided_after"] = (timezone.now() - timedelta(days=RECENT_DAYS)).date().isoformat()
        return Call(
            method="GET", path=f"{API}/{self.api}", query={**query, "project": slug, "page_size": LISTED}
        )


LISTINGS = (
    Listing(
        "decisions/recent",
        "decisions_recent",
        "Recent decisions",
        f"What was decided in the last {RECENT_DAYS} days, newest first.",
        "decisions",
    ),
    Listing(
        "patterns/trusted",
        "patterns_trusted",
        "Trusted patterns",
        f"Patterns with a confidence of at least {TRUSTED:.2f}, the most used first.",
        "patterns",
        {"confidence_min": TRUSTED, "sort": "usage"},
    ),
    Listing(
        "pitfalls/severe",
        "pitfalls_severe",
        "Severe pitfalls",
        "Critical and high pitfalls, the most often met first.",
        "pitfalls",
        {"severity": ["critical", "high"], "sort": "met"},
    ),
    Listing("runs/recent", "runs_recent", "Recent runs", "The agents' last runs, newest first.", "runs"),
)
BY_PATH = {listing.path: listing for listing in LISTINGS}
TEMPLATE = {
    "uriTemplate": "memory://{project}/{node_id}",
    "name": "record",
    "title": "A record",
    "description": "One record of any kind as a whole, by its name, such as dec_123.",
    "mimeType": MIME_TYPE,
}


def described(project: Project) -> list[dict[str, Any]]:
    return [
        {
            "uri": f"memory://{project.slug}/{listing.path}",
            "name": f"{project.slug}_{listing.name}",
            "title": f"{listing.title} · {project.name}",
            "description": listing.description,
            "mimeType": MIME_TYPE,
        }
        for listing in LISTINGS
    ]


@dataclass(frozen=True)
class Asked:
    """What an address names: the API's call, and by what name its use is counted."""

    slug: str
    name: str
    call: Call


def asked_for(uri: str) -> Asked | None:
    """None where the address names nothing of ours. Whether the token may see it, the call tells."""
    match = URI.fullmatch(uri)
    if match is None:
        return None
    slug, path = match["project"], match["path"]
    if path in BY_PATH:
        return Asked(slug, BY_PATH[path].name, BY_PATH[path].call(slug))
    address = path_of(path)
    return None if address is None else Asked(slug, str(TEMPLATE["name"]), Call(method="GET", path=address))
