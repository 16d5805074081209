"""The graph's answers as JSON and as rows of a table."""

from __future__ import annotations

from typing import Any

from django.urls import reverse

from graph.store import Edge, Neighbourhood, Node, Path, Relation
from records.kinds import parse_node_id
from records.pages.rows import page_url


def node_url(slug: str, node_id: str) -> str:
    """The record's page."""
    parsed = parse_node_id(node_id)
    if parsed is None:
        return reverse("records:node", args=[node_id])
    kind, key = parsed
    return page_url(kind, slug, key)


def node_answer(node: Node, slug: str) -> dict[str, Any]:
    return {
        "id": node.id,
        "kind": node.kind,
        "title": node.title,
        "status": node.status,
        "review_state": node.review_state,
        "active": node.active,
        "url": node_url(slug, node.id),
        "degree": node.degree,
        "has_more": node.has_more,
        "hop": node.hop,
    }


def edge_answer(edge: Edge) -> dict[str, Any]:
    return {
        "source": edge.source,
        "target": edge.target,
        "relation": edge.relation.value,
        "score": None if edge.score is None else round(edge.score, 4),
    }


def neighbourhood_answer(hood: Neighbourhood, slug: str, answered_by: str) -> dict[str, Any]:
    return {
        "center": hood.center,
        "answered_by": answered_by,
        "total": hood.total,
        "at_least": hood.at_least,
        "truncated": hood.truncated,
        "nodes": [node_answer(node, slug) for node in hood.nodes],
        "edges": [edge_answer(edge) for edge in hood.edges],
    }


def path_answer(path: Path | None, slug: str, answered_by: str) -> dict[str, Any]:
    """Nodes in their order; none where there is no path."""
    found = path or Path()
    return {
        "answered_by": answered_by,
        "nodes": [node_answer(node, slug) for node in found.nodes],
        "edges": [edge_answer(edge) for edge in found.edges],
    }


def table_rows(answer: dict[str, Any]) -> list[dict[str, Any]]:
    """A neighbourhood's answer in words: (source, relation, score, target), as templates/graph/_graph_table.html takes it."""
    ends = {node["id"]: node for node in answer["nodes"]}
    words = {relation.value: str(relation.label) for relation in Relation}
    return [
        {
            "source": ends[edge["source"]],
            "relation": words[edge["relation"]],
            "key": edge["relation"],
            "score": edge["score"],
            "target": ends[edge["target"]],
        }
        for edge in answer["edges"]
    ]
