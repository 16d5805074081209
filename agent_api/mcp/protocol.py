"""The Model Context Protocol over HTTP: one POST, one JSON answer, no session kept between two of them.

Two generations of clients: those that shake hands first (`initialize`, revisions to 2025-11-25), and those whose every
request says its revision in `_meta` (2026-07-28). Source: modelcontextprotocol.io/specification.
"""

from __future__ import annotations

import base64
import binascii
import json
import re
from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any

PARSE_ERROR, INVALID_REQUEST, METHOD_NOT_FOUND, INVALID_PARAMS = -32700, -32600, -32601, -32602
INTERNAL_ERROR = -32603
RESOURCE_NOT_FOUND = -32002  # of the clients that shake hands; later ones take INVALID_PARAMS
HEADER_MISMATCH, UNSUPPORTED_VERSION = -32020, -32022
HANDSHAKE_VERSIONS = ("2025-03-26", "2025-06-18", "2025-11-25")
STATELESS_VERSIONS = ("2026-07-28",)
VERSIONS = (*HANDSHAKE_VERSIONS, *STATELESS_VERSIONS)
META = "io.modelcontextprotocol/"
# The parameter that Mcp-Name repeats, so that a gateway can route without reading the body.
NAMED_BY = {"tools/call": "name", "prompts/get": "name", "resources/read": "uri"}
ENCODED = re.compile(r"=\?base64\?(.*)\?=", re.DOTALL)
DEEPEST = 64


class McpError(Exception):
    """An error of the protocol, to be answered as such; what a tool refuses is an answer of the tool instead."""

    def __init__(self, code: int, message: str, data: Any = None) -> None:
        super().__init__(message)
        self.code, self.message, self.data = code, message, data


@dataclass(frozen=True)
class Message:
    """One message of a client. `id` None: a notification, which is not answered."""

    method: str
    params: Mapping[str, Any]
    id: str | int | None
    version: str

    @property
    def is_stateless(self) -> bool:
        return self.version in STATELESS_VERSIONS


def read_message(body: bytes, headers: Mapping[str, str]) -> Message:
    """The message in a request's body. Raises McpError; its `id` then is what `id_of` can read."""
    given = _decoded(body)
    method, params, number = given.get("method"), given.get("params", {}), given.get("id")
    if not isinstance(method, str) or given.get("jsonrpc") != "2.0":
        raise McpError(INVALID_REQUEST, 'A request has "jsonrpc": "2.0" and a "method".')
    if not isinstance(params, dict):
        raise McpError(INVALID_PARAMS, "params must be an object.")
    if "id" in given and (isinstance(number, bool) or not isinstance(number, str | int)):
        raise McpError(INVALID_REQUEST, "id must be a string or a whole number.")
    return Message(method, params, number, _version(method, params, headers))


def id_of(body: bytes) -> str | int | None:
    """The id of a request that cannot be served, where it has one."""
    try:
        number = _decoded(body).get("id")
    except McpError:
        return None
    return number if isinstance(number, str | int) and not isinstance(number, bool) else None


def _decoded(body: bytes) -> dict[str, Any]:
    try:
        given = json.loads(body)
    except (ValueError, RecursionError) as error:
        raise McpError(PARSE_ERROR, "The body is not JSON in UTF-8.") from error
    if isinstance(given, list):
        raise McpError(INVALID_REQUEST, "Send one request at a time: batches are not answered.")
    if not isinstance(given, dict):
        raise McpError(INVALID_REQUEST, "A request is a JSON object.")
    if _is_deeper(given, DEEPEST):
        raise McpError(INVALID_REQUEST, f"The body is nested deeper than {DEEPEST} levels.")
    return given


def _is_deeper(value: Any, levels: int) -> bool:
    if not isinstance(value, dict | list):
        return False
    inner = value.values() if isinstance(value, dict) else value
    return levels == 0 or any(_is_deeper(one, levels - 1) for one in inner)


def _version(method: str, params: Mapping[str, Any], headers: Mapping[str, str]) -> str:
    """The revision by which this request is answered; checked against the headers that repeat the body."""
    meta = params.get("_meta")
    said = meta.get(f"{META}protocolVersion") if isinstance(meta, dict) else None
    header = headers.get("MCP-Protocol-Version")
    if said is None and (header is None or header in HANDSHAKE_VERSIONS or method == "initialize"):
        return header if header in HANDSHAKE_VERSIONS else HANDSHAKE_VERSIONS[0]
    if not isinstance(said, str) or not isinstance(meta, dict):
        if header not in VERSIONS:
            raise _unsupported(header)
        raise McpError(INVALID_PARAMS, f"params._meta must say {META}protocolVersion.")
    if header is not None and header != said:
        raise McpError(HEADER_MISMATCH, "MCP-Protocol-Version and _meta name two different revisions.")
    if said in HANDSHAKE_VERSIONS:
        return said
    if said not in STATELESS_VERSIONS:
        raise _unsupported(said)
    if f"{META}clientCapabilities" not in meta:
        raise McpError(INVALID_PARAMS, f"params._meta must say {META}clientCapabilities.")
    _check_headers(method, params, headers)
    return said


def _unsupported(version: Any) -> McpError:
    data = {"supported": [*VERSIONS], "requested": str(version)}
    return McpError(UNSUPPORTED_VERSION, "This revision of the protocol is not spoken here.", data)


def _check_headers(method: str, params: Mapping[str, Any], headers: Mapping[str, str]) -> None:
    if headers.get("MCP-Protocol-Version") is None:
        raise McpError(HEADER_MISMATCH, "The header MCP-Protocol-Version is missing.")
    if headers.get("Mcp-Method") != method:
        raise McpError(HEADER_MISMATCH, "The header Mcp-Method does not repeat the body's method.")
    named = params.get(NAMED_BY[method]) if method in NAMED_BY else None
    if named is not None and _header_text(headers.get("Mcp-Name")) != named:
        raise McpError(HEADER_MISMATCH, f"The header Mcp-Name does not repeat params.{NAMED_BY[method]}.")


def _header_text(value: str | None) -> str | None:
    """A header's text: as it stands, or in base64 where it is no printable ASCII."""
    encoded = ENCODED.fullmatch(value) if value else None
    if encoded is None:
        return value
    try:
        return base64.b64decode(encoded[1], validate=True).decode()
    except (binascii.Error, UnicodeDecodeError):
        return None


def status_of(code: int, *, is_stateless: bool) -> int:
    """The HTTP status beside an error of the protocol."""
    if code == METHOD_NOT_FOUND:
        return 404 if is_stateless else 200
    if code in (PARSE_ERROR, INVALID_REQUEST, HEADER_MISMATCH, UNSUPPORTED_VERSION):
        return 400
    return 400 if is_stateless else 200
