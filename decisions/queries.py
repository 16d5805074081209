"""Every read of decisions and outcomes."""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from datetime import datetime, timedelta

from django.db import connection
from django.db.models import F, QuerySet
from django.utils import timezone

from decisions.models import Decision, Outcome
from records.kinds import group_by_kind
from records.links import links_of
from records.models import Relation
from records.queries import records_by_node_id

BAD_OUTCOMES = ("outage", "regression", "failure", "security", "reversal")


def recent_decisions(project_id: int, days: int = 30, now: datetime | None = None) -> QuerySet[Decision]:
    """Decided in the last `days`, newest first; active only."""
    since = (now or timezone.now()) - timedelta(days=days)
    return (
        Decision.objects.active().filter(project_id=project_id, decided_at__gt=since).order_by("-decided_at")
    )


def outcomes_of(decision: Decision, limit: int | None = None) -> list[Outcome]:
    """What followed a decision, newest first; active only."""
    rows = (
        decision.outcomes.active()  # type: ignore[attr-defined]
        .filter(project_id=decision.project_id)
        .order_by("-occurred_at", "-id")
    )
    found = list(rows if limit is None else rows[:limit])
    for outcome in found:
        outcome.project = decision.project
    return found


def latest_outcomes(decision_ids: Iterable[int]) -> dict[int, Outcome]:
    """The newest active outcome of each decision, of its type and rate alone, in one query."""
    rows = (
        Outcome.objects.active()
        .only("decision_id", "type", "success_rate")
        .filter(decision_id__in=list(decision_ids), project_id=F("decision__project_id"))
        .order_by("occurred_at", "id")
    )
    return {outcome.decision_id: outcome for outcome in rows}


def bad_outcomes_since(confirmed: Mapping[str, datetime]) -> dict[str, str]:
    """Of these decisions, by node id with when each was last confirmed: the newest bad outcome recorded since."""
    keys = {int(node_id.removeprefix("dec_")): at for node_id, at in confirmed.items()}
    rows = (
        Outcome.objects.active()
        .filter(decision_id__in=list(keys), type__in=BAD_OUTCOMES, project_id=F("decision__project_id"))
        .order_by("id")
        .values_list("id", "decision_id", "created_at")
    )
    return {f"dec_{key}": f"out_{pk}" for pk, key, made_at in rows if made_at > keys[key]}


def leads_to_edges(
    node_ids: Sequence[str], *, project_id: int, per_node: int, hidden: bool
) -> list[tuple[str, str, str]]:
    """(decision, LEADS_TO, outcome) that touch any of the nodes; of one decision at most `per_node`, by node id.

    Raw, for speed: every hop of a graph asks it. A hidden outcome that is asked for still has its decision.
    """
    keys = group_by_kind(node_ids)
    found: set[tuple[int, int]] = set()
    for table, column, values in (
        ("outcomes" if hidden else "active_outcomes", "decision_id", keys.get("decision")),
        ("outcomes", "id", keys.get("outcome")),
    ):
        if values:
            marks = ", ".join(["%s"] * len(values))
            with connection.cursor() as cursor:
                cursor.execute(
                    "SELECT decision_id, id FROM (SELECT decision_id, id, ROW_NUMBER() OVER"
                    f" (PARTITION BY decision_id ORDER BY CAST(id AS CHAR)) AS place FROM {table}"
                    f" WHERE project_id = %s AND {column} IN ({marks})) AS placed WHERE place <= %s",
                    [project_id, *values, per_node],
                )
                found.update(cursor.fetchall())
    return [(f"dec_{decision}", "LEADS_TO", f"out_{outcome}") for decision, outcome in sorted(found)]


def successors_of(decisions: Iterable[Decision]) -> dict[str, list[Decision]]:
    """Node id -> the decisions of its project that supersede it. Two queries for the whole set."""
    projects = {decision.node_id: decision.project_id for decision in decisions}
    node_ids = list(projects)
    if not node_ids:
        return {}
    links = [link for link in links_of(node_ids, [Relation.SUPERSEDES]) if link.target in projects]
    records = records_by_node_id({link.source for link in links})
    found: dict[str, list[Decision]] = {}
    for link in links:
        # Plain SQL may have moved one of them behind another project's wall.
        if link.source in records and records[link.source].project_id == projects[link.target]:
            found.setdefault(link.target, []).append(records[link.source])
    return found
