"""The lists' filters, and what a query finds with them."""

from datetime import UTC, datetime

from django.http import QueryDict

from decisions.filters import DecisionFilterSet, OutcomeFilterSet
from patterns.filters import PatternFilterSet
from pitfalls.filters import PitfallFilterSet
from runs.filters import RunFilterSet
from work_sessions.filters import SessionFilterSet

FILTERSETS = {
    "decision": DecisionFilterSet, "outcome": OutcomeFilterSet, "pattern": PatternFilterSet,
    "pitfall": PitfallFilterSet, "session": SessionFilterSet, "run": RunFilterSet,
}  # fmt: skip


def found(kind, project, query):
    filterset = FILTERSETS[kind]
    filters = filterset(
        QueryDict(query),
        queryset=filterset._meta.model.objects.filter(project=project),
        project_id=project.pk,
    )
    assert filters.problems == {}, filters.problems
    return {record.pk for record in filters.rows()}


def at(text):
    return datetime.fromisoformat(text).replace(tzinfo=UTC)
