"""Shows records in Neo4j as the database has them, safely against other workers and against itself an hour ago.

Nodes come first, in a transaction of their own, guarded by the mark's version. Then the relations that touch them are
brought to what the database says; as two workers may write the two ends of one relation, what the database says is
read again after the write, until it is what was written.
"""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Collection, Iterable, Mapping, Sequence
from typing import TYPE_CHECKING, Any

import numpy as np

from graph import connection, cypher, cypher_writes, failpoints
from graph.offers import Row
from graph.store import Relation
from recall.models import Embedding, Similarity
from recall.passages import RECORD_PART
from recall.vectors import configured_encoder
from records.kinds import graph_kinds, kind_of, parse_node_id
from records.models import Link, Record

if TYPE_CHECKING:
    from neo4j import Transaction

ROWS_A_STATEMENT = 500
ROUNDS = 5
# Scores are kept to six places; what differs less was not changed.
SAME = 1e-9
EVERY_OUTCOME = 10**9

Key = tuple[str, str, str]
Relations = dict[Key, float | None]


class NotSettled(RuntimeError):
    """Relations changed in the database as fast as they were written; the next try finds them calmer."""


class Neo4jProjector:
    """Each call is safe to repeat. Raises GraphAway where Neo4j does not answer."""

    @property
    def is_away(self) -> bool:
        """Neo4j did not answer just now, and is not asked again yet."""
        return connection.breaker.is_open

    @property
    def away_since(self) -> Any:
        return connection.away_since()

    def project(self, records: Sequence[Record], gone: Collection[str], versions: Mapping[str, int]) -> None:
        """Show these records, and of those `gone` only a tombstone; `versions` are what their marks want."""
        connection.breaker.check()
        shown = [record for record in records if kind_of(record).graph_label]
        gone = [node_id for node_id in gone if _is_of_the_graph(node_id)]
        if shown or gone:
            self._put_nodes(shown, gone, versions)
        failpoints.reach(failpoints.GRAPH_HALF_WRITTEN)
        if shown:
            self._put_relations({record.node_id: record.project_id for record in shown})

    def _put_nodes(
        self, records: Sequence[Record], gone: Collection[str], versions: Mapping[str, int]
    ) -> None:
        by_kind: dict[str, list[Record]] = defaultdict(list)
        for record in records:
            by_kind[kind_of(record).name].append(record)
        made_of = _made_of(record.node_id for record in records)
        tombs = [{"id": node_id, "version": versions[node_id]} for node_id in gone]
        rows = {
            kind: [_node_row(record, versions) for record in by_kind[kind.name]]
            for kind in graph_kinds()
            if by_kind[kind.name]
        }
        vectors: dict[str, dict[str, Any]] = {}

        # In the graph's own thread: nothing here may ask the database.
        def work(tx: Transaction) -> list[str]:
            if tombs:
                cypher_writes.entomb(tx, tombs)
            kept: dict[str, str | None] = {}
            for kind, some in rows.items():
                kept |= cypher_writes.put_nodes(tx, kind, some)
            changed = [node_id for node_id, made in kept.items() if made != made_of.get(node_id)]
            cypher_writes.drop_vectors(tx, [node_id for node_id in changed if node_id not in made_of])
            cypher_writes.put_vectors(tx, [vectors[node_id] for node_id in changed if node_id in vectors])
            return [node_id for node_id in changed if node_id in made_of and node_id not in vectors]

        # A vector travels only where the node has another: what changed is known after the first write.
        for _ in range(ROUNDS):
            missing = connection.write(work)
            if not missing:
                return
            vectors |= _vector_rows(missing, made_of)
            if not vectors.keys() >= set(missing):
                raise NotSettled(f"The vectors of {', '.join(sorted(missing))} are not what they were.")

    def _put_relations(self, placed: Mapping[str, int | None]) -> None:
        wanted = wanted_relations(placed)
        for _ in range(ROUNDS):
            connection.write(lambda tx, wanted=wanted: _bring_to(tx, list(placed), wanted))  # type: ignore[misc]
            again = wanted_relations(placed)
            if again == wanted:
                return
            wanted = again
        raise NotSettled(f"The relations of {', '.join(sorted(placed))} keep changing.")


