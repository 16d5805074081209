"""What may go into a context pack: the records found for the text and by the questions of each section."""

from __future__ import annotations

from collections import defaultdict
from dataclasses import dataclass, field
from typing import Any

from decisions.models import Decision
from desk.context_pack import queries
from desk.context_pack.asked import Asked
from patterns.queries import TRUSTED, trusted_patterns
from pitfalls.queries import severe_pitfalls
from recall.compression import stems_of
from recall.nearby import Near, Nearby, nearby
from records.kinds import Kind, group_by_kind, kind_named, kind_of
from records.models import Relation, ReviewState

# So many times k are looked at, since some are hidden, duplicates or too little to do with the text.
SPARE, LEAST_LOOKED_AT, MOST_LOOKED_AT = 3, 15, 100
LEAST_RELEVANCE = 0.2
AT_HAND = 5  # of the best patterns and pitfalls, whose categories are at hand
AT_HAND_RELEVANCE = 0.35
CHAIN = 3  # steps from a superseded decision to the one that holds
SIMILAR, RECENT = "decisions", "recent"


@dataclass
class Candidate:
    """A record that may be packed. `relevance` in [0, 1]; `why` names what found it."""

    record: Any
    section: str
    relevance: float
    cosine: float | None
    why: list[str]
    lines: list[str] = field(default_factory=list)  # what is told with it, one a line
    beside: list[str] = field(default_factory=list)  # node ids of what its lines tell
    run: Any = None  # of a run memory

    @property
    def node_id(self) -> str:
        return str(self.record.node_id)

    @property
    def kind(self) -> Kind:
        return kind_of(self.record)


@dataclass(frozen=True)
class LeftOut:
    """A record that was a candidate and is not in the pack: why, and in favour of which."""

    record: Any
    section: str
    score: float
    reason: str
    of: str = ""


@dataclass
class Gathered:
    candidates: list[Candidate]
    left_out: list[LeftOut]
    near: Nearby
    notes: list[str]


def gather(asked: Asked) -> Gathered:
    """Every candidate once, in no order that matters; some twenty statements, whatever there is."""
    limit = min(MOST_LOOKED_AT, max(LEAST_LOOKED_AT, SPARE * asked.k))
    looked_for = set(asked.kinds) | ({"outcome"} if "decision" in asked.kinds else set())
    near = nearby(asked.project.pk, asked.text, sorted(looked_for - {"session"}), limit)
    found = _found(asked, near)
    if "decision" in asked.kinds:
        _add_recent(asked, near, found, limit)
    _add_by_category(asked, near, found, limit)
    _add_session(asked, near, found)
    left_out: list[LeftOut] = []
    _join_incidents(asked, found)
    _put_aside(asked, found, left_out)
    _relate(asked, near, found, left_out)
    return Gathered(list(found.values()), left_out, near, near.notes)


def relevance_of(one: Near | None, cosine: float | None) -> float:
    """Two thirds the cosine (0.1 counts for nothing, 0.8 for all), a third the place in the fused rankings."""
    meaning = 0.0 if cosine is None else min(1.0, max(0.0, (cosine - 0.1) / 0.7))
    place = one.score if one is not None else 0.0
    return round(place if cosine is None and one else (2 * meaning + place) / 3, 6)


def _found(asked: Asked, near: Nearby) -> dict[str, Candidate]:
    """What the text found, by node id. An outcome brings its decision."""
    ranked = {one.node_id: one for ranked in near.by_kind.values() for one in ranked}
    by_kind = group_by_kind(ranked)
    found: dict[str, Candidate] = {}
    records: list[Any] = []
    through: dict[int, Near] = {}
    for name, keys in sorted(by_kind.items()):
        if name == "decision":
            continue
        rows = queries.active_records(asked.project, kind_named(name), keys)
        if name == "outcome":
            rows = [
                row for row in rows if not asked.reviewed_only or row.review_state == ReviewState.APPROVED
            ]
            for outcome in sorted(rows, key=lambda row: -ranked[row.node_id].score):
                through.setdefault(outcome.decision_id, ranked[outcome.node_id])
        else:
            records += rows
    keys = list(dict.fromkeys([*by_kind.get("decision", []), *through]))
    if keys:
        records += queries.active_records(asked.project, kind_named("decision"), keys)
    for record in records:
        one = ranked.get(record.node_id)
        outcome = through.get(record.pk) if isinstance(record, Decision) else None
        both = [each for each in (one, outcome) if each is not None]
        best = max(both, key=lambda each: each.score)
        cosine = max((each.cosine for each in both if each.cosine is not None), default=None)
        why = list(one.why) if one else []
        why += [f"outcome {outcome.node_id}"] if outcome else []
        section = kind_of(record).pack_section or ""
        found[record.node_id] = Candidate(record, section, relevance_of(best, cosine), cosine, why)
    return found


