"""Makes the demo project: every record through the verbs, by its own actor, in the order in which it happened.

The clock is turned back for each act, so that rows, history and reviews agree about when; nothing else differs from
what people and agents do. Vectors and graph are the worker's: the records wait for it like any others.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator
from contextlib import contextmanager
from dataclasses import dataclass, field
from datetime import datetime, timedelta
from typing import Any
from unittest.mock import patch

from django.db import transaction
from django.utils import timezone

from decisions.actions import contradict, create_decision, record_outcome, supersede
from desk.demo.content import content
from patterns.actions import adjust_confidence, create_pattern, record_evidence
from pitfalls.actions import create_pitfall, meet_again
from projects.access import access_of_user
from projects.actions import add_member, create_project, create_token
from projects.manager import Manager
from projects.models import AccessEvent, AgentToken, Membership, Project, User
from projects.policies import change_policy
from records import verbs
from records.actor import TRUST, Actor, Channel, SourceKind
from records.kinds import all_kinds
from records.models import ProjectionMark, ReviewState
from runs.actions import record_run, remember
from work_sessions.actions import start_session


@dataclass
class Seed:
    """One making of the demo: the acts still to do, and the records made so far by the content's keys."""

    project: Project
    now: datetime
    people: dict[str, User]
    tokens: dict[str, AgentToken]
    acts: list[tuple[float, Callable[[datetime], None]]] = field(default_factory=list)
    made: dict[str, Any] = field(default_factory=dict)
    kept_open: set[str] = field(default_factory=set)

    def at(self, ago: float, act: Callable[[datetime], None]) -> None:
        self.acts.append((ago, act))

    def actor(self, name: str, session: str = "", run: str = "") -> Actor:
        if name in self.tokens:
            return Actor.agent(self.tokens[name], session=session, run=run)
        user = self.people[name]
        return Actor(
            channel=Channel.WEB,
            name=name,
            access=access_of_user(user),
            source_kind=SourceKind.PERSON,
            trust=TRUST[SourceKind.PERSON],
            user=user,
        )

    def play(self) -> None:
        """All acts in the order of their time. An act may add later ones."""
        for ago, act in sorted(self.acts, key=lambda pair: -pair[0]):
            moment = self.now - timedelta(days=ago)
            with clock_at(moment):
                act(moment)


@contextmanager
def clock_at(moment: datetime) -> Iterator[None]:
    """Django's clock says `moment`. Only for this command, which nothing else shares a process with."""
    with patch.object(timezone, "now", lambda: moment):
        yield


@transaction.atomic
def seed_demo(*, by: Manager, now: datetime | None = None) -> Project:
    """The whole demo or none of it; about a hundred and fifty acts."""
    now = now or timezone.now()
    described = content("project")
    began = now - timedelta(days=60)
    with clock_at(began):
        project = create_project(by=by, name=described["name"], slug=described["slug"])
        people = {each["username"]: _person(by, project, each) for each in described["people"]}
        tokens = {
            each["agent_name"]: create_token(by=by, project=project, **each)[0]
            for each in described["agents"]
        }
    # The database stamps these itself; they belong to the day on which the demo begins.
    Project.objects.filter(pk=project.pk).update(created_at=began)
    Membership.objects.filter(project=project).update(created_at=began)
    AgentToken.objects.filter(projects=project).update(created_at=began)
    AccessEvent.objects.filter(project=project).update(created_at=began)
    seed = Seed(project, now, people, tokens)
    for plan in (_sessions, _runs, _decisions, _patterns, _pitfalls):
        plan(seed)
    policy = dict(described["policy"])
    seed.at(policy.pop("ago"), _policy(seed, policy))
    for review in described["reviews"]:
        seed.at(review["ago"], _review(seed, review))
    seed.play()
    # They are behind since now, not since their time in the story.
    ProjectionMark.objects.filter(project_id=project.pk).update(wanted_at=now, next_try_at=now)
    return project


