"""Forms of patterns."""

from __future__ import annotations

from typing import Any

from django import forms
from django.utils.translation import gettext_lazy as _

from patterns.models import Pattern
from projects.models import WEIGHT_LEAST, WEIGHT_MOST
from records.forms import LongTextField, ReasonForm, RecordForm, TagsField, initial_of
from records.validation import check_text

NAMES = ("category", "name", "description", "code_example", "language", "tags")


class PatternForm(RecordForm):
    name = forms.CharField(label=_("Name"), max_length=255, validators=[check_text])
    category = forms.CharField(label=_("Category"), max_length=50, validators=[check_text])
    description = LongTextField(label=_("Description"), required=False)
    code_example = LongTextField(
        label=_("Code example"),
        required=False,
        widget=forms.Textarea(attrs={"rows": 10, "class": "code", "spellcheck": "false"}),
    )
    language = forms.CharField(
        label=_("Language"), max_length=50, required=False, empty_value=None, validators=[check_text]
    )
    tags = TagsField()

    def __init__(self, *args: Any, pattern: Pattern | None = None, **options: Any) -> None:
        if pattern is not None:
            options["initial"] = initial_of(pattern, NAMES)
        super().__init__(*args, **options)


class NewPatternForm(PatternForm):
    confidence = forms.FloatField(
        label=_("Confidence to start from"), initial=0.5, min_value=0, max_value=1,
        widget=forms.NumberInput(attrs={"step": "0.01"}),
    )  # fmt: skip


class ConfidenceForm(ReasonForm):
    confidence = forms.FloatField(
        label=_("Confidence"), min_value=0, max_value=1, widget=forms.NumberInput(attrs={"step": "0.01"}),
        help_text=_("From 0 to 1. It becomes the new starting point; votes count from here."),
    )  # fmt: skip
    weight = forms.FloatField(
        label=_("It weighs, in votes"), min_value=WEIGHT_LEAST, max_value=WEIGHT_MOST, required=False,
        widget=forms.NumberInput(attrs={"step": "any"}),
        help_text=_("How hard it is to move. Empty: as much as before."),
    )  # fmt: skip
    reason = LongTextField(label=_("Why"), rows=3)
    field_order = ["confidence", "weight", "reason"]

    def __init__(self, *args: Any, pattern: Pattern, **options: Any) -> None:
        self._pattern = pattern
        options["initial"] = {
            "confidence": round(pattern.confidence_score, 2), "weight": round(pattern.prior_weight, 2),
        }  # fmt: skip
        super().__init__(*args, **options)

    def clean(self) -> dict[str, Any]:
        """What is shown rounded, and left as it is shown, stays what it was to the last digit."""
        cleaned: dict[str, Any] = super().clean() or {}
        as_it_was = {"confidence": self._pattern.confidence_score, "weight": self._pattern.prior_weight}
        return cleaned | {
            name: value
            for name, value in as_it_was.items()
            if name in cleaned and name not in self.changed_data
        }

    @staticmethod
    def theirs(record: Pattern, name: str) -> Any:
        return {"confidence": record.confidence_score, "weight": record.prior_weight}.get(name)


class RetireForm(ReasonForm):
    reason = LongTextField(label=_("Why"), rows=3)


class EvidenceForm(forms.Form):
    note = LongTextField(label=_("Note"), required=False, rows=2)