def _add(near: Nearby, found: dict[str, Candidate], record: Any, section: str, why: str) -> None:
    candidate = found.get(record.node_id)
    if candidate is None:
        cosine = near.cosine(record.node_id)
        candidate = Candidate(record, section, relevance_of(None, cosine), cosine, [])
        found[record.node_id] = candidate
    candidate.why.append(why)


def _add_recent(asked: Asked, near: Nearby, found: dict[str, Candidate], limit: int) -> None:
    for decision in queries.recent_decisions(asked.project, asked.as_of, limit):
        _add(near, found, decision, RECENT, "recent")


def _add_by_category(asked: Asked, near: Nearby, found: dict[str, Candidate], limit: int) -> None:
    if not {"pitfall", "pattern"} & asked.kinds:
        return
    at_hand = _categories_at_hand(asked, found)
    if at_hand and "pitfall" in asked.kinds:
        rows = severe_pitfalls(asked.project.pk, at_hand, limit)
        for pitfall in queries.in_project(asked.project, rows):
            _add(near, found, pitfall, "pitfalls", f"category {pitfall.category}")
    if at_hand and "pattern" in asked.kinds:
        for pattern in queries.in_project(asked.project, trusted_patterns(asked.project.pk, at_hand, limit)):
            _add(near, found, pattern, "patterns", f"category {pattern.category}")


def _categories_at_hand(asked: Asked, found: dict[str, Candidate]) -> list[str]:
    """Those of the patterns and pitfalls most like the text, and those that it names."""
    words = stems_of(asked.words)
    named = {
        category
        for category in queries.categories(asked.project)
        if (stems := stems_of(category.replace("_", " "))) and stems <= words
    }
    like = [
        one
        for one in found.values()
        if hasattr(one.record, "category") and one.relevance >= AT_HAND_RELEVANCE
    ]
    like.sort(key=lambda one: (-one.relevance, one.node_id))
    return sorted(named | {one.record.category for one in like[:AT_HAND]})


def _add_session(asked: Asked, near: Nearby, found: dict[str, Candidate]) -> None:
    if not asked.session or "session" not in asked.kinds:
        return
    session = queries.session_named(asked.project, asked.session)
    if session is None:
        near.notes.append(f"There is no session “{asked.session[:100]}” in this project.")
    else:
        found[session.node_id] = Candidate(session, "session", 1.0, near.cosine(session.node_id), ["session"])


def _join_incidents(asked: Asked, found: dict[str, Candidate]) -> None:
    """A run and its summary are one incident, told by the summary; of one agent only, where one was named."""
    incidents = [one for one in found.values() if one.section == "incidents"]
    if asked.agent:
        for one in incidents:
            if one.record.agent_name != asked.agent:
                del found[one.node_id]
        incidents = [one for one in incidents if one.record.agent_name == asked.agent]
    runs = {one.record.pk: one for one in incidents if one.kind.name == "run"}
    memories = [one for one in incidents if one.kind.name == "memory"]
    if "memory" in asked.kinds:
        summaries = queries.memories_of_runs(asked.project, sorted(runs))
        for run_id, memory in summaries.items():
            if memory.node_id not in found:
                run = runs[run_id]
                made = Candidate(memory, "incidents", run.relevance, run.cosine, list(run.why))
                found[memory.node_id] = made
                memories.append(made)
    wanted = sorted(
        {one.record.source_run_fk_id for one in memories if one.record.source_run_fk_id} - set(runs)
    )
    others = queries.runs_named(asked.project, wanted)
    for one in sorted(memories, key=lambda memory: (-memory.relevance, memory.node_id)):
        key = one.record.source_run_fk_id
        one.run = others.get(key)
        if key in runs:
            run = runs[key]
            one.run, one.relevance = run.record, max(one.relevance, run.relevance)
            one.why += [why for why in run.why if why not in one.why]
            found.pop(run.node_id, None)


def _put_aside(asked: Asked, found: dict[str, Candidate], left_out: list[LeftOut]) -> None:
    """What the policies keep out, and what has too little to do with the text."""
    for one in list(found.values()):
        reason = ""
        if asked.reviewed_only and one.record.review_state != ReviewState.APPROVED:
            reason = "unreviewed"
        elif one.kind.name == "pattern" and one.record.confidence_score < TRUSTED:
            reason = "confidence"
        elif one.relevance < LEAST_RELEVANCE and one.section != RECENT and not _by_category(one):
            del found[one.node_id]  # a word in common: nobody would miss it
            continue
        if reason:
            left_out.append(LeftOut(one.record, one.section, one.relevance, reason))
            del found[one.node_id]


def _by_category(one: Candidate) -> bool:
    return any(why.startswith("category ") for why in one.why)


