"""The knobs of the Recall page, in its address: two people who open it see the same question."""

from __future__ import annotations

from typing import Any

from django import forms
from django.http import QueryDict
from django.utils.translation import gettext as _t
from django.utils.translation import gettext_lazy as _

from desk.context_pack.asked import (
    DEFAULT_BUDGET,
    DEFAULT_K,
    LEAST_BUDGET,
    MOST_BUDGET,
    MOST_K,
    Asked,
    packed_kinds,
    today,
)
from projects.models import Project
from records.kinds import kind_named

# What an address holds. By the API a text may be a megabyte.
LONGEST_TEXT = 2_000


class RecallForm(forms.Form):
    text = forms.CharField(
        max_length=LONGEST_TEXT,
        label=_("A task, or what set the agent off"),
        widget=forms.Textarea(attrs={"rows": 4, "data-focus": ""}),
    )
    budget = forms.IntegerField(
        min_value=LEAST_BUDGET, max_value=MOST_BUDGET, required=False, label=_("Budget in tokens"),
        widget=forms.NumberInput(attrs={"placeholder": DEFAULT_BUDGET, "step": 100}),
    )  # fmt: skip
    k = forms.IntegerField(
        min_value=1, max_value=MOST_K, required=False, label=_("Items of a section"),
        widget=forms.NumberInput(attrs={"placeholder": DEFAULT_K}),
    )  # fmt: skip
    agent = forms.CharField(max_length=255, required=False, label=_("Incidents of agent"))
    session = forms.CharField(max_length=255, required=False, label=_("Session"))
    kinds = forms.MultipleChoiceField(required=False, label=_("Kinds"), widget=forms.CheckboxSelectMultiple)
    reviewed_only = forms.BooleanField(required=False, label=_("Only what a person approved"))

    def __init__(self, given: QueryDict | None) -> None:
        super().__init__(given)
        choices = [(name, kind_named(name).label) for name in packed_kinds()]
        self.fields["kinds"].choices = choices  # type: ignore[attr-defined]

    def clean(self) -> dict[str, Any]:
        cleaned = super().clean() or {}
        for name in sorted(set(self.data) - set(self.fields)):
            self.add_error(None, _t("There is no parameter “%s”.") % name[:60])
        return cleaned

    def asked(self, project: Project) -> Asked:
        """The question, once the form is valid."""
        said = self.cleaned_data
        return Asked(
            project=project,
            text=said["text"],
            budget=said["budget"] or DEFAULT_BUDGET,
            k=said["k"] or DEFAULT_K,
            kinds=frozenset(said["kinds"] or packed_kinds()),
            reviewed_only=said["reviewed_only"],
            agent=said["agent"],
            session=said["session"],
            as_of=today(),
        )

    def request_body(self, project: Project) -> dict[str, Any]:
        """The same question as the API takes it: what is usual is left out."""
        said = self.cleaned_data
        options = {name: said[name] for name in ("budget", "k", "agent", "session", "kinds", "reviewed_only")}
        return {
            "project": project.slug,
            "task": said["text"],
            **{name: value for name, value in options.items() if value},
        }
