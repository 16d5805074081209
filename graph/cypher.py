"""Every Cypher statement of the desk. Values are parameters; names come from enumerations and the Kind registry only.

A record is (:Record:Decision {id, project_id, …}); one that is gone leaves (:Record {id, version, gone: true}), which
has no project and so is found by no read. Symmetrical relations are kept once, from the lesser id.
"""

from __future__ import annotations

import re
from collections.abc import Collection, Iterable, Mapping, Sequence
from typing import TYPE_CHECKING, Any

from graph.connection import WRITE_SECONDS, fetch
from graph.offers import Row
from graph.store import RANK, Relation, Within
from records.kinds import Kind, graph_kinds

if TYPE_CHECKING:
    from neo4j import Transaction

NAME = re.compile(r"[A-Z][A-Za-z]*")
DIMENSION = 384
RANKS = {relation.value: rank for relation, rank in RANK.items()}
SHOWN = "m.project_id = $project AND ($hidden OR m.active) AND ($kinds IS NULL OR m.kind IN $kinds)"
CARD = "m.id, m.kind, m.title, m.status, m.review_state, m.active"
NEAR_ENOUGH = "(r.score IS NULL OR r.score >= $least)"


def label_of(kind: Kind) -> str:
    label = kind.graph_label or ""
    if not NAME.fullmatch(label):
        raise ValueError(f"{label!r} of the kind {kind.name} is no label")
    return label


def vector_index_of(kind: Kind) -> str:
    return f"{kind.name}_embedding"


def _types(relations: Iterable[Relation]) -> str:
    return "|".join(sorted(Relation(relation).value for relation in relations))


def _walked(relations: Iterable[Relation]) -> tuple[str, list[str]]:
    """The types of a pattern, and those that count. Few patterns: the server plans each text anew, in 0.1 s."""
    wanted = sorted(Relation(relation).value for relation in relations)
    return (wanted[0] if len(wanted) == 1 else _types(Relation)), wanted


def _within(within: Within) -> dict[str, Any]:
    return {
        "project": within.project_id,
        "hidden": within.hidden,
        "kinds": None if within.kinds is None else sorted(within.kinds),
        "least": within.min_score,
    }


# --- Reads -------------------------------------------------------------------------------------------------------
def best_rows(node_ids: Sequence[str], within: Within, limit: int) -> list[Row]:
    """The best `limit` relations of each node to records that `within` shows."""
    if not node_ids or not within.relations:
        return []
    pattern, types = _walked(within.relations)
    statement = f"""
        UNWIND $nodes AS near
        MATCH (n:Record {{id: near}})
        WITH n, COLLECT {{
            MATCH (n)-[r:{pattern}]-(m:Record)
            WHERE type(r) IN $types AND {SHOWN} AND {NEAR_ENOUGH}
            RETURN [m.id, CASE WHEN startNode(r) = n THEN 0 ELSE 1 END, type(r), r.score]
            ORDER BY $ranks[type(r)], coalesce(r.score, 0.0) DESC, m.id LIMIT $limit
        }} AS best
        UNWIND best AS one
        RETURN n.id, one[0], one[1], one[2], one[3]"""
    asked = {"nodes": list(node_ids), "limit": limit, "ranks": RANKS, "types": types}
    return [Row(*row) for row in fetch(statement, {**_within(within), **asked})]


def rows_among(some: Sequence[str], others: Sequence[str], within: Within) -> list[Row]:
    """Every relation between one of `some` and one of `others` or `some`, whatever the state of either."""
    if not some or not within.relations:
        return []
    pattern, types = _walked(within.relations)
    statement = f"""
        UNWIND $some AS near
        MATCH (n:Record {{id: near}})-[r:{pattern}]-(m:Record)
        WHERE m.id IN $there AND type(r) IN $types AND {NEAR_ENOUGH}
        RETURN n.id, m.id, CASE WHEN startNode(r) = n THEN 0 ELSE 1 END, type(r), r.score"""
    asked = {"some": list(some), "there": [*some, *others], "types": types, "least": within.min_score}
    return [Row(*row) for row in fetch(statement, asked)]


def cards(node_ids: Iterable[str], within: Within) -> list[tuple[Any, ...]]:
    """(id, kind, title, status, review_state, active) of the records that `within` shows."""
    asked = list(node_ids)
    if not asked:
        return []
    statement = f"UNWIND $nodes AS id MATCH (m:Record {{id: id}}) WHERE {SHOWN} RETURN {CARD}"
    return fetch(statement, {**_within(within), "nodes": asked})


def outcomes_of_type(status: str, kinds: Collection[str], within: Within, limit: int) -> list[str]:
    """Node ids of such outcomes, the newest first."""
    statement = f"""
        MATCH (m:Record {{project_id: $project}})
        WHERE {SHOWN} AND m.status = $status
        RETURN m.id ORDER BY m.at DESC, toInteger(split(m.id, '_')[1]) DESC LIMIT $limit"""
    asked = {"status": status, "kinds": sorted(kinds), "limit": limit}
    return [node_id for (node_id,) in fetch(statement, {**_within(within), **asked})]


