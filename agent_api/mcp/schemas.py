"""Input schemas of the tools, out of the API's own description: what the one accepts the other does."""

from __future__ import annotations

import json
from functools import cache
from typing import Any

from agent_api import openapi
from agent_api.mcp.tools import ABOUT_A_CALL, ABOUT_A_WRITE, API, BY_NAME

COMPONENT, DEFINITION = "#/components/schemas/", "#/$defs/"


@cache
def _document() -> dict[str, Any]:
    document: dict[str, Any] = json.loads(openapi.description())
    return document


@cache
def input_schema_of(name: str) -> dict[str, Any]:
    """JSON Schema 2020-12 of a tool's arguments; nothing that it does not name is taken."""
    tool = BY_NAME[name]
    method, path = tool.operation
    operation = _document()["paths"][API + path][method.lower()]
    properties: dict[str, Any] = {}
    required = [*tool.required]
    for parameter in operation.get("parameters", []):
        if parameter["in"] == "query" and (tool.only is None or parameter["name"] in tool.only):
            properties[parameter["name"]] = _with_description(parameter)
            required += [parameter["name"]] if parameter.get("required") else []
    body = _body_of(operation)
    properties |= {name: one for name, one in body.get("properties", {}).items() if name not in tool.hidden}
    required += body.get("required", [])
    about = {**ABOUT_A_CALL, **ABOUT_A_WRITE} if tool.is_write else ABOUT_A_CALL
    properties = {**about, **properties}
    schema: dict[str, Any] = {
        "type": "object",
        "properties": {**properties, **tool.extra},
        "required": sorted(set(required)),
        "additionalProperties": False,
    }
    definitions = _definitions_of(schema)
    if definitions:
        schema["$defs"] = definitions
    moved: dict[str, Any] = json.loads(json.dumps(schema).replace(COMPONENT, DEFINITION))
    return moved


def _with_description(parameter: dict[str, Any]) -> dict[str, Any]:
    schema: dict[str, Any] = dict(parameter["schema"])
    if parameter.get("description"):
        schema["description"] = parameter["description"]
    return schema


def _body_of(operation: dict[str, Any]) -> dict[str, Any]:
    content = operation.get("requestBody", {}).get("content", {})
    schema = content.get("application/json", {}).get("schema", {})
    return _resolved(schema)


def _resolved(schema: dict[str, Any]) -> dict[str, Any]:
    name = schema.get("$ref", "").removeprefix(COMPONENT)
    found: dict[str, Any] = _document()["components"]["schemas"][name] if name else schema
    return found


def _definitions_of(schema: Any) -> dict[str, Any]:
    """Every component that the schema refers to, and those that these refer to."""
    found: dict[str, Any] = {}
    waiting = [schema]
    while waiting:
        value = waiting.pop()
        if isinstance(value, dict):
            name = str(value.get("$ref", "")).removeprefix(COMPONENT)
            if name and name not in found:
                found[name] = _document()["components"]["schemas"][name]
                waiting.append(found[name])
            waiting += value.values()
        elif isinstance(value, list):
            waiting += value
    return found
