"""The graph's reads at size: through the store that pages ask, beside plain Cypher; and how exact likeness is."""

from __future__ import annotations

import random
from collections.abc import Callable
from dataclasses import dataclass
from typing import Any

import numpy as np
from django.db.models import Count
from neo4j import Driver

from benchmarks.side_by_side import Pair, side_by_side
from decisions.models import Decision, Outcome
from graph import connection as graph_connection
from graph import cypher
from graph.queries import graph_store
from graph.relational import RelationalGraph
from graph.store import LOOK, GraphStore, Neighbourhood, Similar, Within
from recall.topk import Matrix
from recall.vectors import record_vectors
from records.kinds import graph_kinds
from records.models import Link, ProjectionMark

SHOWN = "{0}.project_id = $project AND {0}.active"
SIMILAR = f"""
    MATCH (n:Record {{id: $node}})-[r:SIMILAR_TO]-(m:Record) WHERE {SHOWN.format("m")} AND r.score >= 0.5
    RETURN m.id, m.kind, m.title, m.status, r.score ORDER BY r.score DESC LIMIT 10"""
# What a page shows of a neighbourhood: the nodes in the order of the walk, the neighbours that each has, and the relations
# among them. Unlike the product's own it looks at all relations of a node, and does not say what it left out.
KEY = "coalesce(-{0}.score, $keys[type({0})])"
ANSWER = f"""
    UNWIND nodes AS a
    RETURN a.id, a.kind, a.title, a.status, a.review_state,
           COUNT {{ MATCH (a)-[]-(x:Record) WHERE {SHOWN.format("x")} RETURN DISTINCT x }},
           COLLECT {{ MATCH (a)-[e]->(b:Record) WHERE b IN nodes RETURN [type(e), e.score, b.id] }}"""
NEAR = f"""
    MATCH (n:Record {{id: $node}})
    OPTIONAL MATCH (n)-[r]-(m:Record) WHERE {SHOWN.format("m")}
    WITH n, m, min({KEY.format("r")}) AS key ORDER BY key, m.id LIMIT $cap - 1
    WITH n, collect(m) AS near"""
ONE_HOP = f"""{NEAR}
    WITH [n] + near AS nodes {ANSWER}"""
TWO_HOPS = f"""{NEAR}
    CALL (n, near) {{
        UNWIND CASE WHEN size(near) < $cap - 1 THEN near ELSE [] END AS m
        MATCH (m)-[s]-(o:Record) WHERE {SHOWN.format("o")} AND o <> n AND NOT o IN near
        WITH o, min({KEY.format("s")}) AS key ORDER BY key, o.id LIMIT $cap
        RETURN collect(o) AS far
    }}
    WITH ([n] + near + far)[..$cap] AS nodes {ANSWER}"""
OUTCOMES = f"""
    MATCH (d:Record)-[:LEADS_TO]->(o:Outcome) WHERE d.id IN $nodes AND {SHOWN.format("o")}
    RETURN d.id, o.id, o.title, o.type, o.success_rate ORDER BY d.id, o.id"""
LED_TO = f"""
    MATCH (o:Outcome {{project_id: $project}})<-[:LEADS_TO]-(d:Decision)
    WHERE o.type = $type AND {SHOWN.format("o")} AND {SHOWN.format("d")}
    RETURN d.id, d.title, o.id, o.title ORDER BY o.at DESC LIMIT 100"""
BY_VECTOR = f"""
    MATCH (m:Record {{project_id: $project}}) WHERE {SHOWN.format("m")} AND m.embedding IS NOT NULL
    WITH m, vector.similarity.cosine(m.embedding, $vector) AS likeness ORDER BY likeness DESC LIMIT 10
    RETURN m.id, m.kind, m.title, m.status, likeness"""
BY_INDEX = f"""
    CALL db.index.vector.queryNodes($index, 100, $vector) YIELD node AS m, score AS likeness
    WHERE {SHOWN.format("m")}
    RETURN m.id, m.kind, m.title, m.status, likeness ORDER BY likeness DESC LIMIT 10"""
AGREEING = 50
# Projects by their place in the order of size: the largest, and some of each magnitude.
PLACES = (0, 1, 3, 7, 15, 40)


@dataclass(frozen=True)
class Size:
    project: int
    records: int


def project_sizes() -> list[Size]:
    """The largest first; records of the graph."""
    kinds = [kind.name for kind in graph_kinds()]
    marks = ProjectionMark.objects.filter(gone=False, kind__in=kinds, project_id__isnull=False)
    rows = marks.values_list("project_id").annotate(count=Count("id")).order_by("-count")
    return [Size(project, count) for project, count in rows if project is not None]


