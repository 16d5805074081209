"""What nodes offer a walk: their best relations out of `links`, `similarities` and the kinds' own foreign keys.

One statement, whatever the number of nodes. Where a hub of thousands is among them it is read again as one term a
node, table and direction, each off an index in its order and limited. The two directions are two terms: a view that
unites them, an OR or a window function would read all of a hub's rows.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Sequence
from dataclasses import dataclass, field, replace
from typing import Any, NamedTuple

from django.db import connection

from graph.store import RANK, SYMMETRICAL, Edge, Relation, Within
from recall.models import Similarity
from records.kinds import Kind, graph_kinds, group_by_kind, kind_named
from records.models import Link

Key = tuple[str, str, str]
RELATIONS = {relation.value: relation for relation in Relation}
MANY = 1000
NODES_A_STATEMENT = 100  # two terms each; SQLite takes 500
# Up to this many rows a plain look-up is quicker than limited terms; more means a hub.
ORDINARY, ORDINARY_A_NODE = 1000, 60
DIRECTIONS = (("source", "target"), ("target", "source"))
LINKS = Link._meta.db_table
SIMILARITIES = Similarity._meta.db_table


@dataclass(frozen=True)
class Offers:
    """The best edges of one node. `cut`: it has more than were read."""

    edges: tuple[Edge, ...] = ()
    cut: bool = False


class Row(NamedTuple):
    """A relation seen from one of its ends. `direction` 1: it runs from the far end to the near one."""

    near: str
    far: str
    direction: int
    relation: str
    score: float | None

    @property
    def key(self) -> Key:
        turned = self.near > self.far if self.relation in SYMMETRICAL else self.direction
        return (self.far, self.near, self.relation) if turned else (self.near, self.far, self.relation)

    @property
    def edge(self) -> Edge:
        source, target, relation = self.key
        return Edge(source, target, RELATIONS[relation], self.score)


@dataclass(frozen=True)
class _Table:
    """How one table is read: `order` is the order of its two indexes after the node itself."""

    name: str
    columns: str
    order: str
    condition: str
    parameters: tuple[object, ...]


@dataclass
class _Read:
    """Rows of a table; `full`: the far ends where a term reached its limit."""

    table: _Table
    rows: list[Row]
    full: dict[tuple[str, int], list[str]] = field(default_factory=dict)

    def short(self, shown: set[str]) -> list[str]:
        """The nodes of which hidden records may have kept shown ones out."""
        return sorted({near for (near, _), others in self.full.items() if not shown.issuperset(others)})


class Condition:
    """A piece of SQL with its parameters."""

    def __init__(self, sql: str, parameters: Iterable[object] = ()) -> None:
        self.sql, self.parameters = sql, tuple(parameters)


def kinds_within(within: Within) -> list[Kind]:
    return [kind for kind in graph_kinds() if within.kinds is None or kind.name in within.kinds]


def offers_of(
    node_ids: Sequence[str],
    within: Within,
    per_node: int,
    shown_of: Callable[[Iterable[str]], set[str]] | None = None,
) -> dict[str, Offers]:
    """The best `per_node` edges of each node to records that `within` shows; `shown_of` answers which far ends are."""
    reads = _read(_tables(within), node_ids, within, per_node + 1)
    rows = [*_own_rows(node_ids, within, per_node + 1), *(row for read in reads for row in read.rows)]
    far = {row.far for row in rows}
    shown = shown_of(far) if shown_of else shown_among(far, within)
    rows = [row for row in rows if row.far in shown]
    for read in reads:
        # Hidden records took places of shown ones: these few nodes are read again with the check inside each term.
        if short := read.short(shown):
            rows += _best_rows(read.table, short, within, per_node + 1, checked=True).rows
    return best_offers(node_ids, rows, per_node)


def best_offers(node_ids: Sequence[str], rows: Iterable[Row], per_node: int) -> dict[str, Offers]:
    """The best `per_node` edges of each node among these rows."""
    found: dict[str, dict[Key, Row]] = {node_id: {} for node_id in node_ids}
    for row in rows:
        _keep_better(found[row.near], row)
    return {node_id: _best(kept.values(), per_node) for node_id, kept in found.items()}


def edges_among(some: Sequence[str], others: Sequence[str], within: Within) -> list[Edge]:
    """Every edge between one of `some` and one of `others` or `some`, whatever the state of either; in their order."""
    if not some:
        return []
    there = [*some, *others]
    near_marks, far_marks = _marks(some), _marks(there)
    rows = _own_rows(some, replace(within, hidden=True), MANY)
    for table in _tables(within):
        for direction, (near, far) in enumerate(DIRECTIONS):
            sql = (
                f"SELECT {near}, {far}, {direction}, {table.columns} FROM {table.name}"
                f" WHERE {near} IN ({near_marks}) AND {far} IN ({far_marks}) AND {table.condition}"
            )
            rows += _fetch(sql, [*some, *there, *table.parameters])
    ends = set(there)
    return edges_of_rows(row for row in rows if row.far in ends)


def edges_of_rows(rows: Iterable[Row]) -> list[Edge]:
    """Each relation once, in the order of edges."""
    kept = dict[Key, Row]()
    for row in rows:
        _keep_better(kept, row)
    return sorted((row.edge for row in kept.values()), key=lambda edge: edge.order)


def _keep_better(kept: dict[Key, Row], row: Row) -> None:
    """A relation kept in both directions is one edge; a likeness with its greater score."""
    known = kept.get(row.key)
    if known is None or (row.score or 0.0) > (known.score or 0.0):
        kept[row.key] = row


def _best(rows: Iterable[Row], per_node: int) -> Offers:
    ordered = sorted(rows, key=lambda row: (RANK[row.relation], -(row.score or 0.0), row.far))  # type: ignore[index]
    return Offers(tuple(row.edge for row in ordered[:per_node]), cut=len(ordered) > per_node)


def _tables(within: Within) -> list[_Table]:
    tables = []
    asserted = sorted(within.relations - {Relation.SIMILAR_TO, Relation.LEADS_TO})
    if asserted:
        condition = f"relation IN ({_marks(asserted)})"
        tables.append(_Table(LINKS, "relation, NULL", "relation, {far}", condition, tuple(asserted)))
    if Relation.SIMILAR_TO in within.relations:
        tables.append(
            _Table(
                SIMILARITIES, "'SIMILAR_TO', score", "score DESC, {far}", "score >= %s", (within.min_score,)
            )
        )
    return tables


def _read(tables: Sequence[_Table], node_ids: Sequence[str], within: Within, limit: int) -> list[_Read]:
    """All rows that touch the nodes, in one statement; where there are hubs among them, the best `limit` of each node,
    table and direction."""
    if not node_ids or not tables:
        return []
    enough = ORDINARY + ORDINARY_A_NODE * len(node_ids)
    marks = _marks(node_ids)
    terms, parameters = [], []
    for table in tables:
        for direction, (near, far) in enumerate(DIRECTIONS):
            terms.append(
                f"SELECT {near} AS near, {far} AS far, {direction} AS direction, {table.columns} FROM {table.name}"
                f" WHERE {near} IN ({marks}) AND {table.condition}"
            )
            parameters += [*node_ids, *table.parameters]
    rows = _fetch(f"{' UNION ALL '.join(terms)} LIMIT {enough + 1}", parameters)
    if len(rows) <= enough:
        return [_Read(tables[0], rows)]  # none of them reached a limit
    return [
        _best_rows(table, node_ids[start : start + NODES_A_STATEMENT], within, limit)
        for table in tables
        for start in range(0, len(node_ids), NODES_A_STATEMENT)
    ]


def _best_rows(
    table: _Table, node_ids: Sequence[str], within: Within, limit: int, *, checked: bool = False
) -> _Read:
    """The best rows of each node and direction; with `checked`, of those whose other end is shown."""
    kinds = _of_kinds("{far}", within)
    shown = _is_shown("{far}", within) if checked else Condition("1 = 1")
    terms: list[str] = []
    parameters: list[Any] = []
    for direction, (near, far) in enumerate(DIRECTIONS):
        term = (
            f"SELECT {near} AS near, {far} AS far, {direction} AS direction, {table.columns} FROM {table.name}"
            f" WHERE {near} = %s AND {table.condition} AND {kinds.sql} AND {shown.sql}"
            f" ORDER BY {table.order} LIMIT {int(limit)}"
        ).replace("{far}", far)
        for node_id in node_ids:
            terms.append(f"SELECT * FROM ({term}) AS t{len(terms)}")
            parameters += [node_id, *table.parameters, *kinds.parameters, *shown.parameters]
    rows = _fetch(" UNION ALL ".join(terms), parameters)
    by_term: dict[tuple[str, int], list[str]] = {}
    for row in rows:
        by_term.setdefault((row.near, row.direction), []).append(row.far)
    full = {key: others for key, others in by_term.items() if len(others) == limit}
    return _Read(table, rows, full)


def _fetch(sql: str, parameters: Sequence[Any]) -> list[Row]:
    with connection.cursor() as cursor:
        cursor.execute(sql, parameters)
        return list(map(Row._make, cursor.fetchall()))


def shown_among(node_ids: Iterable[str], within: Within) -> set[str]:
    """Those that are records of the project which `within` shows: one statement."""
    names = {kind.name for kind in kinds_within(within)}
    terms: list[str] = []
    parameters: list[Any] = []
    for name, keys in group_by_kind(node_ids).items():
        if name in names:
            kind = kind_named(name)
            terms.append(
                f"SELECT '{kind.prefix}' AS prefix, id FROM {_shown_table(kind, within)}"
                f" WHERE project_id = %s AND id IN ({_marks(keys)})"
            )
            parameters += [within.project_id, *keys]
    if not terms:
        return set()
    with connection.cursor() as cursor:
        cursor.execute(" UNION ALL ".join(terms), parameters)
        return {f"{prefix}_{key}" for prefix, key in cursor.fetchall()}


def _shown_table(kind: Kind, within: Within) -> str:
    """The view of active records beside the kind's table holds the one rule of what is shown."""
    table = kind.model._meta.db_table
    return table if within.hidden else f"active_{table}"


