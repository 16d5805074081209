"""What every kind's list can be filtered by. One FilterSet a kind serves page, API, bulk and export."""

from __future__ import annotations

from collections.abc import Sequence
from datetime import timedelta
from functools import cached_property
from typing import Any, ClassVar, NamedTuple

import django_filters
from django import forms
from django.db.models import IntegerField, Q, QuerySet
from django.db.models.functions import Cast, Lower, Substr
from django.http import QueryDict
from django.utils import timezone
from django.utils.translation import get_language
from django.utils.translation import gettext as _t
from django.utils.translation import gettext_lazy as _

from database.columns import ExactCharField
from records.actor import SourceKind
from records.filter_fields import SEVERAL, AnyOfFilter, WholeNumberFilter, YesNoFilter
from records.hygiene.findings import LABELS
from records.kinds import Kind, all_kinds, parse_node_id
from records.models import (
    ABSENT,
    HIDDEN,
    HIDDEN_STATES,
    PRESENT,
    Read,
    RecordFinding,
    RecordTag,
    ReviewState,
)
from records.paging import COUNT_EXACT_TO, Sort, capped_count, counts_up_to, shown_of
from records.query_language import LONGEST_QUERY, parse
from records.word_index import texts_with

NOT_FILTERS = {"cursor", "sort", "page_size", "project", "format", "show"}
SHOW = [("active", _("active only")), ("hidden", _("hidden only")), ("all", _("everything"))]


class Chip(NamedTuple):
    """One filter in force, and the address of the list without it."""

    label: str
    value: str
    remove_url: str


