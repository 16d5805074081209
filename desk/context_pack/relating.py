"""What the candidates have to do with each other: who gives way to whom, and what is told with each."""

from __future__ import annotations

from collections import defaultdict
from typing import Any

from decisions.models import Decision
from desk.context_pack import queries
from desk.context_pack.asked import Asked
from desk.context_pack.candidates import Candidate, LeftOut
from recall.nearby import Nearby
from records.kinds import group_by_kind, kind_named
from records.models import Relation, ReviewState
from records.one_line import one_line

CHAIN = 3  # steps from a superseded decision to the one that holds


def relate(asked: Asked, near: Nearby, found: dict[str, Candidate], left_out: list[LeftOut]) -> None:
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
            one.lines.append(f"supersedes {old.node_id} {one_line(old.heading)}")
            one.beside.append(old.node_id)
            _tell_outcomes(one, outcomes.get(old.pk, []), which=f"{old.node_id} ")
    for link in links:
        if link.relation == Relation.CONTRADICTS:
            for here, there in ((link.source, link.target), (link.target, link.source)):
                other = found[there].record if there in found else others.get(there)
                if here in found and other is not None:
                    found[here].lines.append(f"contradicts {there} {one_line(other.heading)}")
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
        note = f": {one_line(outcome.note)}" if outcome.note else ""
        one.lines.append(f"{which}led to {outcome.node_id} {one_line(outcome.heading)}{note}")
        one.beside.append(outcome.node_id)
    if len(outcomes) > queries.OUTCOMES_SHOWN:
        one.lines.append(f"{which}led to more outcomes")