def _person(by: Manager, project: Project, described: dict[str, str]) -> User:
    """An account that nobody can sign in to: it has no password, and no link is made for it."""
    names = {name: described[name] for name in ("username", "first_name", "last_name")}
    user, made = User.objects.get_or_create(username=names["username"], defaults=names)
    if made:
        user.set_unusable_password()
        user.save(update_fields=["password"])
    add_member(by=by, project=project, user=user, role=described["role"])
    return user


def _keep(seed: Seed, entry: dict[str, Any], record: Any) -> None:
    if "key" in entry:
        seed.made[entry["key"]] = record
    if entry.get("stays_unreviewed"):
        seed.kept_open.add(record.node_id)


def _decisions(seed: Seed) -> None:
    for entry in content("decisions"):
        seed.at(entry["ago"], _decision(seed, entry))
        for outcome in entry.get("outcomes", []):
            seed.at(outcome["ago"], _outcome(seed, entry["key"], outcome))


def _decision(seed: Seed, entry: dict[str, Any]) -> Callable[[datetime], None]:
    def act(moment: datetime) -> None:
        actor = seed.actor(entry["by"], entry.get("session", ""))
        record = create_decision(
            actor=actor,
            project=seed.project,
            title=entry["title"],
            decision=entry["decision"].strip(),
            rationale=entry.get("rationale", "").strip(),
            alternatives_considered=entry.get("alternatives", "").strip(),
            status=entry.get("status", "accepted"),
            tags=entry["tags"],
            decided_at=moment,
        )
        _keep(seed, entry, record)
        if told := entry.get("supersedes"):
            supersede(actor=actor, decision=seed.made[told["key"]], by=record, reason=told["reason"])
        if told := entry.get("contradicts"):
            contradict(actor=actor, decision=record, other=seed.made[told["key"]], reason=told["reason"])

    return act


def _outcome(seed: Seed, key: str, entry: dict[str, Any]) -> Callable[[datetime], None]:
    def act(moment: datetime) -> None:
        record_outcome(
            actor=seed.actor(entry["by"]),
            decision=seed.made[key],
            type=entry["type"],
            success_rate=entry["success_rate"],
            note=entry["note"],
            tags=entry["tags"],
            occurred_at=moment,
        )

    return act


def _patterns(seed: Seed) -> None:
    for entry in content("patterns"):
        found: dict[str, Any] = {}
        seed.at(entry["ago"], _pattern(seed, entry, found))
        for vote in entry.get("votes", []):
            seed.at(vote["ago"], _vote(seed, found, vote))
        if adjusted := entry.get("adjusted"):
            seed.at(adjusted["ago"], _adjustment(seed, found, adjusted))


def _pattern(seed: Seed, entry: dict[str, Any], found: dict[str, Any]) -> Callable[[datetime], None]:
    def act(moment: datetime) -> None:
        found["pattern"] = create_pattern(
            actor=seed.actor(entry["by"], entry.get("session", "")),
            project=seed.project,
            category=entry["category"],
            name=entry["name"],
            description=entry["description"].strip(),
            code_example=entry.get("code", "").rstrip(),
            language=entry.get("language"),
            confidence=entry["confidence"],
            tags=entry["tags"],
        )
        _keep(seed, entry, found["pattern"])

    return act


def _vote(seed: Seed, found: dict[str, Any], vote: dict[str, Any]) -> Callable[[datetime], None]:
    def act(moment: datetime) -> None:
        record_evidence(
            actor=seed.actor(vote["by"]),
            pattern=found["pattern"],
            worked=vote["worked"],
            note=vote.get("note", ""),
        )

    return act


def _adjustment(seed: Seed, found: dict[str, Any], entry: dict[str, Any]) -> Callable[[datetime], None]:
    def act(moment: datetime) -> None:
        adjust_confidence(
            actor=seed.actor(entry["by"]),
            pattern=found["pattern"],
            confidence=entry["confidence"],
            reason=entry["reason"],
        )

    return act


def _pitfalls(seed: Seed) -> None:
    for entry in content("pitfalls"):
        found: dict[str, Any] = {}
        seed.at(entry["ago"], _pitfall(seed, entry, found))
        for met in entry.get("met", []):
            seed.at(met["ago"], _encounter(seed, found, met))