def _relate(asked: Asked, near: Nearby, found: dict[str, Candidate], left_out: list[LeftOut]) -> None:
    """Superseded decisions give way to their successors, duplicates to their originals; contradictions are told."""
    links, others = _links(asked, found)
    old_ones = _give_way(near, links, others, found, left_out)
    for link in links:
        if link.relation == Relation.DUPLICATE_OF and link.source in found and link.target in found:
            one = found.pop(link.source)
            left_out.append(LeftOut(one.record, one.section, one.relevance, "duplicate", link.target))
    decisions = {one.record.pk for one in found.values() if isinstance(one.record, Decision)}
    decisions |= {old.pk for olds in old_ones.values() for old in olds}
    outcomes = queries.newest_outcomes(asked.project, sorted(decisions), reviewed_only=asked.reviewed_only)
    for one in found.values():
        if isinstance(one.record, Decision):
            _tell_outcomes(one, outcomes.get(one.record.pk, []))
        for old in old_ones.get(one.node_id, ()):
            one.lines.append(f"supersedes {old.node_id} {line_of(old.heading)}")
            one.beside.append(old.node_id)
            _tell_outcomes(one, outcomes.get(old.pk, []), which=f"{old.node_id} ")
    for link in links:
        if link.relation == Relation.CONTRADICTS:
            for here, there in ((link.source, link.target), (link.target, link.source)):
                other = found[there].record if there in found else others.get(there)
                if here in found and other is not None:
                    found[here].lines.append(f"contradicts {there} {line_of(other.heading)}")
                    found[here].beside.append(there)


def _links(asked: Asked, found: dict[str, Candidate]) -> tuple[list[queries.Said], dict[str, Any]]:
    """What relates the candidates, and from a superseded one on to those that hold; the records at the other ends."""
    links: dict[int, queries.Said] = {}
    known: set[str] = set()
    frontier = set(found)
    for _step in range(CHAIN):
        if not frontier:
            break
        new = queries.telling_links(asked.project, sorted(frontier))
        links |= {link.id: link for link in new}
        known |= frontier
        frontier = {link.source for link in new if link.relation == Relation.SUPERSEDES} - known
    kept = [links[key] for key in sorted(links)]
    return kept, _others(asked, found, kept)


def _give_way(
    near: Nearby,
    links: list[queries.Said],
    others: dict[str, Any],
    found: dict[str, Candidate],
    left_out: list[LeftOut],
) -> dict[str, list[Any]]:
    """Take out each decision of which a successor can be told; by the node id of who holds: those that it replaced."""
    records = others | {node_id: one.record for node_id, one in found.items()}
    successors: dict[str, str] = {}
    for link in links:
        if link.relation == Relation.SUPERSEDES and link.source in records and link.target in records:
            successors.setdefault(link.target, link.source)
    replaced: dict[str, list[Any]] = defaultdict(list)
    for node_id in sorted(successors):
        if node_id not in found:
            continue
        old = found.pop(node_id)
        holds, steps = successors[node_id], 0
        while holds in successors and steps < CHAIN:
            holds, steps = successors[holds], steps + 1
        if holds not in found:
            found[holds] = Candidate(
                records[holds], old.section, old.relevance, near.cosine(holds), ["successor"]
            )
        found[holds].relevance = max(found[holds].relevance, old.relevance)
        replaced[holds].append(old.record)
        left_out.append(LeftOut(old.record, old.section, old.relevance, "superseded", holds))
    return replaced


def _others(asked: Asked, found: dict[str, Candidate], links: list[queries.Said]) -> dict[str, Any]:
    """The other ends of the links, active ones that policy lets through."""
    ends = {end for link in links for end in (link.source, link.target)} - set(found)
    records: dict[str, Any] = {}
    for name, keys in sorted(group_by_kind(ends).items()):
        for record in queries.active_records(asked.project, kind_named(name), keys):
            if not asked.reviewed_only or record.review_state == ReviewState.APPROVED:
                records[record.node_id] = record
    return records


def _tell_outcomes(one: Candidate, outcomes: list[Any], which: str = "") -> None:
    """What followed a decision, or (`which`) one that it replaced."""
    for outcome in outcomes[: queries.OUTCOMES_SHOWN]:
        note = f": {line_of(outcome.note)}" if outcome.note else ""
        one.lines.append(f"{which}led to {outcome.node_id} {line_of(outcome.heading)}{note}")
        one.beside.append(outcome.node_id)
    if len(outcomes) > queries.OUTCOMES_SHOWN:
        one.lines.append(f"{which}led to more outcomes")


def line_of(text: str, most: int = 160) -> str:
    """The text in one line; of a long one its beginning, with `…`."""
    line = " ".join(text[: most * 4].split())
    return line if len(line) <= most and len(text) <= most * 4 else f"{line[: most - 1].rstrip()}…"
