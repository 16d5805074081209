"""What a time line is filtered by; all of it stands in the address."""

from __future__ import annotations

from datetime import date
from typing import Any

from django import forms
from django.http import QueryDict
from django.utils import timezone
from django.utils.translation import get_language
from django.utils.translation import gettext as _t
from django.utils.translation import gettext_lazy as _

from desk.timeline.sources import Wanted, written_in_session
from projects.models import Project
from records.dates_in_words import days_of
from records.filters import Chip
from records.kinds import parse_node_id
from records.validation import check_text

WHAT = [
    ("decision", _("decisions")),
    ("outcome", _("outcomes")),
    ("run", _("runs")),
    ("session", _("sessions")),
    ("met", _("pitfalls met")),
    ("confidence", _("confidence")),
    ("review", _("reviews")),
]
NOT_FILTERS = frozenset({"cursor"})


class TimelineFilter(forms.Form):
    """A page's filter as templates/_filter_bar.html draws it (`form` is itself)."""

    what = forms.MultipleChoiceField(
        choices=WHAT, required=False, label=_("What"), widget=forms.CheckboxSelectMultiple
    )
    when = forms.CharField(
        max_length=100, required=False, label=_("When"),
        widget=forms.TextInput(attrs={"placeholder": _("today, last 30 days, 2026-03, March 15th")}),
    )  # fmt: skip
    by = forms.CharField(max_length=255, required=False, label=_("By"), validators=[check_text])
    record = forms.CharField(max_length=40, required=False, label=_("Record"))
    session = forms.CharField(max_length=255, required=False, label=_("Session"), validators=[check_text])

    def __init__(self, given: QueryDict) -> None:
        super().__init__(given)
        self.given = given

    def clean_when(self) -> tuple[date | None, date | None]:
        text = self.cleaned_data["when"]
        if not text:
            return None, None
        try:
            return days_of(text, timezone.localdate())
        except ValueError as error:
            raise forms.ValidationError(str(error), code="unclear") from error

    def clean_record(self) -> str:
        node_id: str = self.cleaned_data["record"]
        if node_id and parse_node_id(node_id) is None:
            raise forms.ValidationError(_t("“%s” is no record's id, like dec_12.") % node_id, code="no_id")
        return node_id

    @property
    def form(self) -> TimelineFilter:
        return self

    @property
    def drawn_key(self) -> str:
        return repr(["timeline", get_language(), sorted(self.given.lists())])

    @property
    def problems(self) -> dict[str, list[str]]:
        """Every filter that cannot be applied, explained."""
        unknown = sorted(set(self.given) - set(self.fields) - NOT_FILTERS)
        problems = {name: [_t("There is no such filter.")] for name in unknown}
        return problems | {name: [str(text) for text in found] for name, found in self.errors.items()}

    def wanted(self, project: Project) -> Wanted:
        """Once it has no problems."""
        said = self.cleaned_data
        first, last = said["when"]
        session = said["session"]
        return Wanted(
            project, first, last, said["by"], said["record"], session,
            written_in_session(project, session) if session else frozenset(),
        )  # fmt: skip

    def chips(self, path: str) -> list[Chip]:
        """Each filter in force."""
        labels: dict[str, Any] = dict(WHAT)
        chips = []
        for name in self.fields:
            for value in filter(None, self.given.getlist(name)):
                rest = self.given.copy()
                rest.setlist(name, [other for other in rest.getlist(name) if other != value])
                rest.pop("cursor", None)
                query = rest.urlencode()
                shown = str(labels.get(value, value)) if name == "what" else value
                chips.append(Chip(str(self.fields[name].label), shown, f"{path}?{query}" if query else path))
        return chips
