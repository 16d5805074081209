"""What the history can be filtered by: one set of filters for its page, its downloads and the blast radius."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

import django_filters
from django import forms
from django.db.models import F, Q, QuerySet
from django.http import QueryDict
from django.utils import timezone
from django.utils.translation import get_language
from django.utils.translation import gettext as _t
from django.utils.translation import gettext_lazy as _

from records.actor import Channel
from records.acts import is_act_id
from records.dates_in_words import days_of
from records.filter_fields import AnyOfFilter, WholeNumberFilter, within_days
from records.filters import Chip
from records.kinds import all_kinds, parse_node_id
from records.models import Revision
from records.pages.history import VERBS

AGENTS_DOORS = (Channel.API, Channel.MCP)
# Of fewer changes than this the place in the history is looked up first: a day long ago is then as near as today.
PLACED = 10_000
NOT_FILTERS = frozenset({"before", "format"})


class HistoryFilters(django_filters.FilterSet):
    """Changes of one project. `other` names the page's own parameters, which are no filters."""

    person = django_filters.CharFilter(method="filter_person", label=_("Person"), max_length=255)
    agent = django_filters.CharFilter(method="filter_agent", label=_("Agent"), max_length=255)
    when = django_filters.CharFilter(method="filter_when", label=_("When"), max_length=100)
    record = django_filters.CharFilter(method="filter_record", label=_("Record"), max_length=40)
    session = django_filters.CharFilter(label=_("Session"), max_length=255)
    run = django_filters.CharFilter(label=_("Run"), max_length=255)
    token = WholeNumberFilter(
        method="filter_token", label=_("Token's number"), min_value=1, max_value=2**63 - 1
    )
    act = django_filters.CharFilter(method="filter_act", label=_("Act"), max_length=32)
    since = WholeNumberFilter(
        field_name="pk", lookup_expr="gt", label=_("After change number"), min_value=0, max_value=2**63 - 1,
        widget=forms.HiddenInput,
    )  # fmt: skip
    door = AnyOfFilter(field_name="channel", choices=Channel.choices, label=_("Door"))
    kind = AnyOfFilter(choices=[], label=_("Kind"))
    verb = AnyOfFilter(choices=[], label=_("What"))

    class Meta:
        model = Revision
        fields: list[str] = []

    def __init__(self, data: Any, *, project_id: int, other: Sequence[str] = ()) -> None:
        super().__init__(data, Revision.objects.filter(project_id=project_id))
        self.filters["kind"].extra["choices"] = [(kind.name, kind.label) for kind in all_kinds()]
        self.filters["verb"].extra["choices"] = sorted(VERBS.items(), key=lambda pair: str(pair[1]))
        self.project_id = project_id
        self._wrong: dict[str, list[str]] = {}
        self.unknown = sorted(set(data or {}) - set(self.filters) - NOT_FILTERS - set(other))
        self.form.fields["when"].widget.attrs["placeholder"] = _t("today, last 30 days, 2026-03, March 15th")
        self._filtered = self.qs if self.form.is_valid() else self.queryset.none()

    def filter_person(self, rows: QuerySet[Revision], name: str, value: str) -> QuerySet[Revision]:
        return rows.filter(actor_name=value).exclude(channel__in=AGENTS_DOORS)

    def filter_agent(self, rows: QuerySet[Revision], name: str, value: str) -> QuerySet[Revision]:
        return rows.filter(actor_name=value, channel__in=AGENTS_DOORS)

    def filter_token(self, rows: QuerySet[Revision], name: str, value: int) -> QuerySet[Revision]:
        # As a sum: MySQL would take the index of the token alone, and look at each of its rows for the other filters.
        return rows.annotate(token_number=F("token_id") + 0).filter(token_number=int(value))

    def filter_record(self, rows: QuerySet[Revision], name: str, value: str) -> QuerySet[Revision]:
        if parse_node_id(value) is None:
            self._wrong["record"] = [_t("“%s” is no record's id, like dec_12.") % value]
            return rows.none()
        return rows.filter(node_id=value)

    def filter_act(self, rows: QuerySet[Revision], name: str, value: str) -> QuerySet[Revision]:
        if not is_act_id(value):
            self._wrong["act"] = [_t("An act's id has 32 hexadecimal digits.")]
            return rows.none()
        return rows.filter(act=value)

    def filter_when(self, rows: QuerySet[Revision], name: str, value: str) -> QuerySet[Revision]:
        try:
            first, last = days_of(value, timezone.localdate())
        except ValueError as error:
            self._wrong["when"] = [str(error)]
            return rows.none()
        within = within_days("created_at", first, last)
        return rows.filter(within & self._place_of(within))

    def _place_of(self, within: Q) -> Q:
        """The numbers between which the changes of these days lie, where there are few; by the index of times alone."""
        inner = Revision.objects.filter(within, project_id=self.project_id).order_by()
        ids = list(inner.values_list("pk", flat=True)[: PLACED + 1])
        if len(ids) > PLACED:
            return Q()
        return Q(pk__gte=min(ids), pk__lte=max(ids)) if ids else Q(pk__in=[])

    @property
    def problems(self) -> dict[str, list[str]]:
        """Every filter that cannot be applied, explained: a wrong one is never ignored."""
        problems = {name: [_t("There is no such filter.")] for name in self.unknown}
        errors = {name: [str(text) for text in found] for name, found in self.form.errors.items()}
        return problems | errors | self._wrong

    def rows(self) -> QuerySet[Revision]:
        """The changes found; none where a filter is wrong (`problems` says which)."""
        return self._filtered.none() if self.problems else self._filtered

    @property
    def asked(self) -> dict[str, list[str]]:
        data = self.data if isinstance(self.data, QueryDict) else QueryDict()
        return {name: data.getlist(name) for name in data if name in self.filters and data.get(name)}

    @property
    def drawn_key(self) -> str:
        return repr(["history", get_language(), sorted(self.asked.items())])

    def chips(self, path: str) -> list[Chip]:
        """Each filter in force, and the page without it."""
        chips = []
        for name, values in self.asked.items():
            for value in filter(None, values):
                rest = self.data.copy()
                rest.setlist(name, [other for other in self.data.getlist(name) if other != value])
                rest.pop("before", None)
                query = rest.urlencode()
                shown = dict(getattr(self.filters[name].field, "choices", None) or []).get(value, value)
                chips.append(
                    Chip(str(self.filters[name].label), str(shown), f"{path}?{query}" if query else path)
                )
        return chips
