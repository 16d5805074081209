"""The filters that the kinds' FilterSets are made of."""

from __future__ import annotations

from datetime import date, datetime, time, timedelta
from typing import Any

import django_filters
from django import forms
from django.core.validators import MaxValueValidator, MinValueValidator
from django.db.models import Q
from django.utils import timezone
from django.utils.html import format_html, format_html_join
from django.utils.safestring import SafeString
from django.utils.translation import gettext as _t
from django.utils.translation import gettext_lazy as _

from records.validation import FIRST_YEAR, LAST_YEAR, check_text

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


class PairsInput(forms.TextInput):
    """One box for each pair asked for, and an empty one."""

    def value_from_datadict(self, data: Any, files: Any, name: str) -> list[str]:
        given = data.getlist(name) if hasattr(data, "getlist") else [data.get(name)]
        return [text for text in given if text]

    def value_omitted_from_data(self, data: Any, files: Any, name: str) -> bool:
        return name not in data

    def format_value(self, value: Any) -> Any:
        return value or []

    def render(self, name: str, value: Any, attrs: Any = None, renderer: Any = None) -> SafeString:
        said = {"type": "text", "name": name, "placeholder": "host=db-2", "autocomplete": "off"}
        options = self.build_attrs(said, attrs)
        boxes = []
        for place, text in enumerate([*self.format_value(value), ""]):
            own = options if not place else {
                **{key: one for key, one in options.items() if key != "id"},
                "aria-label": _t("Another key=value"),
            }  # fmt: skip
            drawn = format_html_join("", ' {}="{}"', own.items())
            boxes.append(format_html('<input{} value="{}">', drawn, text))
        return format_html_join("\n", "{}", ((box,) for box in boxes))


class PairsField(forms.Field):
    """Several texts `key=value`, each told apart from the others: a list of them."""

    widget = PairsInput
    LONGEST, MOST = 2_000, 20

    def clean(self, value: Any) -> list[str]:
        pairs: list[str] = value or []
        if len(pairs) > self.MOST:
            raise forms.ValidationError(_t("At most %d of them.") % self.MOST)
        for pair in pairs:
            if "=" not in pair:
                raise forms.ValidationError(_t("“%s”: write key=value, as in host=db-2.") % pair[:200])
            if len(pair) > self.LONGEST:
                raise forms.ValidationError(_t("Longer than %d characters.") % self.LONGEST)
            check_text(pair)
        return pairs


class PairsFilter(django_filters.CharFilter):
    """`name=key=value`, any number of times: all of them must hold."""

    field_class = PairsField


# The filters that may be asked several times.
SEVERAL = (django_filters.MultipleChoiceFilter, PairsFilter)
