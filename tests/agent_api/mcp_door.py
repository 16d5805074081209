"""The MCP door by hand."""

from __future__ import annotations

import json

from django.test import Client

STATELESS = "2026-07-28"


class Door:
    """A client of either generation; `call` answers a tool's result."""

    def __init__(self, token: str | None, version: str | None = None) -> None:
        self.token, self.version = token, version

    def send(self, method, params=None, *, headers=None, number=7):
        params = dict(params or {})
        sent = {"Authorization": f"Bearer {self.token}"} if self.token else {}
        if self.version:
            meta = {
                "io.modelcontextprotocol/protocolVersion": self.version,
                "io.modelcontextprotocol/clientCapabilities": {},
            }
            params["_meta"] = meta
            sent |= {"MCP-Protocol-Version": self.version, "Mcp-Method": method}
            named = params.get("uri" if method == "resources/read" else "name")
            sent |= {"Mcp-Name": named} if named else {}
        body = {"jsonrpc": "2.0", "id": number, "method": method, "params": params}
        return self.raw(json.dumps(body).encode(), {**sent, **(headers or {})})

    def raw(self, body, headers=None, **options):
        client = Client(raise_request_exception=False)
        given = {"Authorization": f"Bearer {self.token}"} if self.token else {}
        headers = {name: value for name, value in {**given, **(headers or {})}.items() if value is not None}
        return client.generic("POST", "/mcp", body, "application/json", headers=headers, **options)

    def result(self, method, params=None):
        answer = self.send(method, params)
        assert answer.status_code == 200, answer.content
        return answer.json()["result"]

    def call(self, tool, **arguments):
        return self.result("tools/call", {"name": tool, "arguments": arguments})
