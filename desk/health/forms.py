from __future__ import annotations

from django import forms
from django.core.exceptions import ValidationError
from django.utils.translation import gettext as _
from django.utils.translation import gettext_lazy

from records.kinds import parse_node_id


class RetryForm(forms.Form):
    """Which record, or all that were given up; and why."""

    node_id = forms.CharField(max_length=40, required=False)
    reason = forms.CharField(max_length=2000, required=False, strip=True)


class ProjectAgainForm(forms.Form):
    node_id = forms.CharField(
        label=gettext_lazy("Record"), max_length=40, widget=forms.TextInput(attrs={"placeholder": "dec_12"})
    )
    reason = forms.CharField(label=gettext_lazy("Why"), max_length=2000, required=False)

    def clean_node_id(self) -> str:
        node_id: str = self.cleaned_data["node_id"].strip()
        if parse_node_id(node_id) is None:
            raise ValidationError(_("A record is named like dec_12."))
        return node_id
