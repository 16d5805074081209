#!/usr/bin/env python
"""A small on-call agent over the desk's public API: what it remembers decides what it looks at first.

    python examples/oncall_agent.py --url http://127.0.0.1:8000 --token mdk_… --incidents path/to/post-mortems --limit 6

Each incident is a trigger: recall the five most similar past ones, in a few hundred tokens; plan by rules and
by what was done then; make the checks; write the run with every tool call; sum it up, so that the next run finds it.
The incidents are a folder of post-mortems (read as `manage.py import_postmortems` reads them) or a file of JSON lines.
It needs Python's standard library alone; to read a folder, the desk's own readers and PyYAML.
"""

from __future__ import annotations

import argparse
import contextlib
import json
import os
import re
import sys
import time
import urllib.error
import urllib.request
import uuid
from collections.abc import Iterator
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

from oncall_checks import CHECKS, Targets, can_make, make

VERSION = "1.0"
TOP, BUDGET = 5, 600
PITFALLS, PITFALL_BUDGET = 3, 250
TRIES = 4
MOST_CHECKS = 6
RULES = (
    (r"\b(dns|route ?53|resolve[ds]?|name ?servers?)\b", ("dns_lookup", "tcp_connect")),
    (r"\b(certificates?|certs?|tls|ssl|altnames?)\b", ("tls_certificate", "dns_lookup")),
    (r"\b(ingress\w*|network|route tables?|subnets?|load balancers?|waf|latency|timeouts?)\b", ("tcp_connect", "dns_lookup")),
    (r"\b(down|outage|unavailable|not accessible|could not|unable|unreachable|5\d\d)\b", ("http_health", "tcp_connect")),
    (r"\b(disk|disk ?space|storage|volumes?|no space|full)\b", ("disk_space", "disks")),
    (r"\b(cpu|memory|capacity|oom\w*|scal\w+|pods?|nodes?|restarted)\b", ("load", "memory", "processes")),
    (r"\b(logs?|logging|errors?|erroring|exception|failed|failure)\b", ("read_log", "http_health")),
    (r"\b(credentials?|secrets?|leak\w*|exposed|injection|malicious|exfiltrat\w+)\b", ("refuses_strangers", "read_log")),
)  # fmt: skip
ALWAYS = ("http_health",)


class Refused(Exception):
    """The desk refused a request; says what it said."""


class Desk:
    """The API: JSON in and out. A write carries an Idempotency-Key, so that sent again it is done once."""

    def __init__(self, url: str, token: str) -> None:
        self.base = url.rstrip("/") + "/api/v1"
        self.headers = {"Authorization": f"Bearer {token}", "Content-Type": "application/json"}
        self.run = ""

    def ask(self, method: str, path: str, body: Any = None) -> Any:
        headers = {**self.headers, **({"X-Run-Id": self.run} if self.run else {})}
        if method != "GET":
            headers["Idempotency-Key"] = str(uuid.uuid4())
        data = None if body is None else json.dumps(body).encode()
        for attempt in range(1, TRIES + 1):
            try:
                request = urllib.request.Request(self.base + path, data, headers, method=method)
                with urllib.request.urlopen(request, timeout=30) as answer:
                    return json.loads(answer.read())
            except urllib.error.HTTPError as error:
                said = error.read().decode("utf-8", "replace")
                if error.code not in (409, 429, 503) or attempt == TRIES:
                    raise Refused(f"{method} {path}: {error.code} {said[:500]}") from error
                time.sleep(min(30.0, float(error.headers.get("Retry-After") or attempt)))
            except (OSError, ValueError) as error:  # no answer, or none of the desk's
                if attempt == TRIES:
                    raise Refused(f"{method} {path}: {error}") from error
                time.sleep(attempt)


@dataclass
class Recalled:
    """What the memory says to a trigger: `incidents` best first, at most five; `brief` is the compressed text."""

    incidents: list[dict[str, Any]]
    pitfalls: list[dict[str, Any]]
    brief: str
    tokens: int


@dataclass
class Plan:
    """Checks in order, each with its reason; `done_then` are commands of people, for a person to judge."""

    targets: Targets
    steps: list[tuple[str, str]] = field(default_factory=list)
    done_then: list[str] = field(default_factory=list)

    def add(self, check: str, because: str) -> None:
        planned = check in [step for step, _because in self.steps]
        if not planned and len(self.steps) < MOST_CHECKS and can_make(check, self.targets):
            self.steps.append((check, because))