def wanted_relations(placed: Mapping[str, int | None]) -> Relations:
    """What the database says: every relation that touches one of the nodes, symmetrical ones from the lesser id."""
    nodes = sorted(placed)
    found: Relations = {}

    def keep(source: str, target: str, relation: str, score: float | None = None) -> None:
        key = Row(source, target, 0, relation, score).key
        if not (_is_of_the_graph(source) and _is_of_the_graph(target)):
            return
        known = found.get((key[0], key[2], key[1]))
        found[key[0], key[2], key[1]] = score if known is None else max(known, score or 0.0)

    for start in range(0, len(nodes), ROWS_A_STATEMENT):
        some = nodes[start : start + ROWS_A_STATEMENT]
        for end in ("source__in", "target__in"):
            links = Link.objects.order_by().filter(**{end: some})
            for source, target, relation in links.values_list("source", "target", "relation"):
                keep(source, target, relation)
            alike = Similarity.objects.order_by().filter(**{end: some})
            for source, target, score in alike.values_list("source", "target", "score"):
                if source != target:
                    keep(source, target, Relation.SIMILAR_TO.value, score)
    by_project: dict[int, list[str]] = defaultdict(list)
    for node_id, project_id in placed.items():
        if project_id is not None:
            by_project[project_id].append(node_id)
    for kind in graph_kinds():
        if kind.edges_of is not None:
            for project_id, here in by_project.items():
                for start in range(0, len(here), ROWS_A_STATEMENT):
                    some = here[start : start + ROWS_A_STATEMENT]
                    rows = kind.edges_of(some, project_id=project_id, per_node=EVERY_OUTCOME, hidden=True)
                    for source, relation, target in rows:
                        keep(source, target, relation)
    return found


def _bring_to(tx: Transaction, nodes: Sequence[str], wanted: Relations) -> None:
    present = cypher_writes.relations_of(tx, nodes)
    for relation in Relation:
        gone = [
            {"source": source, "target": target}
            for source, kind, target in present.keys() - wanted.keys()
            if kind == relation.value
        ]
        new = [
            {"source": source, "target": target, "score": score}
            for (source, kind, target), score in wanted.items()
            if kind == relation.value and not _is_there(present, (source, kind, target), score)
        ]
        if gone:
            cypher_writes.drop_relations(tx, relation, gone)
        if new:
            cypher_writes.put_relations(tx, relation, new)


def _is_there(present: Relations, key: Key, score: float | None) -> bool:
    return key in present and abs((present[key] or 0.0) - (score or 0.0)) <= SAME


def _node_row(record: Record, versions: Mapping[str, int]) -> dict[str, Any]:
    kind = kind_of(record)
    properties = {
        **kind.graph_properties(record),
        "kind": kind.name,
        "project_id": record.project_id,
        "title": record.heading,
        "status": kind.status_of(record),
        "review_state": str(record.review_state),
        "active": record.is_active,
        "at": getattr(record, kind.when),
    }
    return {"id": record.node_id, "version": versions[record.node_id], "properties": properties}


def _embeddings(node_ids: Iterable[str]) -> Any:
    return Embedding.objects.order_by().filter(
        node_id__in=list(node_ids), model=configured_encoder().name, part=RECORD_PART
    )


def _made_of(node_ids: Iterable[str]) -> dict[str, str]:
    """What each record's vector was made of: the model and a digest of its text. A node says the same of its own."""
    rows = _embeddings(node_ids).values_list("node_id", "model", "content_hash")
    return {node_id: f"{model}:{content_hash}" for node_id, model, content_hash in rows}


def _vector_rows(node_ids: Iterable[str], made_of: Mapping[str, str]) -> dict[str, dict[str, Any]]:
    rows = {}
    for node_id, vector in _embeddings(node_ids).values_list("node_id", "vector"):
        numbers = np.frombuffer(bytes(vector), dtype="<f4")
        # A vector of another length would be kept in silence and never found.
        if len(numbers) != cypher.DIMENSION:
            raise ValueError(f"{node_id} has a vector of {len(numbers)} numbers, not {cypher.DIMENSION}")
        rows[node_id] = {"id": node_id, "vector": numbers.tolist(), "embedding_of": made_of[node_id]}
    return rows


def _is_of_the_graph(node_id: str) -> bool:
    parsed = parse_node_id(node_id)
    return parsed is not None and parsed[0].graph_label is not None
