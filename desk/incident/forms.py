"""What one pastes, and what an address may hold instead."""

from __future__ import annotations

from typing import Any

from django import forms
from django.utils.translation import gettext_lazy as _

from records.validation import check_text

# What an address holds; a pasted text may be a megabyte.
LONGEST_IN_ADDRESS = 2_000


class AlertForm(forms.Form):
    """An alert of any shape, as it was written, and whose runs to look among."""

    text = forms.CharField(
        label=_("The alert"), strip=False, validators=[check_text],
        widget=forms.Textarea(attrs={"rows": 8, "data-focus": "", "data-no-guard": "", "spellcheck": "false"}),
        help_text=_("Text or JSON, as it came. Secrets are taken out before it is kept."),
    )  # fmt: skip
    agent = forms.CharField(
        label=_("Runs of agent"), max_length=255, required=False, validators=[check_text],
        widget=forms.TextInput(attrs={"list": "incident-agents"}),
    )  # fmt: skip

    def clean_text(self) -> str:
        text: str = self.cleaned_data["text"].replace("\r\n", "\n")
        if not text.strip():
            raise forms.ValidationError(self.fields["text"].error_messages["required"], code="required")
        return text


class AddressedAlertForm(AlertForm):
    """The same in an address, as a pager's template writes it: `?text=…&agent=…`."""

    text = forms.CharField(
        label=_("The alert"), strip=False, max_length=LONGEST_IN_ADDRESS, validators=[check_text]
    )

    def clean(self) -> dict[str, Any]:
        for name in sorted(set(self.data) - set(self.fields)):
            self.add_error(None, _("There is no parameter “%s”.") % name[:60])
        return self.cleaned_data
