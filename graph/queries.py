"""What pages and API ask of the graph, from whichever store answers."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, replace
from datetime import datetime
from functools import cached_property

from django.conf import settings
from django.core.cache import cache
from django.db import connection
from django.db.models import Min
from django.utils import timezone

from graph.offers import offers_of
from graph.relational import RelationalGraph
from graph.store import GraphStore, Neighbourhood, Within
from projects.models import Project
from records.kinds import graph_kinds
from records.leases import WORKER, Lease
from records.models import ProjectionMark, ReviewState
from records.paging import COUNT_EXACT_TO

NEWEST = 40
SINCE_KEY, SINCE_KEPT_SECONDS = "graph.since", 1
_ROWS = f"SELECT 1 AS mark FROM projection_marks WHERE {{}} LIMIT {COUNT_EXACT_TO + 1}"
# How many marks wait and how many are dead: two columns of a statement.
LAG_COLUMNS = (
    f"(SELECT COUNT(*) FROM ({_ROWS.format('dead = 0 AND next_try_at IS NOT NULL')}) AS due),"
    f" (SELECT COUNT(*) FROM ({_ROWS.format('dead = 1')}) AS lost)"
)


def reviewed_part(hood: Neighbourhood) -> Neighbourhood:
    """Of a neighbourhood what was approved, and the centre; what only an unreviewed one leads to is left out, too."""
    vetted = {node.id for node in hood.nodes if node.review_state == ReviewState.APPROVED} | {hood.center}
    edges = [edge for edge in hood.edges if edge.source in vetted and edge.target in vetted]
    reached, frontier = {hood.center}, {hood.center}
    while frontier:
        beside = {end for edge in edges if frontier & {edge.source, edge.target} for end in edge[:2]}
        frontier = beside - reached
        reached |= frontier
    nodes = [node for node in hood.nodes if node.id in reached]
    return replace(
        hood,
        nodes=nodes,
        edges=[edge for edge in edges if edge.source in reached and edge.target in reached],
        total=len(nodes),
        at_least=hood.at_least or hood.truncated,
    )


def graph_store() -> GraphStore:
    """The store for one page or call; after each answer its `name` says which store gave it."""
    if not settings.GRAPH_URL:
        return RelationalGraph()
    from graph.fallback import FallbackGraph

    return FallbackGraph()


@dataclass(frozen=True)
class GraphLag:
    """How far the projection is behind, counted: records that wait, and whether Neo4j answers at all.

    `away_since`: since this process, or a worker that tells so, found it silent.
    """

    waiting: int
    dead: int
    away_since: datetime | None

    @cached_property
    def since(self) -> datetime | None:
        """Since when the first of them waits: a look at all of them, kept a second, which nothing but a banner needs."""
        if not self.waiting:
            return None
        found: datetime | None = cache.get(SINCE_KEY)
        if found is None:
            due = ProjectionMark.objects.order_by().filter(dead=False, next_try_at__isnull=False)
            found = due.aggregate(since=Min("wanted_at"))["since"]
            cache.set(SINCE_KEY, found, SINCE_KEPT_SECONDS)
        return found


def graph_lag() -> GraphLag:
    """Of the whole desk; index ranges that are empty when all is well."""
    # Raw, as each page asks: the ORM's own work is ten times the statement's.
    with connection.cursor() as cursor:
        cursor.execute(f"SELECT {LAG_COLUMNS}")
        waiting, dead = cursor.fetchone()
    return GraphLag(waiting, dead, away_since())


def away_since() -> datetime | None:
    if not settings.GRAPH_URL:
        return None
    from graph import connection

    if (since := connection.away_since()) is not None:
        return since
    beats = Lease.objects.filter(name__startswith=WORKER, until__gt=timezone.now())
    told = [state.get("graph_away_since") for state in beats.values_list("state", flat=True)]
    return min((datetime.fromisoformat(since) for since in told if since), default=None)


def start_node(project: Project) -> str | None:
    """Where to begin when nobody says: the newest decision that has a relation, else the newest record of any kind."""
    newest: list[str] = []
    for kind in graph_kinds():
        rows = kind.model.objects.active().filter(project=project).order_by(f"-{kind.when}", "-pk")
        found = [kind.node_id(key) for key in rows.values_list("pk", flat=True)[:NEWEST]]
        related = _first_related(found, Within(project_id=project.pk))
        if related:
            return related
        newest += found[:1]
    return newest[0] if newest else None


def _first_related(node_ids: Sequence[str], within: Within) -> str | None:
    offered = offers_of(node_ids, within, 1) if node_ids else {}
    return next((node_id for node_id in node_ids if offered[node_id].edges), None)