def sizes(project_id: int) -> tuple[int, int]:
    """How many records the project has, and how many all have together."""
    statement = (
        "CALL () { MATCH (m:Record {project_id: $project}) RETURN count(m) AS here }"
        " CALL () { MATCH (m:Record) RETURN count(m) AS everywhere } RETURN here, everywhere"
    )
    ((here, everywhere),) = fetch(statement, {"project": project_id})
    return here, everywhere


def vector_of(node_id: str) -> list[float] | None:
    """The record's own vector; the one place where a vector travels with a node."""
    rows = fetch("MATCH (n:Record {id: $node}) RETURN n.embedding", {"node": node_id})
    return rows[0][0] if rows else None


_NEAREST = f"""
    WITH m, round(2.0 * likeness - 1.0, 6) AS cosine
    WHERE cosine >= $least
    RETURN {CARD}, cosine ORDER BY cosine DESC, m.id LIMIT $k"""


def nearest_exactly(vector: Sequence[float], within: Within, k: int) -> list[tuple[Any, ...]]:
    """(card, cosine) of the k nearest, every record of the project compared."""
    statement = f"""
        MATCH (m:Record {{project_id: $project}})
        WHERE {SHOWN} AND m.embedding IS NOT NULL
        WITH m, vector.similarity.cosine(m.embedding, $vector) AS likeness{_NEAREST}"""
    return fetch(statement, {**_within(within), "vector": vector, "k": k})


def nearest_by_index(vector: Sequence[float], within: Within, k: int, count: int) -> list[tuple[Any, ...]]:
    """(card, cosine) of the k nearest among the `count` that the index of each kind finds in all projects."""
    indexes = [
        vector_index_of(kind) for kind in graph_kinds() if within.kinds is None or kind.name in within.kinds
    ]
    statement = f"""
        UNWIND $indexes AS name
        CALL db.index.vector.queryNodes(name, $count, $vector) YIELD node AS m, score AS likeness
        WHERE {SHOWN}{_NEAREST}"""
    asked = {"vector": vector, "k": k, "count": count, "indexes": indexes}
    return fetch(statement, {**_within(within), **asked})


# --- Writes ------------------------------------------------------------------------------------------------------
# The write lock comes first (SET lock), then the version is read: of two workers the one with the older record sees
# what the other wrote, and keeps its hands off.
_LOCKED = """
    UNWIND $rows AS row
    MERGE (n:Record {id: row.id})
    SET n.lock = true"""


def put_nodes(tx: Transaction, kind: Kind, rows: Sequence[Mapping[str, Any]]) -> dict[str, str | None]:
    """Write {id, version, properties} rows; node id -> `embedding_of`, for those that no newer version holds."""
    statement = f"""{_LOCKED}
    WITH n, row, coalesce(n.version, -1) < row.version OR (n.version = row.version AND n.gone IS NULL) AS wanted
    REMOVE n.lock
    WITH n, row WHERE wanted
    SET n:{label_of(kind)}, n += row.properties, n.version = row.version
    REMOVE n.gone
    RETURN n.id, n.embedding_of"""
    return dict(tx.run(statement, rows=_sorted(rows)).values())


def put_vectors(tx: Transaction, rows: Sequence[Mapping[str, Any]]) -> None:
    """Write {id, vector, embedding_of} rows of nodes that this transaction has locked."""
    if rows:
        tx.run(
            """
            UNWIND $rows AS row
            MATCH (n:Record {id: row.id})
            CALL db.create.setNodeVectorProperty(n, 'embedding', row.vector)
            SET n.embedding_of = row.embedding_of""",
            rows=_sorted(rows),
        ).consume()


def drop_vectors(tx: Transaction, node_ids: Sequence[str]) -> None:
    if node_ids:
        statement = "UNWIND $nodes AS id MATCH (n:Record {id: id}) REMOVE n.embedding, n.embedding_of"
        tx.run(statement, nodes=sorted(node_ids)).consume()


def entomb(tx: Transaction, rows: Sequence[Mapping[str, Any]]) -> None:
    """Leave a tombstone of {id, version} rows, unless a newer version is there."""
    labels = "".join(f":{label_of(kind)}" for kind in graph_kinds())
    statement = f"""{_LOCKED}
    WITH n, row, coalesce(n.version, -1) <= row.version AS wanted
    REMOVE n.lock
    WITH n, row WHERE wanted
    SET n = {{id: row.id, version: row.version, gone: true}}
    REMOVE n{labels}
    WITH n MATCH (n)-[r]-() DELETE r"""
    tx.run(statement, rows=_sorted(rows)).consume()


