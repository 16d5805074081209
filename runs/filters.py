"""The FilterSet of runs, for page, API and export."""

from datetime import date
from typing import Any

import django_filters
from django.db.models import QuerySet
from django.utils.translation import gettext_lazy as _

from records.filter_fields import AnyOfFilter, DayFilter, YesNoFilter, within_days
from records.filters import RecordFilterSet
from records.paging import Sort
from runs.models import Memory, Run, RunStatus


class RunFilterSet(RecordFilterSet):
    sorts = (
        Sort("newest", _("newest first"), "started_at"),
        Sort("oldest", _("oldest first"), "started_at", descending=False),
    )
    text_columns = ("trigger_type", "agent_name")

    agent = django_filters.CharFilter(field_name="agent_name", label=_("Agent"), max_length=255)
    agent_version = django_filters.CharFilter(label=_("Agent version"), max_length=50)
    trigger = django_filters.CharFilter(field_name="trigger_type", label=_("Trigger"), max_length=100)
    status = AnyOfFilter(choices=RunStatus.choices, label=_("Status"))
    escalated = YesNoFilter(field_name="escalated_to_human", label=_("Escalated to a person"))
    started_after = DayFilter(method="filter_after", label=_("Started from"))
    started_before = DayFilter(method="filter_before", label=_("Started until"))

    class Meta:
        model = Run
        fields: list[str] = []

    def filter_after(self, queryset: QuerySet[Any], name: str, value: date) -> QuerySet[Any]:
        return queryset.filter(within_days("started_at", value, None))

    def filter_before(self, queryset: QuerySet[Any], name: str, value: date) -> QuerySet[Any]:
        return queryset.filter(within_days("started_at", None, value))


class MemoryFilterSet(RecordFilterSet):
    sorts = (Sort("newest", _("newest first"), "created_at"),)
    text_columns = ("summary",)

    agent = django_filters.CharFilter(field_name="agent_name", label=_("Agent"), max_length=255)

    class Meta:
        model = Memory
        fields: list[str] = []
