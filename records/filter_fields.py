"""The filters that the kinds' FilterSets are made of."""

from __future__ import annotations

from datetime import date, datetime, time, timedelta
from typing import Any

import django_filters
from django import forms
from django.core.validators import MaxValueValidator, MinValueValidator
from django.db.models import Q
from django.utils import timezone
from django.utils.translation import gettext_lazy as _

from records.validation import FIRST_YEAR, LAST_YEAR

DAY_BOUNDS = [MinValueValidator(date(FIRST_YEAR, 1, 1)), MaxValueValidator(date(LAST_YEAR, 12, 31))]


class DateInput(forms.DateInput):
    input_type = "date"


def start_of_day(day: date) -> datetime:
    """The first instant of a day in the reader's zone."""
    return timezone.make_aware(datetime.combine(day, time.min))


def within_days(column: str, first: date | None, last: date | None) -> Q:
    """Half-open in time, whole days in the reader's zone: no `__date` look-up, which MySQL answers with nothing
    where its zone tables are not loaded."""
    bounds = Q()
    if first is not None:
        bounds &= Q(**{f"{column}__gte": start_of_day(first)})
    if last is not None:
        bounds &= Q(**{f"{column}__lt": start_of_day(last + timedelta(days=1))})
    return bounds


class DayFilter(django_filters.DateFilter):
    """A day by the calendar, of years in which one day more or less, in any zone, is a day too."""

    def __init__(self, *args: Any, **options: Any) -> None:
        super().__init__(*args, **{"widget": DateInput, "validators": DAY_BOUNDS, **options})


class WholeNumberFilter(django_filters.NumberFilter):
    """A count or a key: 0.5 is explained, not taken for 0."""

    field_class = forms.IntegerField


class CountFilter(WholeNumberFilter):
    """At least or at most so many, of what the databases count in an INT."""

    def __init__(self, *args: Any, **options: Any) -> None:
        super().__init__(*args, **{"min_value": 0, "max_value": 2**31 - 1, **options})


class YesNoFilter(django_filters.TypedChoiceFilter):
    """True or false; anything else is explained, where Django's own boolean field takes it for "unknown"."""

    def __init__(self, *args: Any, **options: Any) -> None:
        choices = [("true", _("yes")), ("false", _("no"))]
        super().__init__(*args, choices=choices, coerce=lambda text: text == "true", **options)


class AnyOfFilter(django_filters.MultipleChoiceFilter):
    """Any of the values of one column. Without the DISTINCT of its base, which would compare whole texts."""

    def __init__(self, *args: Any, **options: Any) -> None:
        super().__init__(*args, **{"widget": forms.CheckboxSelectMultiple, "distinct": False, **options})
