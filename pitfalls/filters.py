"""The FilterSet of pitfalls, for page, API and export."""

import django_filters
from django.utils.translation import gettext_lazy as _

from pitfalls.models import Pitfall, Severity
from records.filter_fields import AnyOfFilter, CountFilter
from records.filters import RecordFilterSet
from records.paging import Sort


class PitfallFilterSet(RecordFilterSet):
    sorts = (
        Sort("newest", _("newest first"), "created_at"),
        Sort("met", _("most often met first"), "encountered_count"),
    )
    text_columns = ("title",)

    category = django_filters.CharFilter(label=_("Category"), max_length=50)
    severity = AnyOfFilter(choices=Severity.choices, label=_("Severity"))
    met_min = CountFilter(field_name="encountered_count", lookup_expr="gte", label=_("Met at least"))
    met_max = CountFilter(field_name="encountered_count", lookup_expr="lte", label=_("Met at most"))

    class Meta:
        model = Pitfall
        fields: list[str] = []
