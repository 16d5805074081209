"""Commands to copy, with this desk's own address, project and interpreter in them."""

from __future__ import annotations

import json
import shlex
import sys
from pathlib import Path
from typing import Any

from django.conf import settings
from django.http import HttpRequest

from projects.models import Project

# A shell variable: the commands work as they are once it is set, and hold no secret when they are passed on.
TOKEN_VARIABLE = "MEMORY_DESK_TOKEN"  # noqa: S105
EXAMPLE: dict[str, Any] = {
    "title": "Cache order totals in Redis for 60 s",
    "decision": "Serve order totals from Redis with a 60 s expiry; recompute on a miss.",
    "rationale": "p95 of GET /orders/{id} was 480 ms at month end.",
    "tags": ["redis", "latency"],
}


def address_of(request: HttpRequest) -> str:
    """Scheme and host as the reader's own browser reaches the desk."""
    return request.build_absolute_uri("/").rstrip("/")


def python_command() -> str:
    """The interpreter that runs this desk, as one types it in the desk's folder."""
    python = Path(sys.executable)
    folder = Path(settings.BASE_DIR)
    return shlex.quote(str(python.relative_to(folder) if python.is_relative_to(folder) else python))


def import_command(project: Project) -> str:
    return f"{python_command()} manage.py import_adrs PATH --project {project.slug}"


def postmortems_command(project: Project) -> str:
    return f"{python_command()} manage.py import_postmortems PATH --project {project.slug}"


def token_command(project: Project) -> str:
    return f"{python_command()} manage.py make_token --project {project.slug}"


def write_command(address: str, project: Project) -> str:
    """curl that records a decision; it arrives unreviewed."""
    fields = {"project": project.slug, **EXAMPLE}
    lines = [
        f" {json.dumps(name)}: {json.dumps(value, ensure_ascii=False)}" for name, value in fields.items()
    ]
    body = "{\n" + ",\n".join(lines) + "\n}"
    return (
        f"curl -sS {address}/api/v1/decisions \\\n"
        f' -H "Authorization: Bearer ${TOKEN_VARIABLE}" \\\n'
        ' -H "Content-Type: application/json" \\\n'
        f" -d {shlex.quote(body)}"
    )


def similar_command(address: str, node_id: str) -> str:
    """curl that asks what is known that is like a record."""
    return (
        f"curl -sS {address}/api/v1/records/{node_id}/similar \\\n"
        f' -H "Authorization: Bearer ${TOKEN_VARIABLE}"'
    )


def context_command(address: str, body: dict[str, Any]) -> str:
    """curl that asks for a context pack."""
    return _asking(f"{address}/api/v1/context", body)


def incidents_command(address: str, body: dict[str, Any]) -> str:
    """curl that asks for past incidents like a text."""
    return _asking(f"{address}/api/v1/incidents", body)


def _asking(url: str, body: dict[str, Any]) -> str:
    return (
        f"curl -sS {url} \\\n"
        f' -H "Authorization: Bearer ${TOKEN_VARIABLE}" \\\n'
        ' -H "Content-Type: application/json" \\\n'
        f" -d {shlex.quote(json.dumps(body, ensure_ascii=False, indent=1))}"
    )


def export_command(token: str) -> str:
    return f"export {TOKEN_VARIABLE}={token}"


def address_of_desk() -> str:
    """The address for commands, which have no request to read it from."""
    return str(settings.SITE_URL)
