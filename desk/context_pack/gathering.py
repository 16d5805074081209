"""The candidates of a context pack: the records found for the text and by the questions of each section."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

from decisions.models import Decision
from desk.context_pack import queries
from desk.context_pack.asked import Asked
from desk.context_pack.candidates import LEAST_RELEVANCE, RECENT, Candidate, LeftOut, relevance_of
from desk.context_pack.relating import relate
from patterns.queries import TRUSTED, trusted_patterns
from pitfalls.queries import severe_pitfalls
from recall.compression import stems_of
from recall.nearby import Near, Nearby, nearby
from records.kinds import group_by_kind, kind_named, kind_of
from records.models import ReviewState

# So many times k are looked at, since some are hidden, duplicates or too little to do with the text.
SPARE, LEAST_LOOKED_AT, MOST_LOOKED_AT = 3, 15, 100
AT_HAND = 5  # of the best patterns and pitfalls, whose categories are at hand
AT_HAND_RELEVANCE = 0.35


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
    relate(asked, near, found, left_out)
    return Gathered(list(found.values()), left_out, near, near.notes)


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
