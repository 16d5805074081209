"""Forms of the project page. The rules are the actions'; these say them beside the fields."""

from __future__ import annotations

from typing import Any

from django import forms
from django.core.exceptions import ValidationError
from django.utils.translation import gettext_lazy as _

from projects.models import Project, Role, Scope, User

NEVER = ""
EXPIRIES = [("30", _("in 30 days")), ("90", _("in 90 days")), ("365", _("in a year")), (NEVER, _("never"))]


class ProjectForm(forms.ModelForm):  # type: ignore[type-arg]
    class Meta:
        model = Project
        fields = ["name", "slug"]
        help_texts = {"slug": _("In every address: /p/short-name/. Left empty, it is made from the name.")}
        labels = {"slug": _("Short name")}

    def __init__(self, *args: Any, **kwargs: Any) -> None:
        super().__init__(*args, **kwargs)
        self.fields["slug"] = forms.SlugField(
            label=_("Short name"), max_length=100, required=False, help_text=self.fields["slug"].help_text
        )


class RenameForm(forms.Form):
    name = forms.CharField(label=_("Name"), max_length=255)


class AddMemberForm(forms.Form):
    username = forms.CharField(label=_("Username"), max_length=150)
    role = forms.ChoiceField(label=_("Role"), choices=Role.choices, initial=Role.CURATOR)

    def clean_username(self) -> User:
        user = User.objects.filter(username=self.cleaned_data["username"], is_active=True).first()
        if user is None:
            raise ValidationError(
                _("There is no account of that name. An operator makes one: manage.py create_account NAME.")
            )
        return user


class RoleForm(forms.Form):
    role = forms.ChoiceField(label=_("Role"), choices=Role.choices)


class TokenForm(forms.Form):
    agent_name = forms.CharField(
        label=_("Agent"), max_length=255, help_text=_("Stamped on everything that it writes, e.g. order-bot.")
    )
    name = forms.CharField(
        label=_("Where it is used"),
        max_length=100,
        required=False,
        help_text=_("Tells tokens of one agent apart: ci, laptop."),
    )
    scopes = forms.MultipleChoiceField(
        label=_("It may"),
        choices=[
            (Scope.READ, _("read and recall")),
            (Scope.WRITE, _("write memories, which arrive unreviewed")),
            (Scope.REVIEW, _("review: approve and reject like a curator")),
        ],
        initial=[Scope.READ, Scope.WRITE],
        widget=forms.CheckboxSelectMultiple,
    )
    days = forms.TypedChoiceField(
        label=_("Expires"), choices=EXPIRIES, initial="365", required=False, coerce=int, empty_value=None
    )

    def clean(self) -> dict[str, Any]:
        cleaned = super().clean() or {}
        cleaned["name"] = cleaned.get("name") or cleaned.get("agent_name", "")[:100]
        return cleaned
