"""The rows that the incident view ties together. Each answers for all of its records in one statement."""

from __future__ import annotations

from collections.abc import Collection, Sequence
from dataclasses import dataclass
from datetime import datetime
from typing import NamedTuple

from django.core.cache import cache

from curation.history.belief import REVIEWS
from decisions.models import Decision, Outcome
from desk.incident.models import Alert
from projects.models import Project
from records.models import Link, Revision
from runs.figures import RunSummary
from work_sessions.models import WorkSession

MOST_LINKS, MOST_ACTS = 200, 400
SUGGESTED_AGENTS, AGENTS_KEPT_SECONDS = 50, 60


def alert_named(project: Project, key: str) -> Alert | None:
    """What was pasted under this address, while it is kept."""
    return Alert.objects.filter(project=project, key=key).first()


def agents_of(project: Project) -> list[str]:
    """Names of agents whose active runs are the project's newest, to choose from, as of a minute ago: off the index of the
    newest sums."""
    key = f"incident.agents.{project.pk}"
    kept: list[str] | None = cache.get(key)
    if kept is None:
        sums = RunSummary.objects.filter(project_id=project.pk, grain=RunSummary.Grain.HOUR).order_by(
            "-start"
        )
        newest = {*sums.values_list("agent_name", flat=True)[: 20 * SUGGESTED_AGENTS]}
        kept = sorted(newest)[:SUGGESTED_AGENTS]
        cache.set(key, kept, AGENTS_KEPT_SECONDS)
    return kept


class Tie(NamedTuple):
    """One record named beside another: `relation` is a link's, or `written` for what a run wrote."""

    node_id: str
    relation: str
    other: str


def links_touching(project: Project, node_ids: Collection[str]) -> list[Tie]:
    """The explicit links of these records, as seen from them."""
    ids = list(node_ids)
    if not ids:
        return []
    links = Link.objects.filter(project_id=project.pk).order_by()
    rows = links.values_list("source", "relation", "target")
    both = rows.filter(source__in=ids).union(rows.filter(target__in=ids)).order_by("source", "target")
    ties = []
    for source, relation, target in both[:MOST_LINKS]:
        ties += [
            Tie(here, relation, there) for here, there in ((source, target), (target, source)) if here in ids
        ]
    return ties


def written_in(project: Project, run_node_ids: Collection[str]) -> list[Tie]:
    """What each of these runs wrote down: by the history's index of runs."""
    rows = Revision.objects.filter(run__in=list(run_node_ids), project_id=project.pk, version=1).order_by(
        "id"
    )
    return [Tie(run, "written", node_id) for run, node_id in rows.values_list("run", "node_id")[:MOST_LINKS]]


def decisions_of_outcomes(project: Project, keys: Collection[int]) -> dict[int, int]:
    """Outcome -> its decision, of active outcomes."""
    rows = Outcome.objects.active().filter(project_id=project.pk, pk__in=list(keys))
    return dict(rows.values_list("pk", "decision_id"))


def bad_outcomes(
    project: Project, decision_ids: Collection[int], types: Sequence[str]
) -> dict[int, list[Outcome]]:
    """By decision its active outcomes of these types, newest first."""
    rows = Outcome.objects.active().filter(
        project_id=project.pk, decision_id__in=list(decision_ids), type__in=types
    )
    found: dict[int, list[Outcome]] = {}
    for outcome in rows.defer("note").order_by("-occurred_at", "-id")[:MOST_LINKS]:
        outcome.project = project
        found.setdefault(outcome.decision_id, []).append(outcome)
    return found


@dataclass
class Knows:
    """A person who wrote, changed or judged some of these records: how many, what last, when."""

    name: str
    records: int
    reviewed: int
    last_at: datetime


def who_knows(project: Project, node_ids: Collection[str]) -> tuple[list[Knows], list[str]]:
    """Of the newest acts on these records: the people, most records first, and the sessions, newest first."""
    rows = Revision.objects.filter(node_id__in=list(node_ids), project_id=project.pk).order_by("-id")
    people: dict[str, tuple[set[str], set[str], datetime]] = {}
    sessions: dict[str, None] = {}
    acts = rows.values_list("node_id", "actor_name", "user_id", "verb", "session", "created_at")
    for node_id, name, user_id, verb, session, when in acts[:MOST_ACTS]:
        if session:
            sessions.setdefault(session)
        if user_id is None:
            continue
        touched, judged, _last = people.setdefault(name, (set(), set(), when))
        touched.add(node_id)
        if verb in REVIEWS:
            judged.add(node_id)
    known = [Knows(name, len(touched), len(judged), last) for name, (touched, judged, last) in people.items()]
    known.sort(key=lambda one: (-one.records, one.name))
    return known, list(sessions)


def sessions_named(project: Project, names: Sequence[str]) -> list[WorkSession]:
    """The active sessions of these names, in that order."""
    rows = WorkSession.objects.active().filter(project_id=project.pk, session_id__in=list(names))
    found = {session.session_id: session for session in rows.defer("context", "summary")}
    for session in found.values():
        session.project = project
    return [found[name] for name in names if name in found]


def decisions_named(project: Project, keys: Collection[int]) -> dict[int, Decision]:
    """The active decisions of these keys, without their long texts."""
    rows = Decision.objects.active().filter(project_id=project.pk, pk__in=list(keys))
    unread = ("decision", "rationale", "alternatives_considered", "origin", "source_text")
    found = {decision.pk: decision for decision in rows.defer(*unread)}
    for decision in found.values():
        decision.project = project
    return found
