"""What pages and API ask of the graph, from whichever store answers."""

from __future__ import annotations

from collections.abc import Sequence

from graph.offers import offers_of
from graph.relational import RelationalGraph
from graph.store import GraphStore, Within
from projects.models import Project
from records.kinds import graph_kinds

NEWEST = 40


def graph_store() -> GraphStore:
    """The store that answers now."""
    return RelationalGraph()


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
