"""Forms of decisions and outcomes."""

from __future__ import annotations

from datetime import UTC, date, datetime, time
from typing import Any

from django import forms
from django.utils import timezone
from django.utils.translation import gettext_lazy as _

from decisions.models import OUTCOME_TYPES, Decision, Outcome, Precision, Status
from records.filter_fields import DAY_BOUNDS, DateInput
from records.forms import LongTextField, ReasonForm, RecordForm, TagsField, initial_of
from records.moments import MomentField
from records.times import shown_time
from records.validation import check_text


def day_of(decision: Decision) -> date | None:
    """The day a person reads: a written day by its name, an instant in their zone."""
    if decision.decided_at is None:
        return None
    if decision.decided_precision == Precision.DAY:
        return decision.decided_at.astimezone(UTC).date()
    return shown_time(decision.decided_at).date()


class DecisionForm(RecordForm):
    """What a person writes of a decision. The day is a day: an agent's exact time stays unless the day is changed."""

    title = forms.CharField(label=_("Title"), max_length=255, validators=[check_text])
    decision = LongTextField(label=_("Decision"), rows=8)
    rationale = LongTextField(label=_("Rationale"), required=False)
    alternatives_considered = LongTextField(label=_("Alternatives considered"), required=False)
    status = forms.ChoiceField(label=_("Status"), choices=Status.choices, initial=Status.ACCEPTED)
    decided_on = forms.DateField(
        label=_("Decided on"), required=False, widget=DateInput, validators=DAY_BOUNDS
    )
    tags = TagsField()

    def __init__(
        self,
        *args: Any,
        decision: Decision | None = None,
        begun: dict[str, str] | None = None,
        **options: Any,
    ) -> None:
        self.kept = decision
        if decision is not None:
            names = ("title", "decision", "rationale", "alternatives_considered", "status", "tags")
            options["initial"] = {**initial_of(decision, names), "decided_on": day_of(decision)}
        else:
            options.setdefault("initial", {"decided_on": timezone.localdate(), **(begun or {})})
        super().__init__(*args, **options)

    def changes(self) -> dict[str, Any]:
        changes = dict(self.cleaned_data)
        day = changes.pop("decided_on")
        if self.kept is None or day != day_of(self.kept):
            changes["decided_at"] = datetime.combine(day, time.min, tzinfo=UTC) if day else None
            changes["decided_precision"] = Precision.DAY
        return changes

    @staticmethod
    def theirs(record: Decision, name: str) -> Any:
        return day_of(record) if name == "decided_on" else getattr(record, name)


class StatusForm(ReasonForm):
    status = forms.ChoiceField(label=_("Status"), choices=Status.choices)
    reason = LongTextField(label=_("Why"), rows=3)
    field_order = ["status", "reason"]


class SupersedeForm(ReasonForm):
    by = forms.CharField(
        label=_("Superseded by"), max_length=40, required=False,
        help_text=_("The successor's id, like dec_12. Leave empty if it is not recorded."),
    )  # fmt: skip
    field_order = ["by", "reason"]


class ContradictForm(ReasonForm):
    other = forms.CharField(
        label=_("Contradicts"), max_length=40, help_text=_("The other record's id, like dec_12.")
    )
    field_order = ["other", "reason"]


class OutcomeForm(RecordForm):
    type = forms.CharField(
        label=_("What followed"), max_length=50, widget=forms.TextInput(attrs={"list": "outcome-types"}),
        help_text=_("One word, such as: %s.") % ", ".join(name for name, _label in OUTCOME_TYPES),
    )  # fmt: skip
    success_rate = forms.FloatField(
        label=_("Success rate"), required=False, min_value=0, max_value=1, help_text=_("From 0 to 1, where it was measured."),
        widget=forms.NumberInput(attrs={"step": "0.01"}),
    )  # fmt: skip
    note = LongTextField(label=_("Note"), required=False, rows=4)
    occurred_at = MomentField(label=_("When"))
    tags = TagsField()

    def __init__(
        self, *args: Any, outcome: Outcome | None = None, begun: dict[str, str] | None = None, **options: Any
    ) -> None:
        if outcome is not None:
            options["initial"] = {
                **initial_of(outcome, ("type", "success_rate", "note", "tags")),
                "occurred_at": shown_time(outcome.occurred_at),
            }
        else:
            options.setdefault("initial", {"occurred_at": timezone.localtime(), **(begun or {})})
        super().__init__(*args, **options)
        self.kept = outcome

    @staticmethod
    def theirs(record: Outcome, name: str) -> Any:
        """To the minute, as the control shows it."""
        value = getattr(record, name)
        return value.replace(second=0, microsecond=0) if name == "occurred_at" else value

    def changes(self) -> dict[str, Any]:
        changes = dict(self.cleaned_data)
        # The control shows minutes: an untouched time keeps its seconds.
        if self.kept is not None and changes["occurred_at"] == self.kept.occurred_at.replace(
            second=0, microsecond=0
        ):
            changes["occurred_at"] = self.kept.occurred_at
        return changes
