"""The records of the reference load, one at a time from their place: row, history, and what hangs on it."""

from __future__ import annotations

import hashlib
import random
from bisect import bisect_left
from collections.abc import Sequence
from dataclasses import dataclass, field
from datetime import datetime, timedelta
from decimal import Decimal
from typing import Any

from decisions.models import Decision, Outcome
from desk.reference import words
from desk.reference.layout import NEEDS, PREFIXES, Layout
from desk.reference.texts import Topic, Writer
from patterns.confidence import posterior_mean
from patterns.models import PRIOR_WEIGHT, Cause, Evidence, Pattern
from pitfalls.models import Encounter, Pitfall
from records.actor import TRUST, Channel, SourceKind
from records.models import ReviewState
from runs.models import Memory, Run
from work_sessions.models import WorkSession

YEARS = timedelta(days=3 * 365)
SOURCES = [SourceKind.AGENT] * 14 + [SourceKind.PERSON] * 3 + [SourceKind.IMPORT] * 2 + [SourceKind.SQL]
CHANNELS = {
    SourceKind.AGENT: Channel.API,
    SourceKind.PERSON: Channel.WEB,
    SourceKind.IMPORT: Channel.IMPORT,
    SourceKind.SQL: Channel.SQL,
}
STATUSES = ["accepted"] * 12 + ["pending"] * 3 + ["rejected"] * 3 + ["deprecated"] * 2
SEVERITIES = ["critical", "high", "high", "medium", "medium", "medium", "low", "low"]
LANGUAGES = ["python", "go", "sql", "typescript", None]


@dataclass
class Made:
    """A record that is not stored yet. `earlier`: columns as they were before the edit; `events`: (verb, when, detail)."""

    record: Any
    kind: str
    earlier: dict[str, Any] = field(default_factory=dict)
    extras: list[Any] = field(default_factory=list)
    events: list[tuple[str, datetime, dict[str, Any]]] = field(default_factory=list)


class Maker:
    """Makes any record of the load, in any order, always the same."""

    def __init__(
        self, layout: Layout, until: datetime, firsts: dict[str, int], projects: Sequence[int] = ()
    ) -> None:
        """`firsts`: the first free key of each kind; `projects`: the keys of the projects, once they are there."""
        self.layout, self.until, self.firsts = layout, until, firsts
        self.projects = projects
        self.superseded: set[int] = set()
        self._starts = {kind: layout.places_of(kind).start for kind in layout.counts}
        self._topics: dict[int, Topic] = {}
        self._of_project: dict[tuple[str, int], list[int]] = {}
        for kind in NEEDS.values():
            for place in layout.places_of(kind):
                self._of_project.setdefault((kind, int(layout.project[place])), []).append(place)

    def key(self, kind: str, place: int) -> Any:
        number = self.firsts[kind] + place - self._starts[kind]
        if kind in ("run", "memory"):
            return hashlib.md5(
                f"{self.layout.seed} {kind} {number}".encode(), usedforsecurity=False
            ).hexdigest()
        return number

    def node_ids(self) -> list[str]:
        return [
            f"{PREFIXES[kind]}_{self.key(kind, place)}"
            for kind in self.layout.counts
            for place in self.layout.places_of(kind)
        ]

    def made_at(self, kind: str, place: int) -> datetime:
        """Evenly over three years, the newest last."""
        share = (place - self._starts[kind] + 0.5) / self.layout.counts[kind]
        moment = self.until - YEARS * (1 - share)
        return moment.replace(microsecond=place * 7919 % 1_000_000)

    def make(self, kind: str, place: int) -> Made:
        rng = random.Random(f"{self.layout.seed} {kind} {place}")
        topic = self._topics.setdefault(
            place_topic := int(self.layout.topic[place]), Topic(self.layout.seed, place_topic)
        )
        if len(self._topics) > 5000:
            self._topics.clear()
        made_at = self.made_at(kind, place)
        source = rng.choice(SOURCES)
        state = rng.choices(ReviewState.values, weights=[40, 54, 4, 2])[0]
        if source == SourceKind.PERSON and state == ReviewState.UNREVIEWED:
            state = ReviewState.APPROVED
        by_hand = source == SourceKind.PERSON and state == ReviewState.APPROVED
        reviewed_at = made_at if by_hand else made_at + timedelta(hours=rng.randint(1, 200))
        archived = rng.random() < 0.03
        shared: dict[str, Any] = {
            "id": self.key(kind, place),
            "project_id": self.projects[int(self.layout.project[place])] if self.projects else None,
            "review_state": state,
            "reviewed_at": None if state == ReviewState.UNREVIEWED else min(reviewed_at, self.until),
            "source_kind": source,
            "source_name": rng.choice(words.PEOPLE if source == SourceKind.PERSON else words.AGENTS),
            "source_session": f"ses-{rng.randrange(10**6)}" if source == SourceKind.AGENT else None,
            "trust": TRUST[source],
            "version": 1,
            "archived_at": min(made_at + timedelta(days=rng.randint(10, 300)), self.until)
            if archived
            else None,
            "created_at": made_at,
        }
        writer = Writer(rng, topic)
        shared["tags"] = writer.tags()
        made = _MAKERS[kind](self, writer, shared, place)
        if rng.random() < 0.12 and kind in ("decision", "pattern", "pitfall"):
            made.earlier = {("name" if kind == "pattern" else "title"): writer.title(kind)}
        return made

    def earlier_of(self, kind: str, place: int, rng: random.Random, before: int, of: str) -> int:
        """A record of the same project that this one can follow: made before it where there is one."""
        there = self._of_project[of, int(self.layout.project[place])]
        share = (place - self._starts[kind]) / self.layout.counts[kind]
        limit = self._starts[of] + int(share * self.layout.counts[of])
        return there[rng.randrange(max(1, bisect_left(there, limit)))]


