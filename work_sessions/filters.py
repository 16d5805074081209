"""The FilterSet of sessions, for page, API and export."""

from datetime import date
from typing import Any

import django_filters
from django.db.models import QuerySet
from django.utils.translation import gettext_lazy as _

from records.filter_fields import DayFilter, YesNoFilter, within_days
from records.filters import RecordFilterSet
from records.paging import Sort
from work_sessions.models import WorkSession


class SessionFilterSet(RecordFilterSet):
    sorts = (
        Sort("newest", _("newest first"), "started_at"),
        Sort("oldest", _("oldest first"), "started_at", descending=False),
    )
    text_columns = ("session_id",)

    session_id = django_filters.CharFilter(label=_("Named"), max_length=255)
    open = YesNoFilter(field_name="ended_at", lookup_expr="isnull", label=_("Still open"))
    started_after = DayFilter(method="filter_after", label=_("Started from"))
    started_before = DayFilter(method="filter_before", label=_("Started until"))

    class Meta:
        model = WorkSession
        fields: list[str] = []

    def filter_after(self, queryset: QuerySet[Any], name: str, value: date) -> QuerySet[Any]:
        return queryset.filter(within_days("started_at", value, None))

    def filter_before(self, queryset: QuerySet[Any], name: str, value: date) -> QuerySet[Any]:
        return queryset.filter(within_days("started_at", None, value))
