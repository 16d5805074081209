"""How each client is told of the desk: text to copy, with this desk's own address, and a token where one was just made."""

from __future__ import annotations

import json
from dataclasses import dataclass
from typing import Any

from django.utils.translation import gettext as _

from projects.models import Project
from projects.snippets import TOKEN_VARIABLE, write_command

SERVER = "memory-desk"


@dataclass(frozen=True)
class Snippet:
    """`where` says what to do with the text: a shell, or the file that it goes into."""

    client: str
    where: str
    text: str


def snippets(address: str, project: Project, token: str | None) -> list[Snippet]:
    """Without a token each names the variable that holds it, in the client's own way."""
    mcp = f"{address}/mcp"
    shell = token or f"${TOKEN_VARIABLE}"
    return [
        Snippet("Claude Code", _("In a shell, in the folder of the work:"), _claude(mcp, shell)),
        Snippet(
            "Cursor",
            _("In .cursor/mcp.json:"),
            _json({"mcpServers": {SERVER: _entry(mcp, token or f"${{env:{TOKEN_VARIABLE}}}")}}),
        ),
        Snippet("VS Code", _("In .vscode/mcp.json:"), _json(_vs_code(mcp, token))),
        Snippet("curl", _("In a shell:"), _curl(address, project, token)),
        Snippet("Python", _("With nothing but the standard library:"), _python(address, project, token)),
    ]


def _claude(mcp: str, token: str) -> str:
    return f'claude mcp add --transport http {SERVER} {mcp} \\\n  --header "Authorization: Bearer {token}"'


def _entry(mcp: str, token: str) -> dict[str, Any]:
    return {"url": mcp, "headers": {"Authorization": f"Bearer {token}"}}


def _vs_code(mcp: str, token: str | None) -> dict[str, Any]:
    """It asks for what it is not given, and keeps it out of the file."""
    entry = {"type": "http", **_entry(mcp, token or "${input:memory-desk-token}")}
    if token:
        return {"servers": {SERVER: entry}}
    asked = {
        "id": "memory-desk-token",
        "type": "promptString",
        "password": True,
        "description": "The token of the desk (mdk_…)",
    }
    return {"inputs": [asked], "servers": {SERVER: entry}}


def _curl(address: str, project: Project, token: str | None) -> str:
    command = write_command(address, project)
    return command.replace(f"${TOKEN_VARIABLE}", token) if token else command


def _python(address: str, project: Project, token: str | None) -> str:
    given = repr(token) if token else f'os.environ["{TOKEN_VARIABLE}"]'
    needs = "import json, urllib.request" if token else "import json, os, urllib.request"
    asked = json.dumps({"project": project.slug, "task": "Cache the order totals", "budget": 1500})
    return (
        f"{needs}\n\n"
        "request = urllib.request.Request(\n"
        f'    "{address}/api/v1/context",\n'
        f"    data=json.dumps({asked}).encode(),\n"
        f'    headers={{"Authorization": "Bearer " + {given}, "Content-Type": "application/json"}},\n'
        ")\n"
        'print(json.load(urllib.request.urlopen(request))["markdown"])'
    )


def _json(value: Any) -> str:
    return json.dumps(value, indent=2, ensure_ascii=False)
