"""Cypher about the graph as a whole: counts of it, the server, and the schema that the desk needs."""

from __future__ import annotations

from collections.abc import Iterable
from typing import TYPE_CHECKING, Any

from graph.connection import WRITE_SECONDS, fetch
from graph.cypher import DIMENSION, label_of, project_index_of, project_label, types_of, vector_index_of
from graph.store import Relation
from records.kinds import Kind

if TYPE_CHECKING:
    from neo4j import Transaction


def _measure(statement: str, **parameters: Any) -> list[tuple[Any, ...]]:
    """No page waits for it: of a large graph, or a server that has just started, it may take longer than theirs."""
    return fetch(statement, parameters, seconds=WRITE_SECONDS)


def counts_by_kind() -> dict[str, int]:
    statement = "MATCH (n:Record) WHERE n.gone IS NULL RETURN n.kind, count(*)"
    rows = _measure(statement)
    return {str(kind): count for kind, count in rows}


def counts_by_relation() -> dict[str, int]:
    statement = f"MATCH (:Record)-[r:{types_of(Relation)}]->(:Record) RETURN type(r), count(*)"
    return {str(relation): count for relation, count in _measure(statement)}


def versions_after(node_id: str, limit: int) -> list[tuple[str, int, bool, bool]]:
    """(id, version, gone, has an embedding) in the order of ids, for a comparison page by page."""
    statement = """
        MATCH (n:Record) WHERE n.id > $after
        RETURN n.id, n.version, n.gone IS NOT NULL, n.embedding_of IS NOT NULL ORDER BY n.id LIMIT $limit"""
    return [(row[0], row[1], row[2], row[3]) for row in _measure(statement, after=node_id, limit=limit)]


def nodes_holding(texts: list[str]) -> list[str]:
    """Ids of the nodes of which a property holds one of the texts. Reads every node."""
    statement = """
        MATCH (n)
        WHERE any(name IN keys(n) WHERE any(text IN $texts WHERE toStringOrNull(n[name]) CONTAINS text))
        RETURN coalesce(n.id, elementId(n)) ORDER BY 1"""
    return [str(row[0]) for row in _measure(statement, texts=texts)]


def is_shown(node_id: str) -> bool:
    """Whether the graph has more of a record than its tombstone."""
    return bool(_measure("MATCH (n:Record {id: $id}) WHERE n.gone IS NULL RETURN 1", id=node_id))


def server() -> tuple[str, str]:
    """(version, edition)."""
    rows = _measure("CALL dbms.components() YIELD name, versions, edition RETURN versions[0], edition")
    return str(rows[0][0]), str(rows[0][1])


VECTOR_CONFIG = (
    f"{{`vector.dimensions`: {DIMENSION}, `vector.similarity_function`: 'cosine',"
    " `vector.quantization.enabled`: false}"
)


def create_vector_index(kind: Kind) -> str:
    return (
        f"CREATE VECTOR INDEX {vector_index_of(kind)} IF NOT EXISTS FOR (n:{label_of(kind)}) ON (n.embedding)"
        f" OPTIONS {{indexConfig: {VECTOR_CONFIG}}}"
    )


def create_project_index(project_id: int) -> str:
    return (
        f"CREATE VECTOR INDEX {project_index_of(project_id)} IF NOT EXISTS FOR (n:{project_label(project_id)})"
        f" ON (n.embedding) OPTIONS {{indexConfig: {VECTOR_CONFIG}}}"
    )


def drop_project_index(project_id: int) -> str:
    return f"DROP INDEX {project_index_of(project_id)} IF EXISTS"


def create_state_index(kind: Kind) -> str:
    """Of the records of a project in one state, the newest first, without their rows."""
    return (
        f"CREATE RANGE INDEX {kind.name}_state IF NOT EXISTS FOR (n:{label_of(kind)})"
        " ON (n.project_id, n.status, n.at)"
    )


def drop_vector_indexes(tx: Transaction, names: Iterable[str]) -> None:
    for name in names:
        tx.run(f"DROP INDEX {name} IF EXISTS").consume()


def indexes_being_filled() -> int:
    return int(_measure("SHOW INDEXES YIELD state WHERE state = 'POPULATING' RETURN count(*)")[0][0])


AWAIT_INDEXES = "CALL db.awaitIndexes($seconds)"
INDEXES = """
    SHOW INDEXES YIELD name, state, type, labelsOrTypes, properties, options
    WHERE type <> 'LOOKUP' RETURN name, state, type, labelsOrTypes, properties, options.indexConfig"""
