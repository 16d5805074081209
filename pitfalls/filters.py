"""The FilterSet of pitfalls, for page, API and export."""

import django_filters
from django.utils.translation import gettext_lazy as _

from pitfalls.models import Pitfall, Severity
from records.filters import AnyOfFilter, RecordFilterSet, WholeNumberFilter
from records.paging import Sort


class PitfallFilterSet(RecordFilterSet):
    sorts = (
        Sort("newest", _("newest first"), "created_at"),
        Sort("met", _("most often met first"), "encountered_count"),
    )
    text_columns = ("title",)

    category = django_filters.CharFilter(label=_("Category"), max_length=50)
    severity = AnyOfFilter(choices=Severity.choices, label=_("Severity"))
    met_min = WholeNumberFilter(
        field_name="encountered_count",
        lookup_expr="gte",
        label=_("Met at least"),
        min_value=0,
        max_value=2**31 - 1,
    )
    met_max = WholeNumberFilter(
        field_name="encountered_count",
        lookup_expr="lte",
        label=_("Met at most"),
        min_value=0,
        max_value=2**31 - 1,
    )

    class Meta:
        model = Pitfall
        fields: list[str] = []