def _pitfall(seed: Seed, entry: dict[str, Any], found: dict[str, Any]) -> Callable[[datetime], None]:
    def act(moment: datetime) -> None:
        run = seed.made[entry["run"]].node_id if "run" in entry else ""
        found["pitfall"] = create_pitfall(
            actor=seed.actor(entry["by"], entry.get("session", ""), run),
            project=seed.project,
            category=entry["category"],
            title=entry["title"],
            description=entry["description"].strip(),
            how_to_avoid=entry["avoid"].strip(),
            severity=entry["severity"],
            tags=entry["tags"],
        )
        _keep(seed, entry, found["pitfall"])

    return act


def _encounter(seed: Seed, found: dict[str, Any], met: dict[str, Any]) -> Callable[[datetime], None]:
    def act(moment: datetime) -> None:
        meet_again(actor=seed.actor(met["by"]), pitfall=found["pitfall"], note=met.get("note", ""))

    return act


def _sessions(seed: Seed) -> None:
    for entry in content("sessions"):
        seed.at(entry["ago"], _session(seed, entry))


def _session(seed: Seed, entry: dict[str, Any]) -> Callable[[datetime], None]:
    def act(moment: datetime) -> None:
        hours = entry.get("hours")
        start_session(
            actor=seed.actor(entry["by"], entry["session_id"]),
            project=seed.project,
            session_id=entry["session_id"],
            started_at=moment,
            ended_at=moment + timedelta(hours=hours) if hours else None,
            summary=entry["summary"].strip(),
            context=entry["context"],
            tags=entry["tags"],
        )

    return act


def _runs(seed: Seed) -> None:
    for entry in content("runs"):
        seed.at(entry["ago"], _run(seed, entry))


def _run(seed: Seed, entry: dict[str, Any]) -> Callable[[datetime], None]:
    def act(moment: datetime) -> None:
        actor = seed.actor(entry["by"], entry.get("session", ""))
        run = record_run(
            actor=actor,
            project=seed.project,
            agent_name=entry["by"],
            agent_version=entry["version"],
            trigger_type=entry["trigger"],
            trigger_payload=entry["payload"],
            status=entry["status"],
            outcome=entry["outcome"],
            tool_calls=[_call(call, moment) for call in entry["calls"]],
            token_cost=entry["tokens"],
            escalated_to_human=entry.get("escalated", False),
            confidence=entry["confidence"],
            started_at=moment,
            ended_at=moment + timedelta(seconds=entry["seconds"]),
            tags=entry["tags"],
        )
        _keep(seed, entry, run)
        if "memory" in entry:
            remember(
                actor=actor, project=seed.project, agent_name=entry["by"], summary=entry["memory"], run=run
            )

    return act


def _call(call: dict[str, Any], began: datetime) -> dict[str, Any]:
    rest = {name: value for name, value in call.items() if name not in ("at", "ms")}
    at = began + timedelta(seconds=call["at"])
    return {**rest, "started_at": at.isoformat(timespec="seconds"), "duration_ms": call["ms"]}


def _policy(seed: Seed, entry: dict[str, Any]) -> Callable[[datetime], None]:
    def act(moment: datetime) -> None:
        by = Manager(
            name=entry["by"], channel=Channel.WEB, access=access_of_user(seed.people[entry["by"]]),
            user=seed.people[entry["by"]],
        )  # fmt: skip
        changes = {name: value for name, value in entry.items() if name not in ("by", "reason")}
        change_policy(by=by, project=seed.project, changes=changes, reason=entry["reason"])

    return act


def _review(seed: Seed, entry: dict[str, Any]) -> Callable[[datetime], None]:
    """One sitting: everything that came in so far and is not to stay open is approved."""

    def act(moment: datetime) -> None:
        for kind in all_kinds():
            rows = kind.model.objects.filter(project=seed.project, review_state=ReviewState.UNREVIEWED)
            waiting = [record for record in rows if record.node_id not in seed.kept_open]
            verbs.review(
                waiting, ReviewState.APPROVED, actor=seed.actor(entry["by"]), reason=entry.get("reason", "")
            )

    return act
