"""The tools: each is one call of the API, with a name and a description that a model chooses by."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from dataclasses import dataclass, field
from typing import Any
from urllib.parse import quote

from django.urls import NoReverseMatch, reverse

from agent_api.mcp.inner import Call
from agent_api.mcp.protocol import INVALID_PARAMS, McpError
from projects.access import Capability
from records.kinds import parse_node_id

Arguments = dict[str, Any]
API = "/api/v1"
# What a write may say of itself beside the fields of what it writes.
ABOUT_A_WRITE: dict[str, dict[str, Any]] = {
    "idempotency_key": {
        "type": "string",
        "minLength": 1,
        "maxLength": 255,
        "description": "Any unique text: repeated with it, the same call is done once and answered alike.",
    },
}
ABOUT_A_CALL: dict[str, dict[str, Any]] = {
    "session_id": {"type": "string", "maxLength": 255, "description": "The session you work in."},
    "run_id": {"type": "string", "maxLength": 40, "description": "The run you work in."},
}
NODE_ID = {"type": "string", "maxLength": 40, "description": "A record's name, such as dec_123."}


@dataclass(frozen=True, kw_only=True)
class Tool:
    """`operation`: (method, path) of the API's description, whose fields and parameters are the tool's arguments.

    `only`: these parameters alone; `hidden`: fields that only the API has; `extra`: arguments that the
    description does not hold; `required`: beyond what the API requires; `is_repeatable`: a write that changes nothing the second time; `call` makes the API's call from the arguments.
    """

    name: str
    title: str
    description: str
    operation: tuple[str, str]
    call: Callable[[Arguments], Call]
    only: tuple[str, ...] | None = None
    hidden: tuple[str, ...] = ()
    extra: Mapping[str, dict[str, Any]] = field(default_factory=dict)
    required: tuple[str, ...] = ()
    is_write: bool = True
    is_repeatable: bool = False

    @property
    def capability(self) -> Capability:
        return Capability.WRITE if self.is_write else Capability.READ

    @property
    def annotations(self) -> dict[str, Any]:
        return {
            "title": self.title,
            "readOnlyHint": not self.is_write,
            "destructiveHint": False,  # nothing is lost: every change is in the history
            "idempotentHint": not self.is_write or self.is_repeatable,
            "openWorldHint": False,
        }


def _taken(arguments: Arguments, *names: str) -> list[str]:
    """Arguments that go into the path."""
    values = [arguments.pop(name, None) for name in names]
    for name, value in zip(names, values, strict=True):
        if not isinstance(value, str) or not value.strip():
            raise McpError(INVALID_PARAMS, f"{name}: give it as a text.")
    return [quote(str(value), safe="") for value in values]


def _posted(path: str) -> Callable[[Arguments], Call]:
    def call(arguments: Arguments) -> Call:
        return Call(method="POST", path=f"{API}/{path}", body=arguments)

    return call


def _asked(path: str, **fixed: Any) -> Callable[[Arguments], Call]:
    def call(arguments: Arguments) -> Call:
        return Call(method="GET", path=f"{API}/{path}", query={**fixed, **arguments})

    return call


def _pattern_used(arguments: Arguments) -> Call:
    (node_id,) = _taken(arguments, "node_id")
    worked = arguments.pop("worked", None)
    if not isinstance(worked, bool):
        raise McpError(INVALID_PARAMS, "worked: must be true or false.")
    return Call(
        method="POST", path=f"{API}/patterns/{node_id}/{'worked' if worked else 'failed'}", body=arguments
    )


def _session_ended(arguments: Arguments) -> Call:
    (session_id,) = _taken(arguments, "session_id")
    return Call(method="POST", path=f"{API}/sessions/{session_id}/end", body=arguments)


def _similar(arguments: Arguments) -> Call:
    (node_id,) = _taken(arguments, "node_id")
    return Call(method="GET", path=f"{API}/records/{node_id}/similar", query=arguments)


def path_of(node_id: str) -> str | None:
    """The API's address of a record of any kind; None where it is no record's name."""
    parsed = parse_node_id(node_id)
    if parsed is None:
        return None
    try:
        return reverse(f"api:{parsed[0].name}-detail", args=[node_id])
    except NoReverseMatch:
        return None


def _record(arguments: Arguments) -> Call:
    path = path_of(str(arguments.get("node_id")))
    if path is None:
        raise McpError(INVALID_PARAMS, "node_id: must be a record's name, such as dec_123.")
    return Call(method="GET", path=path)


TOOLS: tuple[Tool, ...] = (
    Tool(
        name="get_context",
        title="Get context for a task",
        description="Before you start: what this project's memory holds for a task or a trigger, inside a budget of tokens."
        " Recent decisions, trusted patterns, pitfalls to avoid, similar incidents, each with id, score and trust.",
        operation=("POST", "/context"),
        call=_posted("context"),
        is_write=False,
        hidden=("format",),
    ),
    Tool(
        name="search_memory",
        title="Search the memory",
        description='Words, ids, "phrases" and filters in one line: redis status:accepted decided:2026-03 tag:latency.',
        operation=("GET", "/search"),
        call=_asked("search"),
        is_write=False,
    ),
    Tool(
        name="find_similar",
        title="Find similar records",
        description="What is most like a record, best first, by plain cosine; for a text use search_memory, mode meaning.",
        operation=("GET", "/records/{node_id}/similar"),
        call=_similar,
        is_write=False,
        extra={"node_id": NODE_ID},
        required=("node_id",),
    ),
    Tool(
        name="get_record",
        title="Read a record",
        description="One record of any kind as a whole, by its name (dec_123, pat_45, pit_7, out_9, ses_3, run_…).",
        operation=("GET", "/decisions/{node_id}"),
        call=_record,
        is_write=False,
        only=(),
        extra={"node_id": NODE_ID},
        required=("node_id",),
    ),
    Tool(
        name="check_pitfalls",
        title="Check the pitfalls",
        description="Before you implement: known critical and high pitfalls of a category, the most often met first.",
        operation=("GET", "/pitfalls"),
        call=lambda arguments: _asked("pitfalls", sort="met")(
            {"severity": ["critical", "high"], **arguments}
        ),
        is_write=False,
        only=("category", "severity", "tag", "project", "page_size", "cursor"),
    ),
    Tool(
        name="record_decision",
        title="Record a decision",
        description="When you have decided something that a later reader must know. It arrives unreviewed and is recalled"
        " at once; give the rationale and what was considered besides.",
        operation=("POST", "/decisions"),
        call=_posted("decisions"),
    ),
    Tool(
        name="record_outcome",
        title="Record an outcome",
        description="What followed a decision: success, outage, regression, cost, …, and when.",
        operation=("POST", "/outcomes"),
        call=_posted("outcomes"),
    ),
    Tool(
        name="record_pattern",
        title="Record a pattern",
        description="A way of writing code that proved itself, with an example.",
        operation=("POST", "/patterns"),
        call=_posted("patterns"),
    ),
    Tool(
        name="report_pattern_use",
        title="Report whether a pattern worked",
        description="After you used a pattern: its confidence follows these reports.",
        operation=("POST", "/patterns/{node_id}/worked"),
        call=_pattern_used,
        extra={"node_id": NODE_ID, "worked": {"type": "boolean", "description": "false: it failed."}},
        required=("node_id", "worked"),
    ),
    Tool(
        name="record_pitfall",
        title="Record a pitfall",
        description="What went wrong, why, and how the next one avoids it.",
        operation=("POST", "/pitfalls"),
        call=_posted("pitfalls"),
    ),
    Tool(
        name="start_session",
        title="Start a session",
        description="Start a session of work, or say more of one by the same session_id; use it in later calls.",
        operation=("POST", "/sessions"),
        call=_posted("sessions"),
        is_repeatable=True,
    ),
    Tool(
        name="end_session",
        title="End a session",
        description="End a session and say what was done in it.",
        operation=("POST", "/sessions/{node_id}/end"),
        call=_session_ended,
        extra={"session_id": {"type": "string", "maxLength": 255, "description": "As it was started with."}},
        required=("session_id",),
        is_repeatable=True,
    ),
    Tool(
        name="record_run",
        title="Record a run",
        description="One run as a whole: what set it off, each tool call, how it ended; its summary is found again by the"
        " next similar trigger.",
        operation=("POST", "/runs"),
        call=_posted("runs"),
    ),
)
BY_NAME = {tool.name: tool for tool in TOOLS}
