"""Every Cypher statement that writes; each is safe to repeat, and guarded by the version of the mark."""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from typing import TYPE_CHECKING, Any

from graph.cypher import label_of, project_label, types_of
from graph.store import Relation
from records.kinds import Kind, graph_kinds

if TYPE_CHECKING:
    from neo4j import Transaction

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
    FOREACH (old IN CASE WHEN n.project_id <> coalesce(row.properties.project_id, -1)
                         THEN ['Project' + n.project_id] ELSE [] END | REMOVE n:$(old))
    SET n:{label_of(kind)}, n += row.properties, n.version = row.version
    REMOVE n.gone
    FOREACH (new IN CASE WHEN n.project_id IS NULL THEN [] ELSE ['Project' + n.project_id] END | SET n:$(new))
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
    FOREACH (old IN CASE WHEN n.project_id IS NULL THEN [] ELSE ['Project' + n.project_id] END | REMOVE n:$(old))
    SET n = {{id: row.id, version: row.version, gone: true}}
    REMOVE n{labels}
    WITH n MATCH (n)-[r]-() DELETE r"""
    tx.run(statement, rows=_sorted(rows)).consume()


def relations_of(tx: Transaction, node_ids: Sequence[str]) -> dict[tuple[str, str, str], float | None]:
    """(source, relation, target) -> score, of every relation that touches one of the nodes."""
    statement = f"""
        UNWIND $nodes AS id
        MATCH (n:Record {{id: id}})-[r:{types_of(Relation)}]-(:Record)
        RETURN DISTINCT startNode(r).id, type(r), endNode(r).id, r.score"""
    found = tx.run(statement, nodes=sorted(node_ids)).values()
    return {(source, relation, target): score for source, relation, target, score in found}


def put_relations(tx: Transaction, relation: Relation, rows: Sequence[Mapping[str, Any]]) -> None:
    """Write {source, target, score} rows, where both ends are there."""
    statement = f"""
        UNWIND $rows AS row
        MATCH (a:Record {{id: row.source}}) WHERE a.gone IS NULL
        MATCH (b:Record {{id: row.target}}) WHERE b.gone IS NULL
        MERGE (a)-[r:{types_of([relation])}]->(b)
        SET r.score = row.score"""
    tx.run(statement, rows=sorted(rows, key=lambda row: (row["source"], row["target"]))).consume()


def drop_relations(tx: Transaction, relation: Relation, rows: Sequence[Mapping[str, Any]]) -> None:
    statement = f"""
        UNWIND $rows AS row
        MATCH (:Record {{id: row.source}})-[r:{types_of([relation])}]->(:Record {{id: row.target}})
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


def label_project(tx: Transaction, project_id: int, limit: int) -> int:
    """Label nodes that were written before their project had a label; how many there were."""
    label = project_label(project_id)
    statement = f"""
        MATCH (n:Record {{project_id: $project}}) WHERE NOT n:{label}
        WITH n LIMIT $limit SET n:{label} RETURN count(*)"""
    ((count,),) = tx.run(statement, project=project_id, limit=limit).values()
    return int(count)
