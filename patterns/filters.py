"""The FilterSet of patterns, for page, API and export."""

import django_filters
from django.forms import HiddenInput
from django.utils.translation import gettext_lazy as _

from patterns.models import Pattern
from records.filter_fields import CountFilter
from records.filters import RecordFilterSet
from records.paging import Sort


class PatternFilterSet(RecordFilterSet):
    sorts = (
        Sort("newest", _("newest first"), "created_at"),
        Sort("confidence", _("most trusted first"), "confidence_score"),
        Sort("usage", _("most used first"), "usage_count"),
    )
    text_columns = ("name",)

    category = django_filters.CharFilter(label=_("Category"), max_length=50)
    language = django_filters.CharFilter(label=_("Language"), max_length=50)
    confidence_min = django_filters.NumberFilter(
        field_name="confidence_score",
        lookup_expr="gte",
        label=_("Confidence at least"),
        min_value=0,
        max_value=1,
    )
    confidence_max = django_filters.NumberFilter(
        field_name="confidence_score",
        lookup_expr="lte",
        label=_("Confidence at most"),
        min_value=0,
        max_value=1,
    )
    # Strictly above or below: only the search line asks for it, so the form does not draw it.
    confidence_above = django_filters.NumberFilter(
        field_name="confidence_score", lookup_expr="gt", label=_("Confidence above"), widget=HiddenInput
    )
    confidence_below = django_filters.NumberFilter(
        field_name="confidence_score", lookup_expr="lt", label=_("Confidence below"), widget=HiddenInput
    )
    usage_min = CountFilter(field_name="usage_count", lookup_expr="gte", label=_("Used at least"))
    usage_max = CountFilter(field_name="usage_count", lookup_expr="lte", label=_("Used at most"))

    class Meta:
        model = Pattern
        fields: list[str] = []
