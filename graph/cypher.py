"""Every Cypher statement that reads records, and the names that all of them share. Values are parameters; names come from enumerations and the Kind registry only.

A record is (:Record:Decision {id, project_id, …}); one that is gone leaves (:Record {id, version, gone: true}), which
has no project and so is found by no read. Symmetrical relations are kept once, from the lesser id.
"""

from __future__ import annotations

import re
from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from typing import Any

from graph.connection import fetch
from graph.offers import Row
from graph.store import RANK, Relation, Within
from records.kinds import Kind, graph_kinds

NAME = re.compile(r"[A-Z][A-Za-z]*")
DIMENSION = 384
# The least comes first: asserted relations by their rank, below any likeness, which comes by its score.
KEYS = {relation.value: rank - 10.0 for relation, rank in RANK.items()} | {Relation.SIMILAR_TO.value: 0.0}
SHOWN = "m.project_id = $project AND ($hidden OR m.active) AND ($kinds IS NULL OR m.kind IN $kinds)"
CARD = "m.id, m.kind, m.title, m.status, m.review_state, m.active"
Card = tuple[Any, ...]
NEAR_ENOUGH = "(r.score IS NULL OR r.score >= $least)"


def label_of(kind: Kind) -> str:
    label = kind.graph_label or ""
    if not NAME.fullmatch(label):
        raise ValueError(f"{label!r} of the kind {kind.name} is no label")
    return label


def vector_index_of(kind: Kind) -> str:
    return f"{kind.name}_embedding"


def card_of(name: str) -> str:
    return CARD.replace("m.", f"{name}.")


def types_of(relations: Iterable[Relation]) -> str:
    return "|".join(sorted(Relation(relation).value for relation in relations))


def pattern_of(within: Within) -> str:
    """The types of a pattern, one or all; `counting` picks others. Few patterns: the server plans each text anew."""
    wanted = _types(within)
    return wanted[0] if len(wanted) == 1 else types_of(Relation)


def counting(within: Within) -> str:
    """Whether a relation of that pattern is one of those asked for."""
    return "true" if len(within.relations) in (1, len(Relation)) else "type(r) IN $types"


def _types(within: Within) -> list[str]:
    return sorted(Relation(relation).value for relation in within.relations)


def _within(within: Within) -> dict[str, Any]:
    return {
        "project": within.project_id,
        "hidden": within.hidden,
        "kinds": None if within.kinds is None else sorted(within.kinds),
        "least": within.min_score,
    }


def best_rows(node_ids: Sequence[str], within: Within, limit: int) -> list[Row]:
    """The best `limit` relations of each node to records that `within` shows."""
    if not node_ids or not within.relations:
        return []
    offer = "[m.id, CASE WHEN startNode(r) = n THEN 0 ELSE 1 END, type(r), r.score]"
    statement = f"""
        UNWIND $nodes AS near
        MATCH (n:Record {{id: near}})
        WITH n, {best(within, offer)} AS best
        UNWIND best AS one
        RETURN n.id, one[0], one[1], one[2], one[3]"""
    asked = {"nodes": list(node_ids), "limit": limit, **walking(within)}
    return [Row(*row) for row in fetch(statement, asked)]


def best(within: Within, offer: str) -> str:
    """The best `$limit` relations r of a node n to a record m that `within` shows: a list of `offer`, least key first."""
    return f"""COLLECT {{
            MATCH (n)-[r:{pattern_of(within)}]-(m:Record)
            WHERE {counting(within)} AND {SHOWN} AND {NEAR_ENOUGH}
            WITH n, r, m, coalesce(-r.score, $keys[type(r)]) AS key ORDER BY key, m.id LIMIT $limit
            RETURN {offer}
        }}"""


def walking(within: Within) -> dict[str, Any]:
    """The parameters that `best` takes, without its limit."""
    return {**_within(within), "keys": KEYS, "types": _types(within)}


def likest(node_id: str, project_id: int, least: float, limit: int) -> list[tuple[Any, ...]] | None:
    """(card, cosine) of the records most like this one, whatever their state; None where it is not in the project."""
    statement = f"""
        MATCH (n:Record {{id: $node}}) WHERE n.project_id = $project
        RETURN COLLECT {{
            MATCH (n)-[r:SIMILAR_TO]-(m:Record) WHERE m.project_id = $project AND r.score >= $least
            RETURN [{CARD}, r.score] ORDER BY r.score DESC, m.id LIMIT $limit
        }}"""
    asked = {"node": node_id, "project": project_id, "least": least, "limit": limit}
    found = fetch(statement, asked)
    return [tuple(one) for one in found[0][0]] if found else None


def outcomes_after(node_ids: Sequence[str], within: Within, limit: int) -> list[tuple[str, list[Card]]]:
    """What each of the nodes led to, in the order of ids."""
    if not node_ids:
        return []
    statement = f"""
        UNWIND $nodes AS near
        MATCH (n:Record {{id: near}})
        RETURN n.id, COLLECT {{
            MATCH (n)-[:LEADS_TO]->(m:Record) WHERE {SHOWN} RETURN [{CARD}] ORDER BY m.id LIMIT $limit
        }}"""
    found = fetch(statement, {**_within(within), "nodes": list(node_ids), "limit": limit})
    return [(near, [tuple(one) for one in cards]) for near, cards in found]


