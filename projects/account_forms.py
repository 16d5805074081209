"""Forms of accounts and invitations."""

from __future__ import annotations

import zoneinfo
from typing import Any

from django import forms
from django.contrib.auth.forms import PasswordChangeForm, SetPasswordForm
from django.contrib.auth.password_validation import password_validators_help_texts
from django.core.exceptions import ValidationError
from django.utils.translation import gettext_lazy as _

from projects.models import Density, Project, Role, Theme, User


class InvitationForm(forms.Form):
    note = forms.CharField(
        label=_("For whom"),
        max_length=255,
        required=False,
        help_text=_("For you, to tell invitations apart."),
    )
    role = forms.ChoiceField(label=_("Role"), choices=Role.choices, initial=Role.CURATOR)
    days = forms.TypedChoiceField(
        label=_("Works for"),
        choices=[("1", _("a day")), ("7", _("a week")), ("30", _("30 days"))],
        initial="7",
        coerce=int,
    )


class JoinForm(forms.Form):
    """A new account's name and password; its rules are checked by the action."""

    username = forms.CharField(
        label=_("Username"), max_length=150, widget=forms.TextInput(attrs={"autocomplete": "username"})
    )
    password = forms.CharField(
        label=_("Password"),
        strip=False,
        max_length=4096,
        widget=forms.PasswordInput(attrs={"autocomplete": "new-password"}),
    )
    again = forms.CharField(
        label=_("The same again"),
        strip=False,
        max_length=4096,
        widget=forms.PasswordInput(attrs={"autocomplete": "new-password"}),
    )

    def __init__(self, *args: Any, **kwargs: Any) -> None:
        super().__init__(*args, **kwargs)
        self.fields["password"].help_text = " ".join(str(text) for text in password_validators_help_texts())

    def clean(self) -> dict[str, Any]:
        cleaned = super().clean() or {}
        if cleaned.get("password") and cleaned.get("again") and cleaned["password"] != cleaned["again"]:
            raise ValidationError({"again": _("The two do not match.")})
        return cleaned


class AccountForm(forms.Form):
    """A new account; its owner sets the password by a link."""

    username = forms.CharField(label=_("Username"), max_length=150)
    email = forms.EmailField(label=_("E-mail"), required=False, max_length=254)
    project = forms.ModelChoiceField(
        label=_("Project"), queryset=Project.objects.all(), required=False, empty_label=_("none yet")
    )
    role = forms.ChoiceField(label=_("Role"), choices=Role.choices, initial=Role.CURATOR)


class _PasswordAlone:
    """Django's forms write the whole account back as it was read: one deactivated meanwhile would be active again."""

    cleaned_data: dict[str, Any]

    def set_password_and_save(self, user: User, field: str, commit: bool = True) -> User:
        user.set_password(self.cleaned_data[field])
        if commit:
            user.save(update_fields=["password"])
        return user


class NewPasswordForm(_PasswordAlone, SetPasswordForm):  # type: ignore[type-arg,misc]
    """The first password, or one in place of a forgotten one."""


class OtherPasswordForm(_PasswordAlone, PasswordChangeForm):  # type: ignore[type-arg,misc]
    """Asks for the old one."""


class PreferencesForm(forms.ModelForm):  # type: ignore[type-arg]
    """What a person sets of their own account. What is not sent of the looks is as usual."""

    theme = forms.ChoiceField(
        label=_("Theme"), choices=Theme.choices, required=False, widget=forms.RadioSelect
    )
    density = forms.ChoiceField(
        label=_("Density"), choices=Density.choices, required=False, widget=forms.RadioSelect,
        help_text=_("How much fits on a page."),
    )  # fmt: skip

    class Meta:
        model = User
        fields = ["time_zone", "theme", "density", "email", "daily_digest"]
        widgets = {"time_zone": forms.TextInput(attrs={"list": "time-zones", "autocomplete": "off"})}
        help_texts = {
            "email": _("Where the daily digest goes. Nothing else is sent."),
            "time_zone": _("Like Europe/Paris. Empty: the desk's own."),
            "daily_digest": _(
                "At 7 in the morning, where something waits for you: the queues that you review, and saved filters "
                "that you put into it. Nothing waits: nothing is sent."
            ),
        }

    def clean_time_zone(self) -> str:
        name: str = self.cleaned_data["time_zone"].strip()
        if name and name not in zoneinfo.available_timezones():
            raise ValidationError(_("No such time zone; one is named like Europe/Paris."))
        return name

    def clean_theme(self) -> str:
        return self.cleaned_data["theme"] or Theme.SYSTEM

    def clean_density(self) -> str:
        return self.cleaned_data["density"] or Density.COMFORTABLE

    def clean(self) -> dict[str, Any]:
        cleaned = super().clean() or {}
        if cleaned.get("daily_digest") and not cleaned.get("email"):
            raise ValidationError({"email": _("The digest needs an address.")})
        return cleaned


class ThemeForm(forms.ModelForm):  # type: ignore[type-arg]
    """The theme alone, as the menu of the account sets it."""

    class Meta:
        model = User
        fields = ["theme"]


def offered_zones() -> list[str]:
    """Zones by the names of places; others are taken too."""
    return sorted(
        name for name in zoneinfo.available_timezones() if "/" in name and not name.startswith("Etc/")
    )
