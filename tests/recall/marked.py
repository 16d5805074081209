"""Records that the worker is to embed, and their marks."""

from decisions.actions import create_decision
from records.models import ProjectionMark


def many(agent, project, count):
    return [
        create_decision(actor=agent, project=project, title=f"Use Redis {n}", decision=f"Cache totals {n}.")
        for n in range(count)
    ]


def mark_of(record):
    return ProjectionMark.objects.get(node_id=record.node_id)