class GraphReads:
    """Questions at random records, larger projects more often, as people ask."""

    def __init__(self, driver: Driver, times: int, rng: random.Random) -> None:
        self.driver, self.times, self.rng = driver, times, rng
        self.sizes = project_sizes()
        self.store = graph_store()

    def raw(self, statement: str, **parameters: Any) -> Any:
        with self.driver.session() as session:
            return [record.values() for record in session.run(statement, parameters)]  # type: ignore[arg-type]

    def asked(self, question: Callable[[GraphStore], Any]) -> Any:
        answer = question(self.store)
        assert self.store.name == "neo4j", "Neo4j did not answer"
        return answer

    def _decisions(self, count: int) -> list[tuple[str, int]]:
        last = Decision.objects.order_by("-pk").values_list("pk", flat=True)[0]
        keys = {self.rng.randint(1, last) for _ in range(2 * count)}
        rows = Decision.objects.active().filter(pk__in=keys).values_list("pk", "project_id")
        found = [(f"dec_{key}", int(project)) for key, project in rows]
        self.rng.shuffle(found)
        return found[:count]

    def hub(self) -> tuple[str, int]:
        """The record that most links lead to."""
        top = Link.objects.values("target", "project_id").annotate(count=Count("id")).order_by("-count")[0]
        return top["target"], top["project_id"]

    def pairs(self) -> list[Pair]:
        nodes, hub = self._decisions(self.times), self.hub()
        sets = [([node for node, _ in self._decisions(10)], project) for _, project in nodes[::2]]
        types = list(Outcome.objects.order_by().values_list("type", flat=True).distinct())
        led = [(self.rng.choice(types), project) for _, project in nodes]
        hops = [
            self._hood("neighbourhood, 1 hop, 30", nodes, 1, 30, ONE_HOP),
            self._hood("neighbourhood, 2 hops, 30", nodes, 2, 30, TWO_HOPS),
            self._hood("neighbourhood, 2 hops, 100", nodes, 2, 100, TWO_HOPS),
            self._hood("neighbourhood, 2 hops, 30, the hub", [hub] * (self.times // 4), 2, 30, TWO_HOPS),
        ]
        return [
            side_by_side(
                "similar to a record, 10",
                nodes,
                lambda one: self.asked(lambda store: store.similar(one[0], Within(project_id=one[1], min_score=0.5), k=10)),
                lambda one: self.raw(SIMILAR, node=one[0], project=one[1]),
            ),
            *hops,
            side_by_side(
                "outcomes that followed 10 decisions",
                sets,
                lambda one: self.asked(lambda store: store.outcomes_after(one[0], Within(project_id=one[1]))),
                lambda one: self.raw(OUTCOMES, nodes=one[0], project=one[1]),
            ),
            side_by_side(
                "decisions that led to an outcome, 100",
                led,
                lambda one: self.asked(lambda store: store.led_to(one[0], Within(project_id=one[1]), limit=100)),
                lambda one: self.raw(LED_TO, type=one[0], project=one[1]),
            ),
        ]  # fmt: skip

    def _hood(self, what: str, nodes: list[tuple[str, int]], depth: int, cap: int, statement: str) -> Pair:
        def ours(one: tuple[str, int]) -> Neighbourhood:
            within = Within(project_id=one[1])
            hood: Neighbourhood = self.asked(
                lambda store: store.neighbourhood(one[0], within, depth=depth, cap=cap)
            )
            return hood

        def plain(one: tuple[str, int]) -> Any:
            return self.raw(statement, node=one[0], project=one[1], cap=cap, keys=cypher.KEYS)

        for one in nodes[:AGREEING]:
            _agree(ours(one), plain(one))
        return side_by_side(what, nodes, ours, plain)

    def vector_pairs(self) -> list[Pair]:
        """Similar by vector, in projects of different size; the raw statement is the faster of the two that answer."""
        made = []
        for size in self._some_sizes():
            vectors = self.query_vectors(size.project, self.times // 2)
            ours, plain = self._by_vector(size.project), self._raw_by_vector(size.project)
            made.append(side_by_side(f"similar to a vector, {size.records:,} records", vectors, ours, plain))
        return made

    def _by_vector(self, project: int, least: float = 0.0) -> Callable[[Matrix], list[Similar]]:
        within = Within(project_id=project, min_score=least)

        def ask(vector: Matrix) -> list[Similar]:
            found: list[Similar] = self.asked(lambda store: store.similar_by_vector(vector, within, k=10))
            return found

        return ask

    def _raw_by_vector(self, project: int) -> Callable[[Matrix], Any]:
        index = project_index(project)
        statement = BY_INDEX if index else BY_VECTOR
        return lambda vector: self.raw(statement, project=project, vector=vector.tolist(), index=index)

    def _some_sizes(self) -> list[Size]:
        return [self.sizes[place] for place in PLACES if place < len(self.sizes)]

    def query_vectors(self, project: int, count: int) -> list[Matrix]:
        """Half near a record of the project, half near one of any other."""
        rng = np.random.default_rng(self.rng.randrange(2**32))
        _, here = record_vectors([project]).rows_of(project)
        elsewhere = self.rng.choice(self.sizes).project
        _, there = record_vectors([elsewhere]).rows_of(elsewhere)
        made = []
        for at in range(count):
            block = here if at % 2 else there
            vector = (
                block[rng.integers(0, len(block))]
                + 0.5 * rng.standard_normal(384).astype(np.float32) / 384**0.5
            )
            made.append((vector / np.linalg.norm(vector)).astype(np.float32))
        return made

    def relational(self) -> list[tuple[str, Callable[[], Any]]]:
        """The same questions to the other store."""
        nodes, store = self._decisions(self.times), RelationalGraph()
        pick = lambda: self.rng.choice(nodes)  # noqa: E731
        questions: list[tuple[str, Callable[[], Any]]] = [
            ("similar to a record, 10", lambda: (lambda one: store.similar(one[0], Within(project_id=one[1], min_score=0.5), k=10))(pick())),
            ("neighbourhood, 1 hop, 30", lambda: (lambda one: store.neighbourhood(one[0], Within(project_id=one[1]), cap=30))(pick())),
            ("neighbourhood, 2 hops, 100", lambda: (lambda one: store.neighbourhood(one[0], Within(project_id=one[1]), depth=2, cap=100))(pick())),
            ("outcomes that followed 10 decisions", lambda: store.outcomes_after([node for node, _ in nodes[:10]], Within(project_id=nodes[0][1]))),
            ("decisions that led to an outage, 100", lambda: (lambda one: store.led_to("outage", Within(project_id=one[1])))(pick())),
        ]  # fmt: skip
        for size in self._some_sizes():
            vectors = self.query_vectors(size.project, 20)
            ask = self._relational_by_vector(store, vectors, size.project)
            questions.append((f"similar to a vector, {size.records:,} records", ask))
        return questions

    def _relational_by_vector(
        self, store: RelationalGraph, vectors: list[Matrix], project: int
    ) -> Callable[[], list[Similar]]:
        within = Within(project_id=project)
        return lambda: store.similar_by_vector(self.rng.choice(vectors), within)

    def recall_at_10(self, queries: int) -> list[tuple[Size, float]]:
        """Of each project with at least 20 records: how many of the exact ten best Neo4j answers."""
        exact = RelationalGraph()
        found = []
        for size in self.sizes:
            if size.records < 20:
                continue
            hit = wanted = 0
            within = Within(project_id=size.project, min_score=-1.0)
            ask = self._by_vector(size.project, -1.0)
            for vector in self.query_vectors(size.project, queries):
                right = exact.similar_by_vector(vector, within, k=10)
                ours = ask(vector)
                least = right[-1].score - 2e-6  # what ties with the tenth is as right
                hit += sum(1 for one in ours if one.score >= least)
                wanted += len(right)
            found.append((size, hit / max(wanted, 1)))
        return found


def _agree(hood: Neighbourhood, rows: list[list[Any]]) -> None:
    """Both say the same of what is shown, but of nodes with more relations than a walk looks at."""
    if any(row[5] >= LOOK for row in rows):
        return
    assert [(node.id, node.degree) for node in hood.nodes] == [(row[0], row[5]) for row in rows], hood.center
    told = {(row[0], relation, other) for row in rows for relation, _score, other in row[6]}
    assert {(edge.source, edge.relation.value, edge.target) for edge in hood.edges} == told, hood.center


def project_index(project: int) -> str | None:
    """The name of the vector index of one project, where there is one."""
    name = f"project_{project}_embedding"
    rows = graph_connection.fetch(
        "SHOW INDEXES YIELD name, state WHERE name = $name AND state = 'ONLINE' RETURN name", {"name": name}
    )
    return rows[0][0] if rows else None
