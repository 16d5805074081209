"""The FilterSets of decisions and outcomes, for page, API and export."""

from datetime import UTC, date, datetime, time, timedelta
from typing import Any

import django_filters
from django.db.models import Q, QuerySet
from django.utils.translation import gettext_lazy as _

from decisions.models import Decision, Outcome, Precision, Status
from records.filter_fields import AnyOfFilter, DayFilter, WholeNumberFilter, within_days
from records.filters import RecordFilterSet
from records.paging import Sort
from records.query_language import LONGEST_QUERY


def decided_within(first: date | None, last: date | None) -> Q:
    """Decided on these days (inclusive): an instant by the reader's zone, a written day by its name."""
    instants = Q(decided_precision=Precision.INSTANT) & within_days("decided_at", first, last)
    days = Q(decided_precision=Precision.DAY)
    if first is not None:
        days &= Q(decided_at__gte=datetime.combine(first, time.min, tzinfo=UTC))
    if last is not None:
        days &= Q(decided_at__lt=datetime.combine(last + timedelta(days=1), time.min, tzinfo=UTC))
    # The plain bound a day wider on each side, on the very column that lists are sorted by: one index serves range
    # and order. The two exact terms decide.
    wide = Q(decided_at__isnull=False)
    if first is not None:
        wide &= Q(sort_at__gte=datetime.combine(first - timedelta(days=1), time.min, tzinfo=UTC))
    if last is not None:
        wide &= Q(sort_at__lt=datetime.combine(last + timedelta(days=2), time.min, tzinfo=UTC))
    return wide & (instants | days)


class DecisionFilterSet(RecordFilterSet):
    sorts = (
        Sort("newest", _("newest first"), "sort_at"),
        Sort("oldest", _("oldest first"), "sort_at", descending=False),
    )
    text_columns = ("title",)

    status = AnyOfFilter(choices=Status.choices, label=_("Status"))
    decided = DayFilter(method="filter_day", label=_("Decided on"))
    decided_after = DayFilter(method="filter_after", label=_("Decided from"))
    decided_before = DayFilter(method="filter_before", label=_("Decided until"))
    outcome = django_filters.CharFilter(method="filter_outcome", label=_("Led to"), max_length=50)

    class Meta:
        model = Decision
        fields: list[str] = []

    def filter_day(self, queryset: QuerySet[Any], name: str, value: date) -> QuerySet[Any]:
        return queryset.filter(decided_within(value, value))

    def filter_after(self, queryset: QuerySet[Any], name: str, value: date) -> QuerySet[Any]:
        return queryset.filter(decided_within(value, None))

    def filter_before(self, queryset: QuerySet[Any], name: str, value: date) -> QuerySet[Any]:
        return queryset.filter(decided_within(None, value))

    def filter_outcome(self, queryset: QuerySet[Any], name: str, value: str) -> QuerySet[Any]:
        return queryset.filter(pk__in=Outcome.objects.active().filter(type=value).values("decision_id"))


class OutcomeFilterSet(RecordFilterSet):
    sorts = (
        Sort("newest", _("newest first"), "occurred_at"),
        Sort("oldest", _("oldest first"), "occurred_at", descending=False),
    )
    text_columns = ("note",)

    type = django_filters.CharFilter(label=_("Type"), max_length=50)
    decision = WholeNumberFilter(
        field_name="decision_id", label=_("Decision"), min_value=1, max_value=2**31 - 1
    )
    about = django_filters.CharFilter(
        method="filter_about", label=_("Of decisions about"), max_length=LONGEST_QUERY
    )
    occurred_after = DayFilter(method="filter_after", label=_("From"))
    occurred_before = DayFilter(method="filter_before", label=_("Until"))

    class Meta:
        model = Outcome
        fields: list[str] = []

    def filter_about(self, queryset: QuerySet[Any], name: str, value: str) -> QuerySet[Any]:
        """Of active decisions that a list of decisions finds by these words."""
        decisions = DecisionFilterSet(project_id=self.project_id)
        found = decisions.filter_text(Decision.objects.active(), name, value)
        return queryset.filter(decision_id__in=found.order_by().values("pk"))

    def filter_after(self, queryset: QuerySet[Any], name: str, value: date) -> QuerySet[Any]:
        return queryset.filter(within_days("occurred_at", value, None))

    def filter_before(self, queryset: QuerySet[Any], name: str, value: date) -> QuerySet[Any]:
        return queryset.filter(within_days("occurred_at", None, value))
