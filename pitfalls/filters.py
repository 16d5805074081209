"""The FilterSet of pitfalls, for page, API and export."""

import django_filters
from django import forms
from django.utils.translation import gettext_lazy as _

from pitfalls.models import Pitfall, Severity
from records.filters import RecordFilterSet
from records.paging import Sort


class PitfallFilterSet(RecordFilterSet):
    sorts = (
        Sort("newest", _("newest first"), "created_at"),
        Sort("met", _("most often met first"), "encountered_count"),
    )
    text_columns = ("title",)

    category = django_filters.CharFilter(label=_("Category"), max_length=50)
    severity = django_filters.MultipleChoiceFilter(
        choices=Severity.choices, label=_("Severity"), widget=forms.CheckboxSelectMultiple
    )
    met_min = django_filters.NumberFilter(
        field_name="encountered_count",
        lookup_expr="gte",
        label=_("Met at least"),
        min_value=0,
        max_value=2**31 - 1,
    )

    class Meta:
        model = Pitfall
        fields: list[str] = []
