"""The incident view: what the memory has to say to an alert, in one screen."""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import dataclass, field
from typing import Any

from decisions.models import Decision, Outcome
from decisions.queries import BAD_OUTCOMES
from desk.context_pack.candidates import LEAST_RELEVANCE, relevance_of
from desk.context_pack.queries import active_records, memories_of_runs
from desk.incident import queries
from desk.incident.similar import Incident, incidents_among, looked_at
from projects.models import Project
from recall.nearby import Near, Nearby, nearby
from records.kinds import kind_named, parse_node_id
from work_sessions.models import WorkSession

RUNS_SHOWN, PITFALLS_SHOWN, DECISIONS_SHOWN = 5, 5, 6
PEOPLE_SHOWN, SESSIONS_SHOWN = 6, 6
KINDS = ("run", "memory", "pitfall", "decision", "outcome")


@dataclass
class Known:
    """A pitfall or a decision: what ties it to the incidents (by their node ids), how like the alert it is."""

    record: Any
    tied_to: list[str] = field(default_factory=list)
    relevance: float = 0.0
    cosine: float | None = None
    bad: list[Outcome] = field(default_factory=list)

    @property
    def order(self) -> tuple[bool, float, int]:
        return not self.tied_to, -self.relevance, -self.record.pk


@dataclass
class Screen:
    """All that is shown. `incidents` best first; pitfalls and decisions: those tied to them first."""

    project: Project
    title: str
    incidents: list[Incident]
    pitfalls: list[Known]
    decisions: list[Known]
    people: list[queries.Knows]
    sessions: list[WorkSession]
    notes: list[str]


def look(project: Project, words: str, title: str, *, agent: str = "") -> Screen:
    """Some twenty statements, however much there is; each list is bounded."""
    near = nearby(project.pk, words, KINDS, looked_at(RUNS_SHOWN, agent))
    incidents = _with_summaries(project, incidents_among([near], k=RUNS_SHOWN, agent=agent))
    run_ids = [one.run.node_id for one in incidents if one.run is not None]
    ends = [record.node_id for one in incidents for record in (one.run, one.memory) if record is not None]
    tied = _tied(project, ends, run_ids)
    pitfalls = _pitfalls(project, near, tied)
    beyond = queries.links_touching(project, [one.record.node_id for one in pitfalls])
    decisions = _decisions(project, near, tied, beyond)
    told = [*ends, *(one.record.node_id for one in (*pitfalls, *decisions))]
    people, sessions = queries.who_knows(project, told) if told else ([], [])
    named = [one.record.source_session for one in incidents if one.record.source_session]
    return Screen(
        project=project,
        title=title,
        incidents=incidents,
        pitfalls=pitfalls,
        decisions=decisions,
        people=people[:PEOPLE_SHOWN],
        sessions=queries.sessions_named(project, list(dict.fromkeys([*named, *sessions]))[:SESSIONS_SHOWN]),
        notes=near.notes,
    )


def _with_summaries(project: Project, incidents: list[Incident]) -> list[Incident]:
    """Each run with its newest summary, where it was found by itself."""
    bare = [one.run.pk for one in incidents if one.run is not None and one.memory is None]
    memories = memories_of_runs(project, bare)
    whole = []
    for one in incidents:
        for record in (one.run, one.memory):
            if record is not None:
                record.project = project
        memory = one.memory or (memories.get(one.run.pk) if one.run is not None else None)
        whole.append(Incident(one.run, memory, one.score, one.cosine, one.why))
    return whole


def _tied(project: Project, ends: list[str], run_ids: list[str]) -> dict[str, list[str]]:
    """By node id what is linked to these records or was written in these runs, and to which."""
    ties = [*queries.links_touching(project, ends)]
    if run_ids:
        ties += queries.written_in(project, run_ids)
    found: dict[str, list[str]] = {}
    for tie in ties:
        if tie.other not in ends and tie.node_id not in found.setdefault(tie.other, []):
            found[tie.other].append(tie.node_id)
    return found


def _keys(tied: Iterable[str], kind: str) -> dict[int, str]:
    """Key -> node id, of those of one kind."""
    parsed = ((node_id, parse_node_id(node_id)) for node_id in tied)
    return {each[1]: node_id for node_id, each in parsed if each is not None and each[0].name == kind}


def _pitfalls(project: Project, near: Nearby, tied: dict[str, list[str]]) -> list[Known]:
    like = {one.node_id: one for one in near.by_kind["pitfall"]}
    keys = {*_keys(like, "pitfall"), *_keys(tied, "pitfall")}
    found = []
    for record in active_records(project, kind_named("pitfall"), sorted(keys)):
        one = _known(record, like.get(record.node_id), near, tied.get(record.node_id, []))
        if one.tied_to or one.relevance >= LEAST_RELEVANCE:
            found.append(one)
    return sorted(found, key=lambda one: one.order)[:PITFALLS_SHOWN]


def _known(record: Any, like: Near | None, near: Nearby, tied_to: list[str]) -> Known:
    cosine = like.cosine if like is not None else near.cosine(record.node_id)
    return Known(record, list(tied_to), relevance_of(like, cosine), cosine)


def _decisions(
    project: Project, near: Nearby, tied: dict[str, list[str]], beyond: list[queries.Tie]
) -> list[Known]:
    """Linked to the incidents or their pitfalls, written in them, named by their outcomes; then those like the alert."""
    ties = {key: list(tied[node_id]) for key, node_id in _keys(tied, "decision").items()}
    for tie in beyond:
        for key in _keys([tie.other], "decision"):
            ties.setdefault(key, []).append(tie.node_id)
    like = {one.node_id: one for one in near.by_kind["decision"]}
    through = {key: one for one in near.by_kind["outcome"] for key in _keys([one.node_id], "outcome")}
    outcomes = _keys(tied, "outcome")
    wanted = sorted({*outcomes, *through})
    best: dict[int, Near] = {}
    for outcome, decision in queries.decisions_of_outcomes(project, wanted).items() if wanted else ():
        if outcome in outcomes:
            ties.setdefault(decision, []).extend([outcomes[outcome], *tied[outcomes[outcome]]])
        if outcome in through and (decision not in best or through[outcome].score > best[decision].score):
            best[decision] = through[outcome]
    keys = {*ties, *_keys(like, "decision"), *best}
    found = []
    for key, record in queries.decisions_named(project, sorted(keys)).items() if keys else ():
        one = _known(record, like.get(record.node_id), near, list(dict.fromkeys(ties.get(key, []))))
        if key in best:
            one.relevance = max(one.relevance, relevance_of(best[key], best[key].cosine))
        if one.tied_to or one.relevance >= LEAST_RELEVANCE:
            found.append(one)
    found = sorted(found, key=lambda one: one.order)[:DECISIONS_SHOWN]
    _tell_what_followed(project, found)
    return found


def _tell_what_followed(project: Project, found: list[Known]) -> None:
    decisions = [one.record for one in found if isinstance(one.record, Decision)]
    if decisions:
        bad = queries.bad_outcomes(project, [decision.pk for decision in decisions], BAD_OUTCOMES)
        for one in found:
            one.bad = bad.get(one.record.pk, [])
