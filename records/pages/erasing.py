"""The page that erases a record for good, and the tombstone that answers for it from then on."""

from __future__ import annotations

from typing import Any

from django import forms
from django.http import HttpRequest, HttpResponse
from django.shortcuts import render
from django.urls import reverse
from django.utils.translation import gettext as _t
from django.utils.translation import gettext_lazy as _
from django.views.decorators.http import require_http_methods

from projects.access import Capability, in_project
from projects.models import Project
from projects.responses import SeeOther
from records import erasing
from records.actor import Actor
from records.errors import Erased, InvalidInput
from records.forms import LongTextField
from records.kinds import kind_of
from records.models import Erasure
from records.pages.editing import add_errors, posted
from records.pages.history import history_page
from records.pages.rows import record_url, row_of, rows_of
from records.queries import record_or_404_by_node, records_by_node_id
from records.text_tables import companions_of

SHOWN = 50


class EraseForm(forms.Form):
    """`node_id` is typed again: there is no undo."""

    also = forms.MultipleChoiceField(
        label=_("Erase these too"),
        required=False,
        widget=forms.CheckboxSelectMultiple,
        help_text=_("They hold texts of their own."),
    )
    hot_state = forms.BooleanField(
        label=_("Empty the agents' cache of this project, which may hold copies"), required=False
    )
    reason = LongTextField(
        label=_("Why"), rows=3, help_text=_("It stays for ever. Do not quote what is to be erased.")
    )
    confirm = forms.CharField(label=_("Type the record's id to confirm"), max_length=40)

    def __init__(self, data: Any, *, record: Any, beside: list[Any]) -> None:
        super().__init__(data)
        self.record = record
        also: Any = self.fields["also"]
        also.choices = [(one.node_id, f"{one.node_id} {one.heading}") for one in beside]
        if not beside:
            del self.fields["also"]
        self.fields["confirm"].help_text = _t("%s, letter by letter.") % record.node_id
        self.fields["confirm"].widget.attrs |= {"autocomplete": "off", "spellcheck": "false"}

    def clean_confirm(self) -> str:
        typed = self.cleaned_data["confirm"].strip()
        if typed != self.record.node_id:
            raise forms.ValidationError(_t("This is not the record's id: %s.") % self.record.node_id)
        return typed


@require_http_methods(["GET", "POST"])
@in_project(Capability.MANAGE)
def erase(request: HttpRequest, project: Project, node_id: str) -> HttpResponse:
    """Ask for the id, typed again, and a reason; then erase. 422 with the errors beside the fields."""
    record = record_or_404_by_node(project, node_id)
    beside = erasing.beside(record, SHOWN)
    form = EraseForm(posted(request), record=record, beside=beside)
    if form.is_bound and form.is_valid():
        also = [one for one in beside if one.node_id in form.cleaned_data.get("also", ())]
        try:
            erasing.erase(
                [record, *also],
                actor=Actor.person(request),
                reason=form.cleaned_data["reason"],
                hot_state=form.cleaned_data["hot_state"],
            )
        except InvalidInput as error:
            add_errors(form, error)
        else:
            return SeeOther(record_url(record))
    context = {
        "title": _t("Erase %s for good") % node_id,
        "record": record,
        "row": row_of(record),
        "form": form,
        "goes_along": rows_of(companions_of([record])),
        "survivor": _survivor(record),
        "cancel_url": record_url(record),
    }
    return render(request, "records/erase.html", context, status=422 if form.is_bound else 200)


def tombstone(request: HttpRequest, error: Erased) -> HttpResponse:
    """410: what is left of the record, for whoever asks for any of its pages."""
    record, erasure = error.record, error.erasure
    acts, _older = history_page(record.node_id)
    for act in acts:
        act.diffs = []
    context = {
        "record": record,
        "kind": kind_of(record),
        "erasure": erasure,
        "by": _by(erasure),
        "revisions": acts,
        "survivor": _survivor(record),
        "merged": [one for one in erasing.beside(record, SHOWN) if one.merged_into == record.node_id],
        "list_url": reverse(kind_of(record).list_url_name, args=[record.project.slug])
        if record.project_id
        else None,
    }
    return render(request, "records/erased.html", context, status=410)


def _by(erasure: Erasure) -> str:
    return erasure.user.get_username() if erasure.user else erasure.actor_name


def _survivor(record: Any) -> Any:
    """The row of what it was merged into; None where it was not."""
    if not record.merged_into:
        return None
    found = records_by_node_id([record.merged_into], [record.project_id], brief=True)
    return row_of(found[record.merged_into]) if found else None
