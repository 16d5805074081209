"""What nodes offer a walk: their best relations out of `links`, `similarities` and the kinds' own foreign keys.

One statement a table, whatever the number of nodes. Where a hub of thousands is among them it is read again as one
term a node and direction, each off an index in its order and limited. The two directions are two terms: a view that
unites them, an OR or a window function would read all of a hub's rows.
"""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from dataclasses import dataclass, field, replace
from itertools import chain

from django.db import connection

from graph.store import Edge, Relation, Within, edge_between
from recall.models import Similarity
from records.kinds import Kind, graph_kinds, group_by_kind, kind_named
from records.models import Link

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
    """(node, edge) rows of a table; `full`: the other ends where a term reached its limit."""

    table: _Table
    rows: list[tuple[str, Edge]]
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


def offers_of(node_ids: Sequence[str], within: Within, per_node: int) -> dict[str, Offers]:
    """The best `per_node` edges of each node to records that `within` shows."""
    reads = [_read(table, node_ids, within, per_node + 1) for table in _tables(within)]
    own = _own_edges(node_ids, within, per_node + 1)
    shown = shown_among(
        {edge.other(near) for near, edge in chain(own, *(read.rows for read in reads))}, within
    )
    found: dict[str, set[Edge]] = {node_id: set() for node_id in node_ids}
    for near, edge in chain(own, *(read.rows for read in reads)):
        if edge.other(near) in shown:
            found[near].add(edge)
    for read in reads:
        # Hidden records took places of shown ones: these few nodes are read again with the check inside each term.
        if short := read.short(shown):
            for near, edge in _best_rows(read.table, short, within, per_node + 1, checked=True).rows:
                found[near].add(edge)
    return {node_id: _best(node_id, edges, per_node) for node_id, edges in found.items()}


def edges_among(some: Sequence[str], others: Sequence[str], within: Within) -> set[Edge]:
    """Every edge between one of `some` and one of `others`, whatever the state of either."""
    found: set[Edge] = set()
    if not some:
        return found
    firsts, seconds = _marks(some), _marks(others)
    for table in _tables(within):
        for near, far in DIRECTIONS:
            sql = (
                f"SELECT source, target, {table.columns} FROM {table.name}"
                f" WHERE {near} IN ({firsts}) AND {far} IN ({seconds}) AND {table.condition}"
            )
            with connection.cursor() as cursor:
                cursor.execute(sql, [*some, *others, *table.parameters])
                found |= {edge_between(*row) for row in cursor.fetchall()}
    others_too = {*some, *others}
    own = _own_edges(some, replace(within, hidden=True, kinds=None), NODES_A_STATEMENT)
    found |= {edge for _, edge in own if edge.source in others_too and edge.target in others_too}
    return _one_a_pair(found)


def _best(node_id: str, edges: set[Edge], per_node: int) -> Offers:
    ordered = sorted(_one_a_pair(edges), key=lambda edge: (edge.order[:2], edge.other(node_id)))
    return Offers(tuple(ordered[:per_node]), cut=len(ordered) > per_node)


def _one_a_pair(edges: set[Edge]) -> set[Edge]:
    """A likeness kept in both directions is one edge, with its greater score."""
    kept: dict[tuple[str, str, Relation], Edge] = {}
    for edge in edges:
        key = (edge.source, edge.target, edge.relation)
        if key not in kept or (edge.score or 0.0) > (kept[key].score or 0.0):
            kept[key] = edge
    return set(kept.values())


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


