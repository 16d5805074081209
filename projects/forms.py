"""Forms of the project page. The rules are the actions'; these say them beside the fields."""

from __future__ import annotations

from typing import Any

from django import forms
from django.core.exceptions import ValidationError
from django.utils.translation import gettext_lazy as _

from projects.models import Project, ProjectPolicy, Role, Scope, User

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
    slug = forms.SlugField(
        label=_("Short name"),
        max_length=100,
        required=False,
        help_text=_("In every address. The old one goes on working, as an alias."),
    )


class AliasForm(forms.Form):
    name = forms.CharField(
        label=_("Also called"),
        max_length=400,
        help_text=_(
            "A name, or the address of a repository: git@github.com:acme/shop.git becomes github-com-acme-shop, and "
            "so does every other way of writing it."
        ),
    )


class PolicyForm(forms.ModelForm):  # type: ignore[type-arg]
    """Its fields are those of POLICY_COLUMNS."""

    reason = forms.CharField(label=_("Why"), max_length=500, help_text=_("Goes into the log below."))

    class Meta:
        model = ProjectPolicy
        fields = [
            "quarantine_findings",
            "auto_approve_trust",
            "reviewed_only_recall",
            "stale_after_days",
            "duplicate_cosine",
            "prior_weight",
            "confidence_half_life_days",
            "keep_reads_days",
        ]
        help_texts = {
            "quarantine_findings": _(
                "What an agent writes with orders to the next agent, hidden characters or smuggled links waits for a "
                "person and is not recalled. People's own writes are only marked."
            ),
            "auto_approve_trust": _(
                "From 0 to 1; agents' tokens have 0.5 unless set otherwise. Empty: nothing is approved without a "
                "person. What is flagged never is."
            ),
            "reviewed_only_recall": _(
                "Search, similar records and context packs then leave out for agents what nobody approved. Lists stay "
                "whole and say the review state."
            ),
            "stale_after_days": _("From 1 to 3650. Empty: nothing grows stale."),
            "duplicate_cosine": _(
                "From 0.5 to 1: the cosine of the two records' vectors, up to 0.2 more where their titles share words."
            ),
            "prior_weight": _(
                "From 0.1 to 1000: how many votes the starting point of a new pattern counts for. The more, the slower "
                "evidence moves it. Patterns that are here keep theirs."
            ),
            "confidence_half_life_days": _(
                "From 1 to 3650. After so long without use, a pattern's votes count half, and so it moves back towards "
                "its starting point; then again. Empty: never."
            ),
            "keep_reads_days": _(
                "From 1 to 3650. Which agent was answered with which memory, for tracing what a bad memory did. Empty: "
                "as long as the desk keeps it. It can only be shorter than that."
            ),
        }

    def changes(self) -> dict[str, Any]:
        return {name: self.cleaned_data[name] for name in self._meta.fields or ()}


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


def add_errors(form: forms.BaseForm, error: ValidationError) -> None:
    """An action's errors beside the fields they name; the others above the form."""
    found = error.error_dict if hasattr(error, "error_dict") else {"": error.error_list}
    for name, errors in found.items():
        form.add_error(name if name in form.fields else None, ValidationError(errors))