class OncallAgent:
    def __init__(self, desk: Desk, targets: Targets, project: str = "") -> None:
        self.desk, self.targets = desk, targets
        self.project = {"project": project} if project else {}

    def handle(self, trigger: dict[str, Any]) -> dict[str, Any]:
        """One run, from the trigger to its summary. Returns what a person at the console should see."""
        recalled = self.recall(trigger)
        begun = self.desk.ask(
            "POST", "/runs/",
            {"id": str(uuid.uuid4()), "agent_version": VERSION, "trigger_type": "incident", "trigger_payload": trigger, **self.project},
        )  # fmt: skip
        self.desk.run = begun["node_id"]
        try:
            plan = self.plan(trigger, recalled)
            calls = [self.act(check) for check, _because in plan.steps]
            outcome = conclude(trigger, recalled, plan, calls)
            finished = self.desk.ask("POST", f"/runs/{begun['node_id']}/finish/", outcome)
        except Refused as refusal:
            self._give_up(begun["node_id"], str(refusal))
            raise
        finally:
            self.desk.run = ""
        return {
            "run": finished["node_id"],
            "recalled": recalled,
            "plan": plan,
            "calls": calls,
            "outcome": outcome,
        }

    def _give_up(self, run: str, why: str) -> None:
        """A run that did not come to its end says so, where the desk still answers."""
        with contextlib.suppress(Refused):
            body = {"status": "failed", "outcome": {"error": why}, "escalated_to_human": True}
            self.desk.ask("POST", f"/runs/{run}/finish/", body)

    def recall(self, trigger: dict[str, Any]) -> Recalled:
        """Asked for apart: a pitfall that tells the same story as an incident would otherwise stand for it."""
        incidents = self._pack(trigger, ["memory", "run"], TOP, BUDGET)
        pitfalls = self._pack(trigger, ["pitfall"], PITFALLS, PITFALL_BUDGET)
        best = sorted(incidents["items"], key=lambda item: -item["relevance"])
        brief = f"{incidents['markdown']}\n\n{pitfalls['markdown']}"
        return Recalled(best, pitfalls["items"], brief, incidents["tokens"] + pitfalls["tokens"])

    def _pack(self, trigger: dict[str, Any], kinds: list[str], k: int, budget: int) -> dict[str, Any]:
        asked = {"trigger": trigger, "kinds": kinds, "k": k, "budget": budget, **self.project}
        pack: dict[str, Any] = self.desk.ask("POST", "/context/", asked)
        return pack

    def plan(self, trigger: dict[str, Any], recalled: Recalled) -> Plan:
        """What found trouble in a similar run comes first, then what the rules say of the alert's words."""
        plan = Plan(self.targets)
        for item in recalled.incidents[:3]:
            run_id = item["run"] or (item["node_id"] if item["kind"] == "run" else None)
            if run_id is None:
                continue
            for call in self.desk.ask("GET", f"/runs/{run_id}/")["tool_calls"] or []:
                if not isinstance(call, dict):
                    continue
                if is_trouble(call):
                    plan.add(str(call.get("name")), f"found trouble in {run_id}")
                elif call.get("name") not in CHECKS and isinstance(call.get("arguments"), dict):
                    plan.done_then.append(f"{run_id}: {call['arguments'].get('command', call.get('name'))}")
        words = " ".join(texts_of(trigger)).casefold()
        for pattern, checks in RULES:
            found = re.search(pattern, words)
            for check in checks if found else ():
                plan.add(check, f"the alert says {found.group()!r}" if found else "")
        for check in ALWAYS:
            plan.add(check, "made for every alert")
        return plan

    def act(self, check: str) -> dict[str, Any]:
        """Make the check and tell the desk at once: were the agent killed, what it did would be known."""
        call = make(check, self.targets)
        self.desk.ask("POST", f"/runs/{self.desk.run}/tool_calls/", {"tool_calls": [call]})
        return call


def is_trouble(call: dict[str, Any]) -> bool:
    result = call.get("result")
    return bool(call.get("error")) or (isinstance(result, dict) and result.get("ok") is False)


