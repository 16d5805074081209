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

TOKEN_PLACEHOLDER = "$MEMORY_DESK_TOKEN"  # noqa: S105  (a shell variable's name)
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


def token_command(project: Project) -> str:
    return f"{python_command()} manage.py make_token --project {project.slug}"


def write_command(address: str, project: Project, token: str = TOKEN_PLACEHOLDER) -> str:
    """curl that records a decision; it arrives unreviewed."""
    body = json.dumps({"project": project.slug, **EXAMPLE}, ensure_ascii=False, indent=1)
    return (
        f"curl -sS {address}{_api('decisions')} \\\n"
        f' -H "Authorization: Bearer {token}" \\\n'
        ' -H "Content-Type: application/json" \\\n'
        f" -d {shlex.quote(body)}"
    )


def recall_command(address: str, project: Project, token: str = TOKEN_PLACEHOLDER) -> str:
    """curl that asks what is known that is like a text."""
    return (
        f"curl -sS -G {address}{_api('similar')} \\\n"
        f' -H "Authorization: Bearer {token}" \\\n'
        f" -d project={project.slug} \\\n"
        ' --data-urlencode "text=order totals are slow at month end"'
    )


def _api(name: str) -> str:
    return f"/api/v1/{name}/"


def address_of_desk() -> str:
    """The address for commands, which have no request to read it from."""
    return str(settings.SITE_URL)