def led_to(status: str, kind: Kind, within: Within, limit: int) -> list[tuple[Card, Card]]:
    """(cause, outcome) of such outcomes of a kind, the newest outcome first. Walked along the index of its states."""
    newest = "m.at DESC, toInteger(split(m.id, '_')[1]) DESC"
    statement = f"""
        MATCH (m:{label_of(kind)})
        WHERE m.project_id = $project AND m.status = $status AND m.at IS NOT NULL AND ($hidden OR m.active)
        WITH m ORDER BY {newest} LIMIT $limit
        MATCH (n:Record)-[:LEADS_TO]->(m) WHERE n.project_id = $project AND ($hidden OR n.active)
        RETURN {card_of("n")}, {CARD} ORDER BY {newest}"""
    asked = {"project": within.project_id, "hidden": within.hidden, "status": status, "limit": limit}
    return [(row[:6], row[6:]) for row in fetch(statement, asked)]


def cards(node_ids: Iterable[str], within: Within) -> list[tuple[Any, ...]]:
    """(id, kind, title, status, review_state, active) of the records that `within` shows."""
    asked = list(node_ids)
    if not asked:
        return []
    statement = f"UNWIND $nodes AS id MATCH (m:Record {{id: id}}) WHERE {SHOWN} RETURN {CARD}"
    return fetch(statement, {**_within(within), "nodes": asked})


def project_label(project_id: int) -> str:
    """Every node of a project has it, so that a large project can have a vector index of its own."""
    return f"Project{int(project_id)}"


def project_index_of(project_id: int) -> str:
    return f"project_{int(project_id)}_embedding"


def project_indexes() -> list[int]:
    """The projects whose own vector index is there and online."""
    return _project_indexes("state = 'ONLINE'")


def all_project_indexes() -> list[int]:
    """Those whose index is being filled, too."""
    return _project_indexes("true")


def _project_indexes(condition: str) -> list[int]:
    statement = (
        f"SHOW VECTOR INDEXES YIELD name, state WHERE {condition} AND name STARTS WITH 'project_' RETURN name"
    )
    return [int(name.split("_")[1]) for (name,) in fetch(statement, {})]


def size_of(project_id: int) -> int:
    rows = fetch("MATCH (m:Record {project_id: $project}) RETURN count(m)", {"project": project_id})
    return int(rows[0][0])


def vector_of(node_id: str) -> list[float] | None:
    """The record's own vector; the one place where a vector travels with a node."""
    rows = fetch("MATCH (n:Record {id: $node}) RETURN n.embedding", {"node": node_id})
    return rows[0][0] if rows else None


def nearest_exactly(vector: Sequence[float], within: Within, k: int) -> list[tuple[Any, ...]]:
    """(card, cosine) of the k nearest, every record of the project compared."""
    statement = f"""
        MATCH (m:Record {{project_id: $project}})
        WHERE {SHOWN} AND m.embedding IS NOT NULL
        WITH m, round(2.0 * vector.similarity.cosine(m.embedding, $vector) - 1.0, 6) AS cosine
        WHERE cosine >= $least
        WITH m, cosine ORDER BY cosine DESC, m.id LIMIT $k
        RETURN {CARD}, cosine"""
    return fetch(statement, {**_within(within), "vector": vector, "k": k})


@dataclass(frozen=True)
class Nearest:
    """(card, cosine) of the k nearest that are shown, among the `seen` that an index found; the last had `worst`."""

    found: list[tuple[Any, ...]]
    seen: int
    worst: float


def nearest_by_index(
    vector: Sequence[float], within: Within, k: int, count: int, index: str | None = None
) -> Nearest:
    """Among the `count` that an index finds: the project's own, else that of each kind, of all projects."""
    kinds = [kind for kind in graph_kinds() if within.kinds is None or kind.name in within.kinds]
    statement = f"""
        UNWIND $indexes AS name
        CALL db.index.vector.queryNodes(name, $count, $vector) YIELD node, score
        WITH collect(node) AS nodes, collect(round(2.0 * score - 1.0, 6)) AS cosines, min(score) AS worst
        RETURN size(nodes), 2.0 * worst - 1.0, COLLECT {{
            UNWIND range(0, size(nodes) - 1) AS at
            WITH nodes[at] AS m, cosines[at] AS cosine
            WHERE cosine >= $least AND {SHOWN}
            RETURN [{CARD}, cosine] ORDER BY cosine DESC, m.id LIMIT $k
        }}"""
    indexes = [index] if index else [vector_index_of(kind) for kind in kinds]
    asked = {"vector": vector, "k": k, "count": count, "indexes": indexes}
    ((seen, worst, best),) = fetch(statement, {**_within(within), **asked})
    return Nearest([tuple(one) for one in best], seen, -1.0 if worst is None else worst)
