"""Forms of sessions."""

from __future__ import annotations

from django import forms
from django.utils.translation import gettext_lazy as _

from records.forms import LongTextField, RecordForm


class EndForm(RecordForm):
    """What was done; the session ends with it, where it has not ended yet."""

    summary = LongTextField(
        label=_("Summary"), rows=8, required=False,
        help_text=_("What was done, for whoever looks for it: it is searched and told to agents. Markdown."),
    )  # fmt: skip
    reason = forms.CharField(
        label=_("Why"), max_length=500, required=False, help_text=_("Goes into the history.")
    )
