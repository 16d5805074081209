"""Forms of pitfalls."""

from __future__ import annotations

from typing import Any

from django import forms
from django.utils.translation import gettext_lazy as _

from pitfalls.models import Pitfall, Severity
from records.forms import LongTextField, ReasonForm, RecordForm, TagsField, initial_of
from records.validation import check_text

NAMES = ("category", "title", "description", "how_to_avoid", "severity", "tags")


class PitfallForm(RecordForm):
    title = forms.CharField(label=_("Title"), max_length=255, validators=[check_text])
    category = forms.CharField(label=_("Category"), max_length=50, validators=[check_text])
    severity = forms.ChoiceField(label=_("Severity"), choices=Severity.choices, initial=Severity.MEDIUM)
    description = LongTextField(label=_("Description"), required=False)
    how_to_avoid = LongTextField(label=_("How to avoid it"), required=False)
    tags = TagsField()

    def __init__(self, *args: Any, pitfall: Pitfall | None = None, **options: Any) -> None:
        if pitfall is not None:
            options["initial"] = initial_of(pitfall, NAMES)
        super().__init__(*args, **options)


class SeverityForm(ReasonForm):
    severity = forms.ChoiceField(label=_("Severity"), choices=Severity.choices)
    reason = LongTextField(label=_("Why"), rows=3)
    field_order = ["severity", "reason"]


class EncounterForm(forms.Form):
    note = LongTextField(label=_("Note"), required=False, rows=2)
