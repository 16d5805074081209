"""What every kind's list can be filtered by. One FilterSet a kind serves page, API, bulk and export."""

from __future__ import annotations

from datetime import date, datetime, time, timedelta
from typing import Any, ClassVar, NamedTuple

import django_filters
from django import forms
from django.core.validators import MaxValueValidator, MinValueValidator
from django.db.models import IntegerField, Q, QuerySet
from django.db.models.functions import Cast, Lower, Substr
from django.http import QueryDict
from django.utils import timezone
from django.utils.translation import get_language
from django.utils.translation import gettext as _t
from django.utils.translation import gettext_lazy as _

from database.columns import ExactCharField
from records.actor import SourceKind
from records.hygiene.findings import LABELS
from records.models import HIDDEN_STATES, PRESENT, RecordFinding, RecordTag, ReviewState
from records.paging import Sort, capped_count
from records.validation import FIRST_YEAR, LAST_YEAR

NOT_FILTERS = {"cursor", "sort", "page_size", "project", "format", "show"}
DAY_BOUNDS = [MinValueValidator(date(FIRST_YEAR, 1, 1)), MaxValueValidator(date(LAST_YEAR, 12, 31))]
SHOW = [("active", _("active only")), ("hidden", _("hidden only")), ("all", _("everything"))]


class Chip(NamedTuple):
    """One filter in force, and the address of the list without it."""

    label: str
    value: str
    remove_url: str


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


