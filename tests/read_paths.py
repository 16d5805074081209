"""The tables of tests/test_read_paths.py: each way to read a record, and what it shows of those that are not active.

A path that reads records is a `List`, a `One` (a record asked for by its id) or shows `Everything` on purpose; one that
reads none stands in WITHOUT, with why.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

from records.kinds import all_kinds
from tests.records.samples import KINDS

BESIDE = ("rejected", "quarantined", "archived", "merged")  # what is asked for shows its text
STATES = (*BESIDE, "erased")


def marker(state: str, kind: str) -> str:
    """A word of one record alone."""
    return f"qq{state}zz{kind}"


@dataclass(frozen=True)
class List:
    """Hides what is not active. With `behind` in its address it shows the hidden ones too; `told` is how it says their
    number. What it lacks of the two, `why` explains. `kinds`: whose active records it shows."""

    address: str
    kinds: tuple[str, ...] = ()
    behind: str = ""
    told: str = ""
    why: str = ""
    body: Any = None
    until: str = ""  # what follows is the history, which tells of every state


@dataclass(frozen=True)
class One:
    """A record asked for by its id, active or not, and only that one: what surrounds it is hidden where it is hidden.
    `shows`: it has the record's own text; `beside`: states that it names on purpose, as `why` says."""

    address: str
    kind: str = "decision"
    shows: bool = True
    beside: tuple[str, ...] = ()
    why: str = ""


@dataclass(frozen=True)
class Everything:
    """Shows every state on purpose; of the erased no text."""

    address: str
    why: str
    body: Any = None


def page_list(path: str, *kinds: str) -> List:
    return List(f"/p/shop/{path}/?x", kinds, behind="show=all", told="5 hidden")


PAGES: dict[str, List | One | Everything] = {
    "decisions:list": page_list("decisions", "decision"),
    "decisions:outcomes": page_list("outcomes", "outcome"),
    "patterns:list": page_list("patterns", "pattern"),
    "pitfalls:list": page_list("pitfalls", "pitfall"),
    "work_sessions:list": page_list("sessions", "session"),
    "runs:list": page_list("runs", "run"),
    "search": List("/p/shop/search/?q=marmalade", KINDS, behind="q=marmalade+is:hidden", told="28 hidden"),
    "search_complete": List(
        "/p/shop/search/complete/?q=tag:qq", ("decision",), why="completes what a list shows"
    ),
    "desk:overview": List("/p/shop/?", why="each of its rows leads to a list", until='id="changes-title"'),
    "recall:page": List(
        "/p/shop/recall/?text=marmalade&budget=8000", why="what an agent gets, which is never a hidden one"
    ),
    "graph:neighbourhood": List(
        "/p/shop/graph/?node={decision}&cap=100", behind="show=all", why="a picture of best ones"
    ),
    "graph:data": List(
        "/p/shop/graph/data?node={decision}&cap=100", behind="show=all", why="of that picture"
    ),
    "decisions:detail": One("/p/shop/decisions/{pk}/"),
    "decisions:outcome": One("/p/shop/outcomes/{pk}/", "outcome"),
    "patterns:detail": One("/p/shop/patterns/{pk}/", "pattern"),
    "pitfalls:detail": One("/p/shop/pitfalls/{pk}/", "pitfall"),
    "work_sessions:detail": One("/p/shop/sessions/{pk}/", "session"),
    "work_sessions:by_session_id": One("/p/shop/sessions/named/?id={name}", "session", shows=False),
    "runs:detail": One("/p/shop/runs/{pk}/", "run"),
    "runs:memory": One("/p/shop/memories/{pk}/", "memory"),
    "records:node": One("/r/{id}/", shows=False),
    "records:history": One("/p/shop/records/{id}/history/"),
    "history:belief": One(
        "/p/shop/r/{id}/belief/", beside=("merged",), why="what was merged into it is a cause"
    ),
    "history:as_of": One("/p/shop/r/{id}/as-of/?at=today"),
    "history:list": Everything("/p/shop/history/?", "the log of every change, of whatever state"),
    "history:change": Everything("/p/shop/history/{change}/", "one line of that log"),
    "runs:running": List("/p/shop/runs/running/?", ("run",), why="what runs now; the list has the rest"),
    "incident:ask": List(
        "/p/shop/incident/?text=marmalade", ("run",), why="the runs most like an alert, not all"
    ),
    "answers:page": List(
        "/p/shop/answers/?", ("decision",), why="counts of lists, and the tags that active decisions have"
    ),
    "timeline:page": Everything(
        "/p/shop/timeline/?", "its reviews are acts of the history, of whatever state"
    ),
    "inbox:page": Everything("/p/shop/inbox/?", "what waits for a person is unreviewed or quarantined"),
    "inbox:pane": Everything(
        "/p/shop/inbox/pane/?selected={decision}", "one of those, beside what is like it"
    ),
    "written:page": Everything(
        "/p/shop/written/?session=ses-8841", "what a session wrote, to be reviewed whole"
    ),
    "radius:page": Everything(
        "/p/shop/radius/?agent=order-bot", "what an agent wrote must be seen to be undone"
    ),
}
API: dict[str, List | One | Everything] = {
    "search": List(
        "/search?q=marmalade&limit=100", KINDS, behind="q=marmalade+is:hidden", told='"hidden": 28'
    ),
    "context": List(
        "/context",
        KINDS[:1],
        why="an agent is given no hidden memory",
        body={"task": "marmalade", "budget": 8000},
    ),
    "incidents": List("/incidents", ("run",), why="the same", body={"text": "marmalade", "k": 20}),
    "decision-outcomes": List(
        "/decisions/{decision}/outcomes?count=true", ("outcome",), behind="show=all", told='"hidden": 5'
    ),
    "record-similar": List("/records/{decision}/similar?k=50", behind="show=all", why="the k best, not all"),
    "record-neighbourhood": List(
        "/records/{decision}/neighbourhood?cap=100", behind="show=all", why="the best, not all"
    ),
    "record-history": One("/records/{id}/history?page_size=200", shows=False),
    "link-list": Everything("/links", "a relation names both ends, each with its state"),
    "link-detail": Everything("/links/{link}", "the same"),
}
for _kind in all_kinds():
    _plural = "memories" if _kind.name == "memory" else f"{_kind.name}s"
    API[f"{_kind.name}-list"] = List(
        f"/{_plural}?count=true", (_kind.name,), behind="show=all", told='"hidden": 5'
    )
    API[f"{_kind.name}-detail"] = One(f"/{_plural}/{{id}}", _kind.name)
