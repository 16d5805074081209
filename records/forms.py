"""Form fields that all kinds use. Every form's cleaned data are the changes a verb takes."""

from __future__ import annotations

import csv
import re
from typing import Any

from django import forms
from django.forms.fields import InvalidJSONInput
from django.utils.translation import gettext_lazy as _

from records.models import Record, Relation
from records.validation import check_tags, check_text, tag_words


class LongTextField(forms.CharField):
    """Up to 1 MiB of Markdown; empty is NULL."""

    def __init__(self, *, rows: int = 6, **options: Any) -> None:
        options.setdefault("widget", forms.Textarea(attrs={"rows": rows}))
        super().__init__(
            empty_value=None if not options.get("required", True) else "", strip=False, **options
        )
        self.validators.append(check_text)

    def to_python(self, value: Any) -> Any:
        # Browsers send CRLF; what was stored with LF must not count as an edit.
        return super().to_python(value.replace("\r\n", "\n") if isinstance(value, str) else value)


class RecordForm(forms.Form):
    """A form of a record's columns. A text that was only shown and sent back is as it was, line ends too: pages and
    browsers make one kind of all of them."""

    def clean(self) -> dict[str, Any]:
        cleaned = super().clean() or self.cleaned_data
        keep_line_ends(self, cleaned)
        return cleaned


def keep_line_ends(form: forms.BaseForm, cleaned: dict[str, Any]) -> None:
    for name, column in form.fields.items():
        kept = form.initial.get(name)
        if not isinstance(column, LongTextField) or not isinstance(kept, str):
            continue
        if re.sub(r"\r\n?", "\n", kept) == cleaned.get(name):
            cleaned[name] = kept


class TagsField(forms.CharField):
    """Tags as words between commas; one that holds a comma itself is written in double quotes."""

    def __init__(self, **options: Any) -> None:
        options.setdefault("label", _("Tags"))
        options.setdefault("help_text", _("Words between commas."))
        super().__init__(required=False, max_length=2000, **options)

    def prepare_value(self, value: Any) -> Any:
        if value is None or isinstance(value, str):
            return value
        return ", ".join(_quoted(tag) for tag in tag_words(value))

    def to_python(self, value: Any) -> list[str] | None:  # type: ignore[override]
        text = super().to_python(value) or ""
        try:
            (row,) = (
                csv.reader([" ".join(text.splitlines())], skipinitialspace=True) if text.strip() else ([],)
            )
        except csv.Error as error:
            raise forms.ValidationError(_("Tags are words between commas."), code="unreadable") from error
        return [tag.strip() for tag in row if tag.strip()] or None

    def validate(self, value: Any) -> None:
        check_tags(value)

    def run_validators(self, value: Any) -> None:
        """The length is of each tag, and `validate` checked it."""


def _quoted(tag: str) -> str:
    return '"' + tag.replace('"', '""') + '"' if "," in tag or tag.startswith('"') else tag


class JSONTextField(forms.JSONField):
    """JSON as a person types it: too deep or with too long a number is an error beside the field too, and shown as typed."""

    def bound_data(self, data: Any, initial: Any) -> Any:
        return initial if self.disabled or data is None else InvalidJSONInput(data)

    def to_python(self, value: Any) -> Any:
        try:
            return super().to_python(value)
        except (ValueError, RecursionError) as error:
            raise forms.ValidationError(self.error_messages["invalid"], "invalid", {"value": "…"}) from error


class ReasonForm(forms.Form):
    """Why, for verbs that ask nothing else."""

    reason = LongTextField(label=_("Why"), rows=3, required=False)

    def clean_reason(self) -> str:
        return self.cleaned_data["reason"] or ""


class ReviewForm(ReasonForm):
    state = forms.ChoiceField(
        label=_("Review"),
        choices=[
            ("approved", _("Approve")),
            ("rejected", _("Reject")),
            ("quarantined", _("Quarantine")),
            ("unreviewed", _("Send back to review")),
        ],
    )

    @staticmethod
    def theirs(record: Record, name: str) -> Any:
        return record.review_state if name == "state" else None


class LinkForm(ReasonForm):
    """An explicit relation from this record to another of the project."""

    relation = forms.ChoiceField(label=_("This record"), choices=Relation.choices)
    target = forms.CharField(
        label=_("Which"), max_length=40, help_text=_("The other record's id, like dec_12.")
    )
    field_order = ["relation", "target", "reason"]


def initial_of(record: Record, names: tuple[str, ...]) -> dict[str, Any]:
    return {name: getattr(record, name) for name in names}
