"""The graph compared with the database, counted node by node: nothing is called in sync that was not looked at."""

from __future__ import annotations

from collections import Counter
from collections.abc import Callable
from dataclasses import dataclass, field
from typing import TypeVar

from graph import connection, cypher_schema
from graph.projector import wanted_relations
from graph.store import Relation
from records.kinds import Kind, graph_kinds, kind_named, parse_node_id
from records.models import ProjectionMark

T = TypeVar("T")
PAGE = 2000


@dataclass
class KindDrift:
    """Of one kind: how many records there are on either side, and which differ though nothing waits for them."""

    kind: Kind
    records: int = 0
    nodes: int = 0
    missing: list[str] = field(default_factory=list)
    outdated: list[str] = field(default_factory=list)
    orphans: list[str] = field(default_factory=list)
    without_vector: int = 0

    @property
    def differs(self) -> bool:
        return bool(self.missing or self.outdated or self.orphans)


@dataclass
class Drift:
    kinds: list[KindDrift]
    waiting: int
    relations: dict[str, tuple[int, int]]

    @property
    def differs(self) -> bool:
        unequal = any(one != other for one, other in self.relations.values())
        return any(kind.differs for kind in self.kinds) or (unequal and not self.waiting)


def measure_drift() -> Drift:
    """Reads every node's id and version, and every record's; a record that waits is late, not adrift."""
    kinds = {kind.name: KindDrift(kind) for kind in graph_kinds()}
    in_graph: dict[str, int] = {}
    after = ""
    while page := _in_time(lambda after=after: cypher_schema.versions_after(after, PAGE)):  # type: ignore[misc]
        after = page[-1][0]
        for node_id, version, gone, has_vector in page:
            parsed = parse_node_id(node_id)
            if gone or parsed is None or parsed[0].name not in kinds:
                continue
            in_graph[node_id] = version
            kinds[parsed[0].name].nodes += 1
            kinds[parsed[0].name].without_vector += not has_vector
    marks = {
        node_id: (wanted, due is not None)
        for node_id, wanted, due in ProjectionMark.objects.values_list(
            "node_id", "wanted_version", "next_try_at"
        ).iterator(chunk_size=PAGE)
    }
    erased = set(ProjectionMark.objects.filter(erased=True).values_list("node_id", flat=True))
    placed: dict[str, int | None] = {}
    for name, drift in kinds.items():
        rows = drift.kind.model.objects.values_list("pk", "project_id")  # type: ignore[attr-defined]
        for key, project_id in rows.iterator(chunk_size=PAGE):
            node_id = kind_named(name).node_id(key)
            if node_id in erased:  # of these the graph has only the tombstone
                continue
            placed[node_id] = project_id
            drift.records += 1
            wanted, waits = marks.get(node_id, (None, True))
            if waits:
                continue
            if node_id not in in_graph:
                drift.missing.append(node_id)
            elif in_graph[node_id] != wanted:
                drift.outdated.append(node_id)
    for node_id in in_graph.keys() - placed.keys():
        if not marks.get(node_id, (None, False))[1]:
            kinds[node_kind(node_id)].orphans.append(node_id)
    waiting = sum(1 for _wanted, waits in marks.values() if waits)
    return Drift(list(kinds.values()), waiting, _relations(placed))


def _in_time(ask: Callable[[], T]) -> T:
    """A server that fell silent must not hold whoever counts."""
    return connection.guarded(ask, connection.WRITE_SECONDS)


def node_kind(node_id: str) -> str:
    parsed = parse_node_id(node_id)
    assert parsed is not None
    return parsed[0].name


def _relations(placed: dict[str, int | None]) -> dict[str, tuple[int, int]]:
    """By type: how many the database says between records that are there, and how many the graph has."""
    said = Counter(
        relation
        for source, relation, target in wanted_relations(placed)
        if source in placed and target in placed
    )
    there = _in_time(cypher_schema.counts_by_relation)
    return {
        relation.value: (said[relation.value], there.get(relation.value, 0))
        for relation in Relation
        if said[relation.value] or there.get(relation.value)
    }
