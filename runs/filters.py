"""The FilterSet of runs, for page, API and export."""

from __future__ import annotations

from collections.abc import Sequence
from datetime import date
from typing import Any, ClassVar

import django_filters
from django.db.models import OuterRef, Q, QuerySet
from django.utils.translation import gettext_lazy as _

from records.filter_fields import AnyOfFilter, CountFilter, DayFilter, PairsFilter, YesNoFilter, within_days
from records.filters import RecordFilterSet
from records.paging import Sort
from runs.models import Memory, PayloadValue, Run, RunFigures, RunStatus
from runs.payload import PATH_LENGTH, digest_of

# So few rows are named one by one; the servers choose well then. Of more the next page is soon found along the time.
FEW = 2_000
MOST_SPLITS = 4
# Filters of a least and a most: the figures' column, and how many of its units one of the filter is.
NUMBERS = {"tokens": ("token_cost", 1), "took": ("duration_ms", 1000)}


class RunFilterSet(RecordFilterSet):
    sorts = (
        Sort("newest", _("newest first"), "started_at"),
        Sort("oldest", _("oldest first"), "started_at", descending=False),
    )
    text_columns = ("trigger_type", "agent_name")
    indexes: ClassVar[dict[str, str]] = {
        "agent_version": "runs_project_version",
        "agent": "runs_project_agent",
        "trigger": "runs_project_trigger",
        "status": "runs_project_status",
        "escalated": "runs_project_escalated",
    }

    agent = django_filters.CharFilter(field_name="agent_name", label=_("Agent"), max_length=255)
    agent_version = django_filters.CharFilter(label=_("Agent version"), max_length=50)
    trigger = django_filters.CharFilter(field_name="trigger_type", label=_("Trigger"), max_length=100)
    payload = PairsFilter(
        method="filter_payload",
        label=_("Payload key=value"),
        help_text=_(
            "A value of the trigger payload by its path, as in labels.zone=eu; asked several times, all must hold."
        ),
    )
    status = AnyOfFilter(choices=RunStatus.choices, label=_("Status"))
    escalated = YesNoFilter(field_name="escalated_to_human", label=_("Escalated to a person"))
    tokens_min = CountFilter(method="filter_number", label=_("Tokens from"))
    tokens_max = CountFilter(method="filter_number", label=_("Tokens to"))
    took_min = CountFilter(method="filter_number", label=_("Took seconds from"))
    took_max = CountFilter(method="filter_number", label=_("Took seconds to"))
    started_after = DayFilter(method="filter_after", label=_("Started from"))
    started_before = DayFilter(method="filter_before", label=_("Started until"))

    class Meta:
        model = Run
        fields: list[str] = []

    def filter_after(self, queryset: QuerySet[Any], name: str, value: date) -> QuerySet[Any]:
        return queryset.filter(within_days("started_at", value, None))

    def filter_before(self, queryset: QuerySet[Any], name: str, value: date) -> QuerySet[Any]:
        return queryset.filter(within_days("started_at", None, value))

    def filter_payload(self, queryset: QuerySet[Any], name: str, value: Sequence[str]) -> QuerySet[Any]:
        for pair in value:
            queryset = self._among(queryset, PayloadValue.objects.filter(_pair(pair)), "run")
        return queryset

    def filter_number(self, queryset: QuerySet[Any], name: str, value: int) -> QuerySet[Any]:
        """Both bounds at once, by whichever comes first: two half-open ranges would each be much of the table."""
        kind = name.rpartition("_")[0]
        if name.endswith("_max") and self.form.cleaned_data.get(f"{kind}_min") is not None:
            return queryset
        return self._among(queryset, RunFigures.objects.filter(**self._bounds(kind)), "run_id")

    def figure_bounds(self) -> dict[str, Any]:
        """What is asked of numbers, as conditions on RunFigures."""
        return {name: value for kind in NUMBERS for name, value in self._bounds(kind).items()}

    def _bounds(self, kind: str) -> dict[str, Any]:
        """A maximum is met by all that is shown as it: 12 seconds are from 12.000 to 12.999."""
        column, unit = NUMBERS[kind]
        asked = self.form.cleaned_data
        least, most = asked.get(f"{kind}_min"), asked.get(f"{kind}_max")
        bounds: dict[str, Any] = {}
        if least is not None:
            bounds[f"{column}__gte"] = int(least) * unit
        if most is not None:
            bounds[f"{column}__lt"] = (int(most) + 1) * unit
        return {f"{column}__isnull": False, **bounds} if bounds else {}

    def _among(self, queryset: QuerySet[Any], beside: QuerySet[Any], column: str) -> QuerySet[Any]:
        """The runs that rows of another table name by `column`."""
        beside = beside.order_by()
        if self.project_id is None:
            # Of several projects no index says it at once: each run along the time is looked up.
            own = beside.filter(**{column: OuterRef("pk")})
            return queryset.filter(pk__in=own.values(column))
        beside = beside.filter(project_id=self.project_id).values_list(column, flat=True)
        few = list(beside[: FEW + 1])
        return queryset.filter(pk__in=few if len(few) <= FEW else beside)


def _pair(text: str) -> Q:
    """`a=b=c` may be b=c at the path a, or c at the path a=b."""
    parts = text.split("=", MOST_SPLITS)
    found = Q()
    for place in range(1, len(parts)):
        path, value = "=".join(parts[:place]), "=".join(parts[place:])
        found |= Q(path=path[:PATH_LENGTH], digest=digest_of(value))
    return found


class MemoryFilterSet(RecordFilterSet):
    sorts = (Sort("newest", _("newest first"), "created_at"),)
    text_columns = ("summary",)

    agent = django_filters.CharFilter(field_name="agent_name", label=_("Agent"), max_length=255)

    class Meta:
        model = Memory
        fields: list[str] = []
