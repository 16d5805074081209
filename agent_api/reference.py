"""The API's reference page, drawn from its own description."""

from __future__ import annotations

import json
import shlex
from dataclasses import dataclass
from functools import cache
from typing import Any

from django.http import HttpRequest, HttpResponse
from django.shortcuts import render
from django.views.decorators.http import require_safe

from agent_api import openapi
from projects.snippets import TOKEN_VARIABLE, address_of

METHODS = ("get", "post", "put", "patch", "delete")
EVERYWHERE = ("X-Session-Id", "X-Run-Id", "Idempotency-Key", "If-Match")  # said once, at the top
EXAMPLES = {
    "node_id": "dec_123",
    "id": "1",
    "slug": "shop",
    "key": "state",
    "q": "redis",
    "pattern": "pat_45",
}
NODES = {"outcomes": "out_9", "patterns": "pat_45", "pitfalls": "pit_7", "sessions": "ses_3"}
HEX = "9f2b6f0e54b14e0c8d0e1c1f0a1b2c3d"


@dataclass(frozen=True)
class Parameter:
    name: str
    required: bool
    kind: str
    about: str


@dataclass(frozen=True)
class Operation:
    anchor: str
    method: str
    path: str
    summary: str
    about: str
    parameters: tuple[Parameter, ...]
    body: Any
    query: str

    def curl(self, address: str) -> str:
        """A command that works as it is, once the token stands in its variable."""
        lines = [f"curl -sS {shlex.quote(address + _filled(self.path) + self.query)}"]
        if self.method not in ("GET", "POST") or (self.method == "POST" and self.body is None):
            lines[0] += f" -X {self.method}"
        lines.append(f'-H "Authorization: Bearer ${TOKEN_VARIABLE}"')
        if self.body is not None:
            lines.append('-H "Content-Type: application/json"')
            lines.append(f"-d {shlex.quote(json.dumps(self.body, ensure_ascii=False, indent=1))}")
        return " \\\n ".join(lines)


@require_safe
def page(request: HttpRequest) -> HttpResponse:
    """Every operation by resource, each with a command to copy."""
    address = address_of(request)
    groups = [
        (tag, [(operation, operation.curl(address)) for operation in operations])
        for tag, operations in operations_by_tag().items()
    ]
    return render(request, "agent_api/reference.html", {"groups": groups, "address": address})


@cache
def operations_by_tag() -> dict[str, list[Operation]]:
    document = json.loads(openapi.description())
    found: dict[str, list[Operation]] = {}
    for path, methods in document["paths"].items():
        for method in METHODS:
            if method in methods:
                operation = _operation(path, method, methods[method])
                found.setdefault(methods[method]["tags"][0], []).append(operation)
    return dict(sorted(found.items()))


def _operation(path: str, method: str, said: dict[str, Any]) -> Operation:
    parameters = [one for one in said.get("parameters", []) if one["name"] not in EVERYWHERE]
    needed = [
        f"{one['name']}={EXAMPLES.get(one['name'], '…')}"
        for one in parameters
        if one["in"] == "query" and one.get("required")
    ]
    content = said.get("requestBody", {}).get("content", {}).get("application/json", {})
    examples = [one["value"] for one in content.get("examples", {}).values()]
    return Operation(
        anchor=said["operationId"],
        method=method.upper(),
        path=path,
        summary=said["summary"],
        about=said.get("description", ""),
        parameters=tuple(_parameter(one) for one in parameters if one["in"] != "path"),
        body=examples[0] if examples else None,
        query=f"?{'&'.join(needed)}" if needed else "",
    )


def _parameter(one: dict[str, Any]) -> Parameter:
    schema = one.get("schema", {})
    many = schema.get("type") == "array"
    inner = schema.get("items", {}) if many else schema
    kind = (
        ", ".join(map(str, inner["enum"]))
        if "enum" in inner
        else str(inner.get("format") or inner.get("type", ""))
    )
    return Parameter(
        one["name"], bool(one.get("required")), f"{kind}, …" if many else kind, one.get("description", "")
    )


def _filled(path: str) -> str:
    """The path with an example for each of its parameters."""
    resource = path.removeprefix("/api/v1/").split("/")[0]
    node = {"runs": f"run_{HEX}", "memories": f"mem_{HEX}", **NODES}.get(resource, EXAMPLES["node_id"])
    filled = path.replace("{node_id}", node)
    for name, value in EXAMPLES.items():
        filled = filled.replace(f"{{{name}}}", value)
    return filled