MCP: dict[str, tuple[List | One, dict[str, Any]]] = {
    "get_context": (
        List("", KINDS[:1], why="an agent is given no hidden memory"),
        {"task": "marmalade", "budget": 8000},
    ),
    "search_memory": (List("", KINDS, told="28", why="is:hidden in q"), {"q": "marmalade", "limit": 100}),
    "find_similar": (List("", why="the k best"), {"node_id": "{decision}", "k": 50}),
    "get_record": (One(""), {"node_id": "{id}"}),
    "check_pitfalls": (
        List("", ("pitfall",), why="what to avoid now"),
        {"category": "cache", "severity": ["medium"]},
    ),
}
FEEDS = {"feed"}  # of saved filters, whose query says what they show: a test of their own
WRITES = "writes; what it answers is what was written"
FORM = "the form of one record that was asked for by its id; its page is in the matrix"
WITHOUT = {
    **dict.fromkeys(("decisions:create", "patterns:create", "pitfalls:create", "runs:create"), "an empty form"),
    **dict.fromkeys(
        (
            "records:review", "records:archive", "records:restore", "records:erase", "records:link", "records:unlink",
            "decisions:edit", "decisions:status", "decisions:supersede", "decisions:contradict", "decisions:outcome_edit",
            "decisions:record_outcome", "decisions:settle_import", "patterns:edit", "patterns:confidence",
            "patterns:worked", "patterns:failed", "patterns:retire", "patterns:unretire", "work_sessions:end", "pitfalls:edit", "pitfalls:severity", "pitfalls:met",
        ),
        FORM,
    ),
    "graph:path": "names the nodes between two that were asked for, of the neighbourhood's own rule",
    "radius:quarantine": WRITES, "inbox:act": WRITES, "inbox:bulk": WRITES, "inbox:step": WRITES, "written:review": WRITES, "records:undo": WRITES,
    "records:restore_version": WRITES,
    "desk:fresh": "how many were written since",
    "pairs:compare": "two records that were asked for by their ids, side by side",
    "pairs:settle": WRITES,
    "pairs:keep_apart": WRITES,
    "merging:page": "the records that were asked for by their ids, to be merged",
    "incident:alert": "the same answer as incident:ask, by the address of a kept alert",
    "inbox:job": "the report of one act on many: those that it could not change, whatever became of them",
    "inbox:diff": "two records that were asked for by their ids, of the inbox",
    "desk:hide_first_run": WRITES,
    "home": "projects, and how many wait in each",
    "me": "the token", "projects": "projects", "project": "counts of active records", "schema": "the description",
    "cache": "what an agent put there by key", "api_reference": "the description", "mcp": "its tools stand in MCP",
    "healthz": "whether it answers", "metrics": "numbers",
}  # fmt: skip
PREFIXES_WITHOUT = {
    "projects:": "people, tokens and policies", "connect:": "snippets", "health:": "the machine, and ids that failed",
    "log": "accounts", "account": "accounts", "invitation": "accounts", "preferences": "accounts", "choose_theme": "accounts", "unsubscribe": "accounts",
    "saved:": "lines of filters", "password": "accounts", "signed": "accounts", "new_": "accounts",
}  # fmt: skip
COMMANDS = {
    "export": "the whole project, states and all; of the erased no text (tests/transfer/test_exchange.py)",
    "backup": "the whole database as it is",
    "prove_erased": "names places, shows no text",
    "scan_secrets": "names places, shows no text",
    "doctor": "names ids", "check_graph": "names ids",
    **dict.fromkeys(
        (
            "adopt", "create_account", "embed", "generate_memory", "graph_setup", "import_adrs", "import_jsonl",
            "import_postmortems", "login_link", "make_token", "rebuild_graph", "refresh_attention", "refresh_findings",
            "restore", "run_desk", "run_worker", "score_adr_import", "seed_demo",
            "suggest_pairs",
            "send_digests", "recount_runs",
        ),
        "writes, and says how much",
    ),
}  # fmt: skip


# --- No path is forgotten ------------------------------------------------------------------------------------------
