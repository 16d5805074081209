"""What a graph store answers. Two stores serve this contract; one suite (tests/contract) runs on both."""

from __future__ import annotations

from collections.abc import Collection, Mapping, Sequence
from dataclasses import dataclass, field
from typing import Any, NamedTuple, Protocol

from django.db.models import TextChoices
from django.utils.translation import gettext_lazy as _


class Relation(TextChoices):
    """Every relation of the graph, in the order in which neighbours are taken: asserted ones, then likeness."""

    CONTRADICTS = "CONTRADICTS", _("contradicts")
    DUPLICATE_OF = "DUPLICATE_OF", _("duplicates")
    LEADS_TO = "LEADS_TO", _("leads to")
    RELATES_TO = "RELATES_TO", _("relates to")
    SUPERSEDES = "SUPERSEDES", _("supersedes")
    SIMILAR_TO = "SIMILAR_TO", _("similar to")


RANK = {relation: rank for rank, relation in enumerate(Relation)}
SYMMETRICAL = frozenset({Relation.CONTRADICTS, Relation.RELATES_TO, Relation.SIMILAR_TO})
# How many relations of one node a walk looks at, best first: a hub of thousands is never read as a whole.
LOOK = 100
MAX_DEPTH = 3
MAX_CAP = 300


class NoSuchNode(LookupError):
    """The node is not in this project, or no kind has such an id."""


class GraphAway(RuntimeError):
    """The graph's server does not answer, or not in time: no record's fault."""


@dataclass(frozen=True)
class Node:
    """A record as the graph shows it. `degree`: distinct neighbours within the filters among its best LOOK relations;
    `has_more`: it has more relations than these."""

    id: str
    kind: str
    title: str
    status: str | None
    review_state: str
    active: bool = True
    degree: int = 0
    hop: int = 0
    has_more: bool = False


class Edge(NamedTuple):
    """One relation. Symmetrical ones run from the lesser node id; `score` is the plain cosine of a SIMILAR_TO."""

    source: str
    target: str
    relation: Relation
    score: float | None = None

    @property
    def order(self) -> tuple[int, float, str, str]:
        return RANK[self.relation], -(self.score or 0.0), self.source, self.target

    def other(self, node_id: str) -> str:
        return self.target if self.source == node_id else self.source


@dataclass(frozen=True, kw_only=True)
class Within:
    """Which part of the graph is walked. A node outside it is neither shown nor walked through.

    `kinds` None: every kind of the graph. `hidden`: archived, merged, rejected and quarantined records too.
    """

    project_id: int
    relations: frozenset[Relation] = frozenset(Relation)
    min_score: float = 0.0
    kinds: frozenset[str] | None = None
    hidden: bool = False


@dataclass(frozen=True)
class Neighbourhood:
    """Nodes by hop, best first, and every relation within the filters that touches one of them.

    `total` counts the nodes found, shown or not; `truncated`: there are, or may be, more than are shown;
    `at_least`: there may be more than `total`.
    """

    center: str
    nodes: list[Node]
    edges: list[Edge]
    total: int
    truncated: bool = False
    at_least: bool = False


@dataclass(frozen=True)
class Similar:
    node: Node
    score: float


@dataclass(frozen=True)
class Path:
    """Nodes from one end to the other, and the best relation of each step."""

    nodes: list[Node] = field(default_factory=list)
    edges: list[Edge] = field(default_factory=list)


class GraphStore(Protocol):
    """Reads of the graph. Every answer stays within one project; ids outside it raise NoSuchNode."""

    name: str

    def neighbourhood(
        self, node_id: str, within: Within, *, depth: int = 1, cap: int = 30, known: Collection[str] = ()
    ) -> Neighbourhood:
        """Up to `cap` nodes within `depth` hops of a record, the record first (whatever its kind or state).

        Hop by hop, and in a hop in the order of `Relation`, then score, then node id: CONTRADICTS before likeness.
        `known` nodes are walked through but not answered again: only new nodes, and relations that touch one.
        """

    def similar(self, node_id: str, within: Within, *, k: int = 10) -> list[Similar]:
        """The k records most like this one (`within.min_score`, `kinds`), best first; plain cosine."""

    def similar_by_vector(self, vector: Any, within: Within, *, k: int = 10) -> list[Similar]:
        """The k records nearest to a unit vector (float32 [384]): exact, all k where the project has them."""

    def outcomes_after(self, node_ids: Sequence[str], within: Within) -> Mapping[str, list[Node]]:
        """What each of the decisions led to, by node id; one without outcomes has an empty list."""

    def led_to(self, status: str, within: Within, *, limit: int = 100) -> list[tuple[Node, Node]]:
        """(decision, outcome) for outcomes of this type, the newest outcome first."""

    def path(self, source: str, target: str, within: Within, *, max_depth: int = 6) -> Path | None:
        """A shortest path, whichever way its relations run; None where there is none that short."""
