"""Live counts of the answers: of the very lists that the links open, capped, kept until the project's history moves."""

from __future__ import annotations

import hashlib
from collections.abc import Iterable, Mapping
from datetime import date
from typing import Any
from urllib.parse import urlencode

from django.core.cache import cache
from django.db.models import Count, IntegerField
from django.db.models.functions import Cast, Substr
from django.http import QueryDict
from django.utils import timezone

from curation.inbox.queues import counts_by_queue
from decisions.models import Decision
from desk.answers.questions import SEVERE, Asks, all_questions
from pitfalls.models import Pitfall
from projects.models import Project
from records.kinds import kind_named
from records.models import RecordTag
from records.paging import capped_count
from records.queries import newest_revision

KEPT_SECONDS = 30
SUGGESTED = 8


def query_of(asks: Asks) -> str:
    """The query of the list's address, for page and API alike."""
    return urlencode(asks.filters)


def count_of(project: Project, asks: Asks) -> int:
    """How many rows that list has, capped."""
    kind = kind_named(asks.kind)
    rows: Any = kind.model.objects.filter(project=project)
    filters = kind.filterset(QueryDict(query_of(asks)), queryset=rows, project_id=project.pk)
    return capped_count(filters.rows())


def counts(project: Project, today: date) -> Mapping[Any, int]:
    """By what is asked (kind and filters), by queue, by category of severe pitfalls and by subject. A constant number of statements."""
    asked = [project.pk, newest_revision(project.pk), today, timezone.get_current_timezone_name()]
    key = f"answers.{hashlib.sha256(repr(asked).encode()).hexdigest()}"
    kept: dict[Any, int] | None = cache.get(key)
    if kept is None:
        kept = {(each.kind, each.filters): count_of(project, each) for each in _lists(today)}
        kept |= {name: count for name, count in counts_by_queue(project).items() if name in _queues()}
        kept |= {("category", name): count for name, count in severe_categories(project)}
        kept |= {("subject", tag): count for tag, count in subjects(project)}
        cache.set(key, kept, KEPT_SECONDS)
    return kept


def _lists(today: date) -> Iterable[Asks]:
    return (asks for question in all_questions() for asks in question.asks(today))


def _queues() -> set[str]:
    return {name for question in all_questions() for name in question.queues}


def severe_categories(project: Project) -> list[tuple[str, int]]:
    """The categories with most active critical or high pitfalls, and how many."""
    rows = Pitfall.objects.active().filter(project=project, severity__in=[value for _name, value in SEVERE])
    counted = rows.order_by().values_list("category").annotate(count=Count("pk"))
    return list(counted.order_by("-count", "category")[:SUGGESTED])


def subjects(project: Project) -> list[tuple[str, int]]:
    """The tags that most active decisions have, and how many: what they are about. What a hidden one brought is offered to nobody."""
    rows = RecordTag.objects.filter(project_id=project.pk, kind="decision").order_by()
    rows = rows.annotate(key=Cast(Substr("node_id", len("dec_") + 1), IntegerField()))
    rows = rows.filter(key__in=Decision.objects.active().filter(project=project).values("pk"))
    counted = rows.values_list("tag").annotate(count=Count("pk")).order_by("-count", "tag")
    return list(counted[:SUGGESTED])