class RecordFilterSet(django_filters.FilterSet):
    """Filters of all kinds. Subclasses name `sorts` (the first is the default) and `text_columns` for `q`."""

    sorts: ClassVar[tuple[Sort, ...]] = ()
    text_columns: ClassVar[tuple[str, ...]] = ()

    q = django_filters.CharFilter(method="filter_text", label=_("Title contains"), max_length=200)
    review = AnyOfFilter(
        field_name="review_state",
        choices=ReviewState.choices,
        label=_("Review"),
    )
    source = AnyOfFilter(
        field_name="source_kind",
        choices=SourceKind.choices,
        label=_("Source"),
    )
    by = django_filters.CharFilter(field_name="source_name", label=_("By"), max_length=255)
    session = django_filters.CharFilter(field_name="source_session", label=_("Session"), max_length=255)
    tag = django_filters.CharFilter(method="filter_tag", label=_("Tag"), max_length=100)
    findings = AnyOfFilter(
        method="filter_findings",
        choices=[("any", _("any")), *((code, label) for code, label in LABELS.items())],
        label=_("Flagged for"),
    )
    show = django_filters.ChoiceFilter(
        method="filter_show",
        choices=SHOW,
        label=_("Show"),
        empty_label=None,
        initial="active",
        widget=forms.Select(attrs={"data-default": "active"}),  # what is usual stays out of the address
    )

    def __init__(
        self,
        data: Any = None,
        queryset: QuerySet[Any] | None = None,
        *,
        project_id: int | None = None,
        **options: Any,
    ) -> None:
        """`project_id` where all of the rows are of one project: an index then answers `tag`."""
        super().__init__(data, queryset, **options)
        self.project_id = project_id
        self.unknown = sorted(set(data or {}) - set(self.filters) - NOT_FILTERS)

    def filter_queryset(self, queryset: QuerySet[Any]) -> QuerySet[Any]:
        queryset = super().filter_queryset(queryset)
        if self.form.cleaned_data.get("show"):
            return queryset
        if self._asks_for_hidden_states:
            return queryset.filter(PRESENT)  # asked for by its name, a rejected memory is not hidden
        return queryset.active()  # type: ignore[attr-defined]

    def filter_show(self, queryset: Any, name: str, value: str) -> Any:
        if value == "all":
            return queryset
        return queryset.hidden() if value == "hidden" else queryset.active()

    def filter_text(self, queryset: QuerySet[Any], name: str, value: str) -> QuerySet[Any]:
        for word in value.split():
            found = Q()
            for column in self.text_columns:
                found |= Q(**{f"{column}__icontains": word})
                if isinstance(queryset.model._meta.get_field(column), ExactCharField):
                    # On MySQL such a column tells apart letters and capitals in every comparison, LIKE included.
                    queryset = queryset.alias(**{f"{column}_lower": Lower(column)})
                    found |= Q(**{f"{column}_lower__contains": word.lower()})
            queryset = queryset.filter(found)
        return queryset

    def filter_tag(self, queryset: QuerySet[Any], name: str, value: str) -> QuerySet[Any]:
        return self._named_by(queryset, RecordTag.objects.filter(tag=value))

    def filter_findings(self, queryset: QuerySet[Any], name: str, values: list[str]) -> QuerySet[Any]:
        if not values:
            return queryset
        found = RecordFinding.objects.order_by()
        return self._named_by(queryset, found if "any" in values else found.filter(code__in=values))

    def _named_by(self, queryset: QuerySet[Any], nodes: QuerySet[Any]) -> QuerySet[Any]:
        """The rows that the node ids of another table name."""
        from records.kinds import all_kinds

        kind = next(kind for kind in all_kinds() if kind.model is queryset.model)
        nodes = nodes.filter(kind=kind.name)
        if self.project_id is not None:
            nodes = nodes.filter(project_id=self.project_id)
        key = Substr("node_id", len(kind.prefix) + 2)
        keys = nodes.annotate(key=Cast(key, IntegerField()) if kind.integer_key else key).values("key")
        return queryset.filter(pk__in=keys)

    @property
    def problems(self) -> dict[str, list[str]]:
        """Every filter that cannot be applied, explained: a wrong one is never ignored."""
        problems = {name: [_t("There is no such filter.")] for name in self.unknown}
        if self.form.errors:
            problems |= {
                name: [str(message) for message in messages] for name, messages in self.form.errors.items()
            }
        if (
            self.data
            and self.data.get("sort")
            and self.data["sort"] not in {sort.name for sort in self.sorts}
        ):
            problems["sort"] = [_t("Must be one of: %s.") % ", ".join(sort.name for sort in self.sorts)]
        return problems

    @property
    def sort(self) -> Sort:
        asked = self.data.get("sort") if self.data else None
        return next((sort for sort in self.sorts if sort.name == asked), self.sorts[0])

    def rows(self) -> QuerySet[Any]:
        """The filtered rows; none where a filter is wrong (`problems` says which)."""
        return self.queryset.none() if self.problems else self.qs

    @property
    def asked(self) -> dict[str, list[str]]:
        """What was asked of the filters, without order, page and form of the answer."""
        data = self.data if isinstance(self.data, QueryDict) else QueryDict()
        return {name: data.getlist(name) for name in data if name in self.filters}

    @property
    def drawn_key(self) -> str:
        """What the drawn form depends on: it is a quarter of a list page's work and seldom changes."""
        return repr([type(self).__name__, get_language(), sorted(self.asked.items())])

    def hidden_count(self) -> int:
        """How many rows of these very filters the one definition of active keeps out; 0 where `show` was asked for."""
        if self.form.cleaned_data.get("show"):
            return 0
        rows: Any = self.queryset
        for name, value in self.form.cleaned_data.items():
            rows = self.filters[name].filter(rows, value) if name != "show" else rows
        return capped_count(rows.exclude(PRESENT) if self._asks_for_hidden_states else rows.hidden())

    @property
    def _asks_for_hidden_states(self) -> bool:
        """By their names, or by what most of the quarantined are hidden for."""
        asked = self.form.cleaned_data
        return bool(asked.get("findings") or set(asked.get("review") or ()) & set(HIDDEN_STATES))

    def chips(self, path: str) -> list[Chip]:
        """Each filter in force."""
        chips = []
        data = self.data if isinstance(self.data, QueryDict) else QueryDict()
        for name in self.filters:
            for value in data.getlist(name):
                if value and not (name == "show" and value == "active"):
                    rest = data.copy()
                    rest.setlist(name, [other for other in data.getlist(name) if other != value])
                    rest.pop("cursor", None)
                    query = rest.urlencode()
                    chips.append(
                        Chip(
                            str(self.filters[name].label),
                            self._shown(name, value),
                            f"{path}?{query}" if query else path,
                        )
                    )
        return chips

    def _shown(self, name: str, value: str) -> str:
        choices = dict(getattr(self.filters[name].field, "choices", None) or [])
        return str(choices.get(value, value))
