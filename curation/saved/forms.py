"""The form of a saved filter."""

from django import forms
from django.utils.translation import gettext_lazy as _


class SavedFilterForm(forms.Form):
    name = forms.CharField(label=_("Name"), max_length=100)
    in_digest = forms.BooleanField(label=_("In my daily digest"), required=False)