def relations_of(tx: Transaction, node_ids: Sequence[str]) -> dict[tuple[str, str, str], float | None]:
    """(source, relation, target) -> score, of every relation that touches one of the nodes."""
    statement = f"""
        UNWIND $nodes AS id
        MATCH (n:Record {{id: id}})-[r:{_types(Relation)}]-(:Record)
        RETURN DISTINCT startNode(r).id, type(r), endNode(r).id, r.score"""
    found = tx.run(statement, nodes=sorted(node_ids)).values()
    return {(source, relation, target): score for source, relation, target, score in found}


def put_relations(tx: Transaction, relation: Relation, rows: Sequence[Mapping[str, Any]]) -> None:
    """Write {source, target, score} rows, where both ends are there."""
    statement = f"""
        UNWIND $rows AS row
        MATCH (a:Record {{id: row.source}}) WHERE a.gone IS NULL
        MATCH (b:Record {{id: row.target}}) WHERE b.gone IS NULL
        MERGE (a)-[r:{_types([relation])}]->(b)
        SET r.score = row.score"""
    tx.run(statement, rows=sorted(rows, key=lambda row: (row["source"], row["target"]))).consume()


def drop_relations(tx: Transaction, relation: Relation, rows: Sequence[Mapping[str, Any]]) -> None:
    statement = f"""
        UNWIND $rows AS row
        MATCH (:Record {{id: row.source}})-[r:{_types([relation])}]->(:Record {{id: row.target}})
        DELETE r"""
    tx.run(statement, rows=sorted(rows, key=lambda row: (row["source"], row["target"]))).consume()


def delete_some(tx: Transaction, limit: int, project_id: int | None = None) -> int:
    """Delete up to `limit` nodes of the desk, tombstones too, of one project or all; how many it deleted."""
    where = "" if project_id is None else " {project_id: $project}"
    statement = f"MATCH (n:Record{where}) WITH n LIMIT $limit DETACH DELETE n RETURN count(*)"
    ((count,),) = tx.run(statement, limit=limit, project=project_id).values()
    return int(count)


def delete_nodes(tx: Transaction, node_ids: Sequence[str]) -> None:
    tx.run("UNWIND $nodes AS id MATCH (n:Record {id: id}) DETACH DELETE n", nodes=list(node_ids)).consume()


def _sorted(rows: Iterable[Mapping[str, Any]]) -> list[dict[str, Any]]:
    """In one order for all workers, so that they wait for each other instead of locking each other out."""
    return sorted((dict(row) for row in rows), key=lambda row: str(row["id"]))


# --- Measures ----------------------------------------------------------------------------------------------------
def _measure(statement: str, **parameters: Any) -> list[tuple[Any, ...]]:
    """No page waits for it: of a large graph, or a server that has just started, it may take longer than theirs."""
    return fetch(statement, parameters, seconds=WRITE_SECONDS)


def counts_by_kind() -> dict[str, int]:
    statement = "MATCH (n:Record) WHERE n.gone IS NULL RETURN n.kind, count(*)"
    rows = _measure(statement)
    return {str(kind): count for kind, count in rows}


def counts_by_relation() -> dict[str, int]:
    statement = f"MATCH (:Record)-[r:{_types(Relation)}]->(:Record) RETURN type(r), count(*)"
    return {str(relation): count for relation, count in _measure(statement)}


def versions_after(node_id: str, limit: int) -> list[tuple[str, int, bool, bool]]:
    """(id, version, gone, has an embedding) in the order of ids, for a comparison page by page."""
    statement = """
        MATCH (n:Record) WHERE n.id > $after
        RETURN n.id, n.version, n.gone IS NOT NULL, n.embedding_of IS NOT NULL ORDER BY n.id LIMIT $limit"""
    return [(row[0], row[1], row[2], row[3]) for row in _measure(statement, after=node_id, limit=limit)]


# --- The server and its schema -----------------------------------------------------------------------------------
def server() -> tuple[str, str]:
    """(version, edition)."""
    rows = _measure("CALL dbms.components() YIELD name, versions, edition RETURN versions[0], edition")
    return str(rows[0][0]), str(rows[0][1])


def create_vector_index(kind: Kind) -> str:
    return (
        f"CREATE VECTOR INDEX {vector_index_of(kind)} IF NOT EXISTS FOR (n:{label_of(kind)}) ON (n.embedding)"
        f" OPTIONS {{indexConfig: {{`vector.dimensions`: {DIMENSION}, `vector.similarity_function`: 'cosine',"
        " `vector.quantization.enabled`: false}}"
    )


AWAIT_INDEXES = "CALL db.awaitIndexes($seconds)"
INDEXES = """
    SHOW INDEXES YIELD name, state, type, labelsOrTypes, properties, options
    WHERE type <> 'LOOKUP' RETURN name, state, type, labelsOrTypes, properties, options.indexConfig"""