class RecordFilterSet(django_filters.FilterSet):
    """Filters of all kinds. Subclasses name `sorts` (the first is the default) and `text_columns` for `q`."""

    sorts: ClassVar[tuple[Sort, ...]] = ()
    text_columns: ClassVar[tuple[str, ...]] = ()
    indexes: ClassVar[dict[str, str]] = {}  # what counts the rows of a filter that is asked for alone

    q = django_filters.CharFilter(
        method="filter_text", label=_("Words or a line of search"), max_length=LONGEST_QUERY
    )
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
    findings = django_filters.ChoiceFilter(
        method="filter_findings",
        choices=[("any", _("anything")), *LABELS.items()],
        label=_("Flagged for"),
        empty_label="—",
    )
    # What no form draws: agents, the search line and the curation desk ask for them.
    unchanged_for = WholeNumberFilter(
        method="filter_unchanged", label=_("Unchanged for days"), min_value=1, max_value=36_500,
        widget=forms.HiddenInput,
    )  # fmt: skip
    recalled = YesNoFilter(
        method="filter_recalled", label=_("Ever told to an agent"), widget=forms.HiddenInput
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
        data, self._said_of_q = self._taken_apart(data)
        super().__init__(data, queryset, **options)
        self.project_id = project_id
        self.unknown = sorted(set(data or {}) - set(self.filters) - NOT_FILTERS)

    @classmethod
    def _taken_apart(cls, data: Any) -> tuple[Any, list[str]]:
        """`q` is a line of search: its filters become parameters beside it, and only the words stay in it."""
        if not isinstance(data, QueryDict) or ":" not in data.get("q", ""):
            return data, []
        query = parse(str(data["q"]))
        kind = next(kind for kind in all_kinds() if kind.model is cls._meta.model)
        asked = None if query.problems else query.parameters_for(kind)
        if asked is None:
            said = _t("%(kind)s have not all of these filters: %(line)s")
            return data, query.problems or [said % {"kind": kind.label_plural, "line": data["q"][:200]}]
        whole, problems = data.copy(), []
        for name, values in asked.lists():
            before = data.getlist(name)
            several = isinstance(cls.base_filters[name], SEVERAL)
            if before and not several and set(before) != set(values):
                problems.append(_t("“%s” is asked for twice, with different values.") % name)
            for value in values:
                if value not in before:
                    whole.appendlist(name, value)
        whole["q"] = query.words_alone
        if not whole["q"]:
            del whole["q"]
        return whole, problems

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
        """Words in the title, even parts of words; or, by the index of words, anywhere in the text."""
        query = parse(value)
        said = [*query.words.split(), *query.phrases]
        queryset, found = self._in_title(queryset, said) if said else (queryset, Q())
        texts = texts_with(query.words, query.phrases)
        if texts is not None:
            found |= Q(pk__in=self._keys_of(texts))
        if query.ids:
            keys = [key for kind, key in map(parse_node_id, query.ids) if kind.model is queryset.model]  # type: ignore[misc]
            found |= Q(pk__in=keys)
        for word in query.without:
            queryset, in_title = self._in_title(queryset, [word])
            texts = texts_with(word)
            unwanted = in_title if texts is None else in_title | Q(pk__in=self._keys_of(texts))
            queryset = queryset.exclude(unwanted)
        return queryset.filter(found)

    def _in_title(self, queryset: QuerySet[Any], words: Sequence[str]) -> tuple[QuerySet[Any], Q]:
        every = Q()
        for word in words:
            found = Q()
            for column in self.text_columns:
                found |= Q(**{f"{column}__icontains": word})
                if isinstance(queryset.model._meta.get_field(column), ExactCharField):
                    # On MySQL such a column tells apart letters and capitals in every comparison, LIKE included.
                    queryset = queryset.alias(**{f"{column}_lower": Lower(column)})
                    found |= Q(**{f"{column}_lower__contains": word.lower()})
            every &= found
        return queryset, every

    def filter_tag(self, queryset: QuerySet[Any], name: str, value: str) -> QuerySet[Any]:
        return self._named_by(queryset, RecordTag.objects.filter(tag=value))

    def filter_findings(self, queryset: QuerySet[Any], name: str, value: str) -> QuerySet[Any]:
        found = RecordFinding.objects.order_by()
        return self._named_by(queryset, found if value == "any" else found.filter(code=value))

    def _named_by(self, queryset: QuerySet[Any], nodes: QuerySet[Any]) -> QuerySet[Any]:
        """The rows that the node ids of another table name."""
        return queryset.filter(pk__in=self._keys_of(nodes))

    def filter_unchanged(self, queryset: QuerySet[Any], name: str, value: int) -> QuerySet[Any]:
        return queryset.filter(row_changed_at__lt=timezone.now() - timedelta(days=int(value)))

    def filter_recalled(self, queryset: QuerySet[Any], name: str, value: bool) -> QuerySet[Any]:
        reads = Read.objects.order_by().filter(node_id__startswith=f"{self._kind.prefix}_").distinct()
        told = Q(pk__in=self._keys(reads))
        return queryset.filter(told if value else ~told)

    def _keys_of(self, nodes: QuerySet[Any]) -> QuerySet[Any]:
        """The keys of rows that name this kind's records by `node_id`, within the project where it is one."""
        named = nodes.filter(kind=self._kind.name)
        if self.project_id is not None:
            named = named.filter(project_id=self.project_id)
        return self._keys(named)

    def _keys(self, named: QuerySet[Any]) -> QuerySet[Any]:
        key = Substr("node_id", len(self._kind.prefix) + 2)
        return named.annotate(key=Cast(key, IntegerField()) if self._kind.integer_key else key).values("key")

    @property
    def _kind(self) -> Kind:
        return next(kind for kind in all_kinds() if kind.model is self._meta.model)

    @property
    def problems(self) -> dict[str, list[str]]:
        """Every filter that cannot be applied, explained: a wrong one is never ignored."""
        problems = {name: [_t("There is no such filter.")] for name in self.unknown}
        if self._said_of_q:
            problems["q"] = self._said_of_q
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
        """How many rows of these very filters the one definition of active keeps out; 0 where `show` was asked for, or a
        filter is wrong."""
        if self.problems or self.form.cleaned_data.get("show"):
            return 0
        return capped_count(self._whole.filter(ABSENT if self._asks_for_hidden_states else HIDDEN))

    def counts(self) -> tuple[int, int]:
        """How many rows are found, and `hidden_count`; both capped."""
        hidden = self.hidden_count()
        if self.problems or self.form.cleaned_data.get("show") or hidden > COUNT_EXACT_TO:
            return capped_count(self.rows()), hidden
        own = [index for name, index in self.indexes.items() if any(self.asked.get(name, ()))]
        index = own[0] if len(own) == 1 else None  # of several MySQL reads more than one index
        whole = counts_up_to(((rows, COUNT_EXACT_TO + 1 + hidden) for rows in self._apart()), index)
        return shown_of(sum(whole), hidden), hidden

    def _apart(self) -> list[Any]:
        """The same rows, apart by the values of a filter that takes several: MySQL reads no index for "this or that"
        where it is to stop at a number of rows, and the table instead."""
        for name, values in self.form.cleaned_data.items():
            item = self.filters[name]
            if isinstance(item, AnyOfFilter) and item.method is None and len(values) > 1:
                return [self._whole.filter(**{item.field_name: value}) for value in values]
        return [self._whole]

    @cached_property
    def _whole(self) -> Any:
        """The rows of the filters, shown or not."""
        rows: Any = self.queryset
        for name, value in self.form.cleaned_data.items():
            rows = self.filters[name].filter(rows, value) if name != "show" else rows
        return rows

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