def _decision(maker: Maker, writer: Writer, shared: dict[str, Any], place: int) -> Made:
    rng, length = writer.rng, int(writer.length() * 1.3)
    decided = shared["created_at"] - timedelta(hours=rng.randint(0, 400)) if rng.random() < 0.97 else None
    status = "superseded" if place in maker.superseded else rng.choice(STATUSES)
    record = Decision(
        **shared,
        title=writer.title("decision"),
        decision=writer.prose(length // 3),
        rationale=writer.prose(length // 2),
        alternatives_considered=writer.prose(length // 6) if rng.random() < 0.6 else None,
        status=status,
        decided_at=decided,
        sort_at=decided or shared["created_at"],
    )
    return Made(record, "decision")


def _pattern(maker: Maker, writer: Writer, shared: dict[str, Any], place: int) -> Made:
    rng = writer.rng
    prior, worked, failed = round(rng.uniform(0.3, 0.95), 2), 0, 0
    record = Pattern(
        **shared,
        category=writer.topic.category,
        name=writer.title("pattern"),
        description=writer.prose(int(writer.length() * 0.9)),
        code_example=writer.code() if rng.random() < 0.6 else None,
        language=rng.choice(LANGUAGES),
        prior_confidence=prior,
        prior_weight=PRIOR_WEIGHT,
    )
    made = Made(record, "pattern")
    name = shared["source_name"]
    start = Evidence(pattern_id=record.pk, cause=Cause.START, confidence_after=prior, actor_name=name, created_at=shared["created_at"])  # fmt: skip
    made.extras.append(start)
    score = prior
    for vote in range(min(12, int(rng.expovariate(0.5)))):
        good = rng.random() < 0.75
        worked, failed = worked + good, failed + (not good)
        score = posterior_mean(prior, PRIOR_WEIGHT, worked, failed)
        when = min(shared["created_at"] + timedelta(days=3 * vote + 1), maker.until)
        cause = Cause.WORKED if good else Cause.FAILED
        made.extras.append(
            Evidence(pattern_id=record.pk, cause=cause, confidence_after=score, note=writer.sentence(), actor_name=rng.choice(words.AGENTS), created_at=when)
        )  # fmt: skip
        made.events.append((cause.value, when, {"confidence_after": score}))
    record.confidence_score = score
    record.worked_count, record.failed_count, record.usage_count = worked, failed, worked + failed
    return made


def _pitfall(maker: Maker, writer: Writer, shared: dict[str, Any], place: int) -> Made:
    rng, length = writer.rng, int(writer.length() * 0.9)
    record = Pitfall(
        **shared,
        category=writer.topic.category,
        title=writer.title("pitfall"),
        description=writer.prose(length * 2 // 3),
        how_to_avoid=writer.prose(length // 3) if rng.random() < 0.85 else None,
        severity=rng.choice(SEVERITIES),
    )
    made = Made(record, "pitfall")
    for again in range(min(20, int(rng.expovariate(0.6)))):
        record.encountered_count = again + 2
        when = min(shared["created_at"] + timedelta(days=9 * again + 2), maker.until)
        made.extras.append(
            Encounter(pitfall_id=record.pk, note=writer.sentence(), actor_name=rng.choice(words.AGENTS), created_at=when)
        )  # fmt: skip
        made.events.append(("met_again", when, {"encountered_count": again + 2}))
    return made


def _session(maker: Maker, writer: Writer, shared: dict[str, Any], place: int) -> Made:
    rng, started = writer.rng, shared["created_at"]
    record = WorkSession(
        **shared,
        session_id=f"ses-{started:%Y-%m-%d}-{maker.key('session', place)}",
        started_at=started,
        ended_at=started + timedelta(minutes=rng.randint(3, 400)) if rng.random() < 0.9 else None,
        summary=writer.prose(int(writer.length() * 0.6)),
        context={
            "task": writer.sentence(),
            "files": [f"{writer.topic.own['u'][0]}/{name}.py" for name in ("views", "queries", "models")],
            "done": [writer.sentence() for _ in range(rng.randint(1, 5))],
            "open": [writer.sentence() for _ in range(rng.randint(0, 3))],
            "step": rng.randint(1, 40),
        },
    )
    return Made(record, "session")


def _run(maker: Maker, writer: Writer, shared: dict[str, Any], place: int) -> Made:
    rng, started = writer.rng, shared["created_at"]
    status = rng.choices(["succeeded", "failed", "cancelled"], weights=[80, 15, 5])[0]
    record = Run(
        **shared,
        agent_name=rng.choice(words.AGENTS),
        agent_version=f"1.{rng.randint(0, 9)}.{rng.randint(0, 20)}",
        trigger_type=rng.choice(words.TRIGGERS),
        trigger_payload=writer.payload(),
        started_at=started,
        ended_at=started + timedelta(seconds=rng.randint(2, 4000)),
        status=status,
        outcome={
            "summary": writer.paragraph(),
            "steps": [writer.sentence() for _ in range(rng.randint(1, 8))],
        },
        tool_calls=writer.calls(writer.length()),
        token_cost=rng.randint(300, 90_000),
        escalated_to_human=rng.random() < 0.08,
        confidence=Decimal(f"0.{rng.randint(20, 99)}"),
    )
    return Made(record, "run")


def _outcome(maker: Maker, writer: Writer, shared: dict[str, Any], place: int) -> Made:
    rng = writer.rng
    decision = maker.earlier_of("outcome", place, rng, place, "decision")
    record = Outcome(
        **shared,
        decision_id=maker.key("decision", decision),
        type=rng.choice(words.OUTCOMES),
        success_rate=round(rng.random(), 2) if rng.random() < 0.6 else None,
        note=writer.prose(rng.randint(150, 1500)),
        occurred_at=shared["created_at"],
    )
    return Made(record, "outcome")


def _memory(maker: Maker, writer: Writer, shared: dict[str, Any], place: int) -> Made:
    run = maker.earlier_of("memory", place, writer.rng, place, "run")
    record = Memory(
        **shared,
        agent_name=writer.rng.choice(words.AGENTS),
        summary=writer.prose(writer.rng.randint(200, 1200)),
        source_run_fk_id=maker.key("run", run),
    )
    return Made(record, "memory")


_MAKERS = {
    "decision": _decision,
    "pattern": _pattern,
    "pitfall": _pitfall,
    "session": _session,
    "run": _run,
    "outcome": _outcome,
    "memory": _memory,
}