def conclude(
    trigger: dict[str, Any], recalled: Recalled, plan: Plan, calls: list[dict[str, Any]]
) -> dict[str, Any]:
    """The end of the run, as `finish` takes it. A person is called where a check found trouble."""
    troubles = [call["name"] for call in calls if is_trouble(call)]
    finding = (
        f"trouble in {', '.join(troubles)}"
        if troubles
        else "all checks are fine: nothing of it is seen here now"
    )
    outcome = {
        "finding": finding,
        "similar": [item["run"] or item["node_id"] for item in recalled.incidents],
        "plan": [{"check": check, "because": because} for check, because in plan.steps],
        "done_then": plan.done_then,
        "avoid": [item["node_id"] for item in recalled.pitfalls],
    }
    said = "\n\n".join(texts_of(trigger)[:2])
    return {
        "status": "succeeded",
        "outcome": outcome,
        "token_cost": recalled.tokens,
        "escalated_to_human": bool(troubles),
        "confidence": round(max((item["relevance"] for item in recalled.incidents), default=0.0), 2),
        "summary": f"{said}\n\nChecked {', '.join(check for check, _ in plan.steps)}: {finding}.",
    }


def texts_of(value: Any) -> list[str]:
    """The texts of a trigger of any shape, in order."""
    if isinstance(value, dict):
        return [text for inner in value.values() for text in texts_of(inner)]
    if isinstance(value, list):
        return [text for inner in value for text in texts_of(inner)]
    return [value] if isinstance(value, str) else []


def triggers_in(path: Path) -> Iterator[dict[str, Any]]:
    """What set each incident off, without what was found out later."""
    if path.is_file() and path.suffix in (".jsonl", ".ndjson"):
        for line in path.read_text(encoding="utf-8").splitlines():
            if line.strip():
                value = json.loads(line)
                yield value if isinstance(value, dict) else {"alert": value}
        return
    sys.path.insert(0, str(Path(__file__).resolve().parent.parent))
    from transfer.importing.folders import find_files
    from transfer.postmortems.forms import SUFFIXES
    from transfer.postmortems.reading import read_one_file
    from transfer.postmortems.records import NotOne

    for file in find_files(path, SUFFIXES):
        try:
            for one in read_one_file(file):
                yield {"alert": one.title, "signal": one.signal}
        except NotOne as why:
            print(f"{file.path}: {why}", file=sys.stderr)


def main() -> int:
    parser = argparse.ArgumentParser(description=__doc__.split("\n")[0])
    parser.add_argument("--url", required=True, help="the desk")
    parser.add_argument(
        "--token",
        default=os.environ.get("MEMORY_DESK_TOKEN"),
        help="or MEMORY_DESK_TOKEN; may read and write",
    )
    parser.add_argument("--project", default="", help="its slug, where the token has several")
    parser.add_argument(
        "--incidents", type=Path, required=True, help="a folder of post-mortems, or JSON lines"
    )
    parser.add_argument("--limit", type=int, default=None, help="at most so many")
    parser.add_argument(
        "--target", default="", help="the address that the checks look at (default: the desk)"
    )
    parser.add_argument("--log", type=Path, default=None, help="the log file that read_log reads")
    asked = parser.parse_args()
    if not asked.token:
        parser.error("--token or MEMORY_DESK_TOKEN is needed")
    for name in ("url", "target"):
        if not getattr(asked, name).startswith(("http://", "https://")) and getattr(asked, name):
            parser.error(f"--{name} begins with http:// or https://")
    if not asked.incidents.exists():
        parser.error(f"there is no {asked.incidents}")
    agent = OncallAgent(
        Desk(asked.url, asked.token), Targets(asked.target or asked.url, asked.log), asked.project
    )
    for number, trigger in enumerate(triggers_in(asked.incidents), 1):
        if asked.limit is not None and number > asked.limit:
            break
        try:
            report(trigger, agent.handle(trigger))
        except Refused as refusal:
            print(refusal, file=sys.stderr)
            return 1
    return 0


def report(trigger: dict[str, Any], done: dict[str, Any]) -> None:
    print(f"{done['run']}  {next(iter(texts_of(trigger)), '')[:90]}")
    for item in done["recalled"].incidents:
        print(f"    like {item['run'] or item['node_id']} ({item['relevance']:.2f}) {item['title'][:70]}")
    for call in done["calls"]:
        said = call.get("error") or ("trouble" if is_trouble(call) else "fine")
        print(f"    {call['name']}: {said} in {call['duration_ms']} ms")
    print(f"    {done['outcome']['outcome']['finding']}", flush=True)


if __name__ == "__main__":
    sys.exit(main())