def _of_kinds(column: str, within: Within) -> Condition:
    kinds = kinds_within(within)
    terms = [f"SUBSTR({column}, 1, {len(kind.prefix) + 1}) = %s" for kind in kinds]
    return Condition(f"({' OR '.join(terms) or '1 = 0'})", [f"{kind.prefix}_" for kind in kinds])


def _is_shown(column: str, within: Within) -> Condition:
    """True where the column names a record of the project that `within` shows: active ones, by the views' one rule."""
    number = "UNSIGNED" if connection.vendor == "mysql" else "INTEGER"
    terms, parameters = [], []
    for kind in kinds_within(within):
        key = f"SUBSTR({column}, {len(kind.prefix) + 2})"
        terms.append(
            f"WHEN %s THEN EXISTS (SELECT 1 FROM {_shown_table(kind, within)} AS record WHERE record.project_id = %s"
            f" AND record.id = {f'CAST({key} AS {number})' if kind.integer_key else key})"
        )
        parameters += [kind.prefix, within.project_id]
    if not terms:
        return Condition("0")
    prefix = f"SUBSTR({column}, 1, INSTR({column}, '_') - 1)"
    return Condition(f"CASE {prefix} {' '.join(terms)} ELSE 0 END", parameters)


def _own_rows(node_ids: Sequence[str], within: Within, per_node: int) -> list[Row]:
    """LEADS_TO, which is a foreign key of a kind's own table."""
    if Relation.LEADS_TO not in within.relations:
        return []
    asked, rows = set(node_ids), []
    for kind in graph_kinds():
        if kind.edges_of is None:
            continue
        own = kind.edges_of(node_ids, project_id=within.project_id, per_node=per_node, hidden=within.hidden)
        for source, relation, target in own:
            if source in asked:
                rows.append(Row(source, target, 0, relation, None))
            if target in asked:
                rows.append(Row(target, source, 1, relation, None))
    return rows


def _marks(values: Sequence[object]) -> str:
    return ", ".join(["%s"] * len(values))