def _read(table: _Table, node_ids: Sequence[str], within: Within, limit: int) -> _Read:
    """All rows that touch the nodes; where there are hubs among them, the best `limit` of each node and direction."""
    enough = ORDINARY + ORDINARY_A_NODE * len(node_ids)
    marks = _marks(node_ids)
    terms = [
        f"SELECT {near} AS near, {far} AS far, {direction} AS direction, {table.columns} FROM {table.name}"
        f" WHERE {near} IN ({marks}) AND {table.condition}"
        for direction, (near, far) in enumerate(DIRECTIONS)
    ]
    sql = f"{' UNION ALL '.join(terms)} LIMIT {enough + 1}"
    rows = _fetch(sql, [*node_ids, *table.parameters] * 2) if node_ids else []
    if len(rows) <= enough:
        return _Read(table, [(near, edge) for near, _, edge in rows])
    read = _Read(table, [], {})
    for start in range(0, len(node_ids), NODES_A_STATEMENT):
        some = node_ids[start : start + NODES_A_STATEMENT]
        part = _best_rows(table, some, within, limit)
        read.rows += part.rows
        read.full |= part.full
    return read


def _best_rows(
    table: _Table, node_ids: Sequence[str], within: Within, limit: int, *, checked: bool = False
) -> _Read:
    """The best rows of each node and direction; with `checked`, of those whose other end is shown."""
    kinds = _of_kinds("{far}", within)
    shown = _is_shown("{far}", within) if checked else Condition("1 = 1")
    terms, parameters = [], []
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
    for near, direction, edge in rows:
        by_term.setdefault((near, direction), []).append(edge.other(near))
    full = {key: others for key, others in by_term.items() if len(others) == limit}
    return _Read(table, [(near, edge) for near, _, edge in rows], full)


def _fetch(sql: str, parameters: Sequence[object]) -> list[tuple[str, int, Edge]]:
    """(node, direction, edge) of rows (near, far, direction, relation, score)."""
    with connection.cursor() as cursor:
        cursor.execute(sql, parameters)
        return [
            (near, direction, edge_between(*((far, near) if direction else (near, far)), relation, score))
            for near, far, direction, relation, score in cursor.fetchall()
        ]


def shown_among(node_ids: Iterable[str], within: Within) -> set[str]:
    """Those that are records of the project which `within` shows: one query a kind."""
    shown: set[str] = set()
    names = {kind.name for kind in kinds_within(within)}
    for name, keys in group_by_kind(node_ids).items():
        if name in names:
            kind = kind_named(name)
            rows = kind.model.objects.all() if within.hidden else kind.model.objects.active()
            found = (
                rows.filter(project_id=within.project_id, pk__in=keys).order_by().values_list("pk", flat=True)
            )
            shown.update(map(kind.node_id, found))
    return shown


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
        table = kind.model._meta.db_table if within.hidden else f"active_{kind.model._meta.db_table}"
        terms.append(
            f"WHEN %s THEN EXISTS (SELECT 1 FROM {table} AS record WHERE record.project_id = %s"
            f" AND record.id = {f'CAST({key} AS {number})' if kind.integer_key else key})"
        )
        parameters += [kind.prefix, within.project_id]
    if not terms:
        return Condition("0")
    prefix = f"SUBSTR({column}, 1, {_at('_', column)} - 1)"
    return Condition(f"CASE {prefix} {' '.join(terms)} ELSE 0 END", parameters)


def _at(sign: str, column: str) -> str:
    return f"INSTR({column}, '{sign}')"


def _own_edges(node_ids: Sequence[str], within: Within, per_node: int) -> list[tuple[str, Edge]]:
    """LEADS_TO, which is a foreign key of a kind's own table."""
    if Relation.LEADS_TO not in within.relations:
        return []
    asked, kinds = set(node_ids), {kind.prefix for kind in kinds_within(within)}
    found = []
    for kind in graph_kinds():
        if kind.edges_of is None:
            continue
        rows = kind.edges_of(node_ids, project_id=within.project_id, per_node=per_node, hidden=within.hidden)
        for source, relation, target in rows:
            edge = edge_between(source, target, relation)
            for node_id in {source, target} & asked:
                if edge.other(node_id).partition("_")[0] in kinds:
                    found.append((node_id, edge))
    return found


def _marks(values: Sequence[object]) -> str:
    return ", ".join(["%s"] * len(values))
