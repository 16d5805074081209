"""The Neo4j beside the tables: what contradicts what, and which outcomes decisions led to. Only read."""

from __future__ import annotations

import re
from collections import Counter
from collections.abc import Iterator
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

from graph.address import GraphAddress, parse_graph_url
from transfer.adopt.source import SourceProblem

if TYPE_CHECKING:
    from neo4j import Driver

ROWS_A_BATCH = 500
FETCHED_AT_ONCE = 1000
LINKS = ("CONTRADICTS", "SUPERSEDES", "RELATES_TO", "DUPLICATE_OF")
OURS = ("SIMILAR_TO", "LEADS_TO", *LINKS)
_NUMBER = re.compile(r"(?:[A-Za-z]+[_:-])?([0-9]{1,10})")


@dataclass(frozen=True)
class Edge:
    """Between two decisions, by their ids as the graph writes them."""

    source: Any
    relation: str
    target: Any
    note: str


@dataclass(frozen=True)
class Outcome:
    """An outcome that a decision led to; `key` names the pair."""

    decision: Any
    key: str
    properties: dict[str, Any]


class GraphSource:
    """A Neo4j that is only read, each question in a session of read access."""

    def __init__(self, url: str) -> None:
        try:
            address = parse_graph_url(url)
        except ValueError as error:
            raise SourceProblem(str(error).replace("GRAPH_URL", "--neo4j")) from error
        if address is None:
            raise SourceProblem("--neo4j must look like bolt://user:password@host:7687")
        self.address: GraphAddress = address
        self._driver = self._opened()

    def _opened(self) -> Driver:
        from neo4j import GraphDatabase, NotificationMinimumSeverity
        from neo4j.exceptions import ClientError, DriverError

        driver = GraphDatabase.driver(
            self.address.uri, auth=self.address.auth, connection_timeout=10.0,
            notifications_min_severity=NotificationMinimumSeverity.OFF, user_agent="memory-desk-adopt",
        )  # fmt: skip
        try:
            driver.verify_connectivity()
        except (DriverError, ClientError, OSError, ValueError) as error:
            driver.close()
            raise SourceProblem(f"{self.address.uri} cannot be opened: {error}") from error
        return driver

    def close(self) -> None:
        self._driver.close()

    def ask(self, statement: str, **parameters: Any) -> Iterator[tuple[Any, ...]]:
        """The rows as they come, in a transaction that the server lets only read."""
        from neo4j import READ_ACCESS
        from neo4j.exceptions import DriverError, Neo4jError

        try:
            with self._driver.session(
                database=self.address.database, default_access_mode=READ_ACCESS, fetch_size=FETCHED_AT_ONCE
            ) as session:
                for record in session.run(statement, parameters):  # type: ignore[arg-type]
                    yield tuple(record.values())
        except (DriverError, Neo4jError) as error:
            raise SourceProblem(f"{self.address.uri}: {error}") from error

    def edges(self) -> Iterator[Edge]:
        """In an order that does not change from run to run."""
        rows = self.ask(
            "MATCH (a:Decision)-[r]->(b:Decision) WHERE type(r) IN $types"
            " RETURN coalesce(a.id, a.decision_id), type(r), coalesce(b.id, b.decision_id), coalesce(r.reason, r.note, '')"
            " ORDER BY toString(coalesce(a.id, a.decision_id)), type(r), toString(coalesce(b.id, b.decision_id))",
            types=list(LINKS),
        )
        for source, relation, target, note in rows:
            yield Edge(source, relation, target, str(note or ""))

    def outcomes(self) -> Iterator[Outcome]:
        """One for each decision that led to it, however often the graph says so."""
        rows = self.ask(
            "MATCH (d:Decision)-[:LEADS_TO]->(o:Outcome) WITH DISTINCT d, o"
            " RETURN coalesce(d.id, d.decision_id), coalesce(toString(o.id), elementId(o)),"
            " o {.type, .success_rate, .note, .description, occurred_at: toString(o.occurred_at), created_at: toString(o.created_at)} AS said"
            " ORDER BY toString(coalesce(d.id, d.decision_id)), elementId(o)"
        )
        for decision, key, properties in rows:
            yield Outcome(decision, f"{decision} -> {key}", dict(properties))

    def counts(self) -> tuple[int, int]:
        """Explicit relations, and outcomes by the decision that led to them."""
        ((edges,),) = self.ask(
            "MATCH (:Decision)-[r]->(:Decision) WHERE type(r) IN $types RETURN count(r)", types=list(LINKS)
        )
        ((outcomes,),) = self.ask(
            "MATCH (d:Decision)-[:LEADS_TO]->(o:Outcome) WITH DISTINCT d, o RETURN count(*)"
        )
        return edges, outcomes

    def others(self) -> Counter[str]:
        """Relations of decisions that mean nothing here, by type."""
        rows = self.ask(
            "MATCH (:Decision)-[r]->() WHERE NOT type(r) IN $types RETURN type(r), count(r)", types=list(OURS)
        )
        return Counter(dict(rows))


def decision_number(written: Any) -> int | None:
    """The id in the tables: 123, '123', 'dec_123', 'decision-123'."""
    if isinstance(written, int) and not isinstance(written, bool):
        return written
    match = _NUMBER.fullmatch(written.strip()) if isinstance(written, str) else None
    return int(match[1]) if match else None
