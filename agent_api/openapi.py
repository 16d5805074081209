"""The OpenAPI description: the headers every call may carry, the problems every call may answer."""

from __future__ import annotations

import functools
import json
from typing import Any

from django.conf import settings
from drf_spectacular.generators import SchemaGenerator
from drf_spectacular.openapi import AutoSchema
from drf_spectacular.renderers import OpenApiJsonRenderer
from drf_spectacular.utils import OpenApiParameter

from agent_api.door import asks_only
from agent_api.problems import MEDIA_TYPE

EVERY_CALL = [
    OpenApiParameter("X-Session-Id", str, "header", description="The session the agent works in."),
    OpenApiParameter("X-Run-Id", str, "header", description="The run the agent works in."),
]
IDEMPOTENCY_KEY = OpenApiParameter(
    "Idempotency-Key",
    str,
    "header",
    description="Any unique text: repeated with it, the same request is done once and answered alike.",
)
IF_MATCH = OpenApiParameter(
    "If-Match", str, "header", description='The ETag that was read ("3"), instead of version; * for any.'
)
PROBLEM = {
    "type": "object",
    "description": "RFC 9457.",
    "required": ["type", "title", "status", "detail", "instance", "request_id"],
    "properties": {
        "type": {"type": "string", "format": "uri"},
        "title": {"type": "string"},
        "status": {"type": "integer"},
        "detail": {"type": "string"},
        "instance": {"type": "string"},
        "request_id": {"type": "string"},
        "errors": {
            "type": "object",
            "description": "By field path, such as tags.2.",
            "additionalProperties": {"type": "array", "items": {"type": "string"}},
        },
        "expected_version": {"type": "integer", "description": "With 412."},
        "current": {"type": ["object", "null"], "description": "With 412: the record as it is kept now."},
    },
}


class DoorSchema(AutoSchema):
    def get_override_parameters(self) -> list[Any]:
        if asks_only(self.view, self.method):
            return EVERY_CALL
        asked = None if self.method == "DELETE" else self.get_request_serializer()
        fields = getattr(asked, "_declared_fields", {})
        return [*EVERY_CALL, IDEMPOTENCY_KEY, *([IF_MATCH] if "version" in fields else [])]

    def get_tags(self) -> list[str]:
        return [self.path.removeprefix("/api/v1/").split("/")[0]]


def without_optional_slash(endpoints: list[tuple[Any, ...]], **_options: Any) -> list[tuple[Any, ...]]:
    """`/decisions` and `/decisions/` are one address; the description shows the first."""
    return [(path.rstrip("/"), *rest) for path, *rest in endpoints]


def with_problems(result: dict[str, Any], **_options: Any) -> dict[str, Any]:
    """Each operation may answer a problem."""
    result.setdefault("components", {}).setdefault("schemas", {})["Problem"] = PROBLEM
    answer = {
        "description": "A problem.",
        "content": {MEDIA_TYPE: {"schema": {"$ref": "#/components/schemas/Problem"}}},
    }
    for operations in result.get("paths", {}).values():
        for operation in operations.values():
            if isinstance(operation, dict) and "responses" in operation:
                operation["responses"]["default"] = answer
    return result


def with_examples(result: dict[str, Any], **_options: Any) -> dict[str, Any]:
    """Each write without an example of its own gets one made of its schema: what it needs, and the reason."""
    for operations in result.get("paths", {}).values():
        for operation in operations.values():
            body = operation.get("requestBody", {}) if isinstance(operation, dict) else {}
            for content in body.get("content", {}).values():
                if not content.get("examples"):
                    value = example_of(content["schema"], result["components"]["schemas"])
                    content["examples"] = {"Example": {"value": value}}
    return result


NAMED = {
    "decision": "dec_123", "by": "dec_124", "other": "dec_124", "version": 3, "session_id": "deploy-2026-11-29",
    "title": "The connection pool drains under retries", "category": "database", "name": "Cache-aside", "type": "outage",
    "reason": "Seen again in the load test.", "note": "Cut the queries by half.", "summary": "Throttled the purge job.",
}  # fmt: skip


def example_of(schema: dict[str, Any], components: dict[str, Any], name: str = "") -> Any:
    """A value that the schema takes."""
    if "$ref" in schema:
        return example_of(components[schema["$ref"].rpartition("/")[2]], components, name)
    for several in ("allOf", "oneOf"):
        if several in schema:
            return example_of(schema[several][0], components, name)
    if "enum" in schema:
        return schema["enum"][0]
    form = schema.get("type", "object")
    form = form[0] if isinstance(form, list) else form
    if form == "object":
        wanted = [*schema.get("required", ()), "reason", "note"]
        inner = {one: said for one, said in schema.get("properties", {}).items() if one in wanted}
        return {one: example_of(said, components, one) for one, said in inner.items()}
    if form == "array":
        return [example_of(schema["items"], components, name)]
    plain = {"string": "text", "integer": schema.get("minimum", 1), "number": 0.5, "boolean": True}
    return NAMED.get(name, plain[form]) if form == "string" else plain[form]


@functools.cache
def description() -> bytes:
    """The whole document as JSON, made once a process: it depends on the code only."""
    document = SchemaGenerator().get_schema(request=None, public=True)  # type: ignore[no-untyped-call]
    document["servers"] = [{"url": settings.SITE_URL}]
    rendered: bytes = OpenApiJsonRenderer().render(document, renderer_context={})
    json.loads(rendered)
    return rendered
