"""Brings the graph's outcomes and relations to the decisions that were adopted."""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Sequence
from itertools import islice
from typing import Any, TypeVar

from database.transactions import transactional
from decisions.kind import DECISION
from decisions.models import Decision
from records.arrivals import greatest_key
from records.errors import InvalidInput
from records.kinds import parse_node_id
from records.links import SYMMETRICAL, link
from records.models import Link, Revision
from transfer.adopt.cells import Problem
from transfer.adopt.graph import Edge, GraphSource, decision_number
from transfer.adopt.keys import NewKeys
from transfer.adopt.kinds import OUTCOMES
from transfer.adopt.report import Report
from transfer.adopt.writer import ACTOR, Item, Writer
from transfer.models import Arrival

T = TypeVar("T")
BATCH = 200
LINKS = "links"


def adopt_outcomes(source: GraphSource, writer: Writer) -> None:
    new_key = NewKeys(greatest_key(OUTCOMES.kind))
    undated = 0
    for batch in _batches(source.outcomes(), BATCH):
        decisions = adopted_decisions(writer.origin, [outcome.decision for outcome in batch])
        items = []
        for outcome in batch:
            decision = decisions.get(decision_number(outcome.decision) or 0)
            if decision is None:
                _leave_out(
                    writer.report,
                    OUTCOMES.table,
                    outcome.key,
                    f"no decision {outcome.decision!r} was adopted",
                )
                continue
            properties = {name: value for name, value in outcome.properties.items() if value is not None}
            undated += not properties.keys() & {"occurred_at", "created_at"}
            items.append(Item(outcome.key, properties, extra=_beside(decision, properties)))
        writer.write(OUTCOMES, items, new_key)
    if undated:
        writer.report.notes.append(
            f"outcomes: {undated:,} have no date there; here they have their decision's."
        )


def _beside(decision: Decision, properties: dict[str, Any]) -> dict[str, Any]:
    beside: dict[str, Any] = {"decision": decision, "project": decision.project}
    if not properties.keys() & {"occurred_at", "created_at"}:
        beside["occurred_at"] = decision.sort_at
    return beside


def adopt_relations(source: GraphSource, writer: Writer) -> None:
    """Explicit relations as links. One that was made before and taken back since is not made again."""
    report = writer.report
    line = report.line(LINKS)
    for batch in _batches(source.edges(), BATCH):
        decisions = adopted_decisions(
            writer.origin, [end for edge in batch for end in (edge.source, edge.target)]
        )
        writer.keep()
        made, already, problems = _link_batch(batch, decisions)
        line.adopted += made
        line.already += already
        line.left_out += len(problems)
        report.tell(problems)
    for relation, count in sorted(source.others().items()):
        report.notes.append(
            f"{count:,} relations {relation} of decisions have no meaning here and stay in the graph."
        )


@transactional
def _link_batch(batch: Sequence[Edge], decisions: dict[int, Decision]) -> tuple[int, int, list[Problem]]:
    made = already = 0
    problems: list[Problem] = []
    ends = {decision.node_id for decision in decisions.values()}
    here = set(
        Link.objects.filter(source__in=ends, target__in=ends).values_list("source", "relation", "target")
    )
    here |= _linked_before(ends)
    for edge in batch:
        key = f"{edge.source} {edge.relation} {edge.target}"
        first, second = (decisions.get(decision_number(end) or 0) for end in (edge.source, edge.target))
        if first is None or second is None:
            gone = edge.source if first is None else edge.target
            problems.append(Problem(LINKS, key, "", f"left out: no decision {gone!r} was adopted"))
            continue
        a, b = first.node_id, second.node_id
        triple = (b, edge.relation, a) if edge.relation in SYMMETRICAL and a > b else (a, edge.relation, b)
        if triple in here:
            already += 1
            continue
        try:
            link(first, edge.relation, second, actor=ACTOR, reason=edge.note.replace("\0", "")[:1000])
            here.add(triple)
            made += 1
        except InvalidInput as error:
            said = " ".join(words for messages in error.errors.values() for words in messages)
            problems.append(Problem(LINKS, key, "", f"left out: {said}"))
    return made, already, problems


def _linked_before(ends: Iterable[str]) -> set[tuple[str, str, str]]:
    """What an adoption linked, as its history says: a person may have taken it back."""
    rows = Revision.objects.filter(
        node_id__in=list(ends), verb="link", actor_name=ACTOR.name, channel=ACTOR.channel
    )
    details = (detail for detail in rows.values_list("detail", flat=True) if isinstance(detail, dict))
    return {(detail["source"], detail["relation"], detail["target"]) for detail in details}


def adopted_decisions(origin: str, written: Iterable[Any]) -> dict[int, Decision]:
    """The decisions here, by their number in the source."""
    numbers = {number for end in written if (number := decision_number(end)) is not None}
    rows = Arrival.objects.filter(
        origin=origin, kind=DECISION.name, source_key__in=[str(number) for number in numbers]
    )
    keys = {}
    for source, node_id in rows.values_list("source_key", "node_id"):
        parsed = parse_node_id(node_id)
        if parsed is not None:
            keys[int(source)] = parsed[1]
    found = Decision.objects.select_related("project").in_bulk(list(keys.values()))
    return {number: found[key] for number, key in keys.items() if key in found}


def _leave_out(report: Report, table: str, key: str, reason: str) -> None:
    report.line(table).left_out += 1
    report.tell([Problem(table, key, "", f"left out: {reason}")])


def _batches(rows: Iterable[T], size: int) -> Iterator[list[T]]:
    iterator = iter(rows)
    while batch := list(islice(iterator, size)):
        yield batch
