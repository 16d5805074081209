"""Forms that end in a verb: the answer to each way it can go, the same on every page.

Saved: 303 to the record (or `next`). Invalid: 422 with errors beside the fields. Someone saved first: 409 with both
versions side by side and everything typed still in the fields.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping
from dataclasses import dataclass, field
from typing import Any

from django import forms
from django.contrib import messages
from django.http import HttpRequest, HttpResponse, QueryDict
from django.shortcuts import render
from django.urls import reverse
from django.utils.http import url_has_allowed_host_and_scheme
from django.utils.safestring import SafeString
from django.utils.translation import gettext as _
from django.utils.translation import gettext_lazy, ngettext

from database.transactions import transactional
from projects.responses import SeeOther
from records import verbs
from records.actor import Actor
from records.acts import one_act
from records.changes import Outcome
from records.errors import Conflict, InvalidInput
from records.images import image_of
from records.kinds import kind_of
from records.pages.history import as_text, diff_of
from records.pages.rows import record_url
from records.queries import has_written, record_or_404_by_node, revision_of_version
from records.sweep import take_in

EXPECTED = "version"
THEN: Mapping[str, Callable[..., verbs.Outcome]] = {
    "approve": lambda records, **options: verbs.review(records, "approved", **options),
    "confirm": verbs.confirm,
}
THEN_LABELS = {"approve": gettext_lazy("Save and approve"), "confirm": gettext_lazy("Save: it holds so")}
UNREADABLE = -1
REFUSALS_SHOWN = 5


def posted(request: HttpRequest) -> QueryDict | None:
    """What a form is bound to: the POST, empty or not; None when the form is only shown."""
    return request.POST if request.method == "POST" else None


def begun_with(request: HttpRequest, *names: str) -> dict[str, str]:
    """What the address of a new form already says of these fields: a page that leads here knows some of it."""
    return {name: request.GET[name] for name in names if request.GET.get(name)}


def expected_version(request: HttpRequest, name: str = EXPECTED) -> int | None:
    """The version that the page was drawn from, as its form carries it. One that cannot be read matches none."""
    text = request.POST.get(name)
    if not text:
        return None
    return int(text) if text.isdecimal() and len(text) < 10 else UNREADABLE


def next_url(request: HttpRequest, otherwise: str) -> str:
    """Where to go after the act: the `next` of the form, or of its address, if it stays on this host."""
    asked = request.POST.get("next") or request.GET.get("next", "")
    ours = url_has_allowed_host_and_scheme(asked, {request.get_host()}, require_https=request.is_secure())
    return asked if ours and asked.startswith("/") else otherwise


def done(request: HttpRequest, text: str, url: str, act: str | None = None) -> HttpResponse:
    """Say what was done and go on. With the act's id the saying offers to undo it, where it wrote anything."""
    messages.success(request, text, extra_tags=undo_url(request, act) if act else "")
    return SeeOther(next_url(request, url))


def undo_url(request: HttpRequest, act: str) -> str:
    """Where this act is undone by POST; "" where it changed nothing. Templates draw it as a button of the message."""
    project = getattr(request, "project", None)
    if project is None or not has_written(act):
        return ""
    return reverse("records:undo", args=[project.slug, act])


def refused(request: HttpRequest, error: InvalidInput, url: str) -> HttpResponse:
    """For verbs that are one button: say why it did nothing, on the page it came from."""
    for found in error.errors.values():
        for text in found:
            messages.error(request, text)
    return SeeOther(next_url(request, url))


def tell_refused(request: HttpRequest, outcome: Outcome) -> None:
    """Of an act on many: why the first of those that refused stay as they are, and how many more there are."""
    for _node_id, refusal in outcome.refused[:REFUSALS_SHOWN]:
        messages.error(request, str(refusal))
    more = len(outcome.refused) - REFUSALS_SHOWN
    if more > 0:
        messages.error(request, ngettext("%d more stays as it is.", "%d more stay as they are.", more) % more)


def add_errors(form: forms.Form, error: InvalidInput) -> None:
    """A verb's errors beside the fields they name; the others above the form."""
    for name, found in error.errors.items():
        form.add_error(name if name in form.fields else None, found if name in form.fields else [f"{name}: {text}" if name != "__all__" else text for text in found])  # fmt: skip


def form_page(
    request: HttpRequest,
    form: forms.Form,
    act: Callable[[dict[str, Any]], Any],
    *,
    title: str,
    done_text: Callable[[Any], str],
    record: Any = None,
    template: str = "records/form.html",
    **context: Any,
) -> HttpResponse:
    """Draw the form (GET), or run `act(cleaned_data)` and answer how it went (POST)."""
    context |= {"title": title, "form": form, "record": record, "cancel_url": context.get("cancel_url") or (record_url(record) if record else None)}  # fmt: skip
    context["version"] = expected_version(request) if form.is_bound else getattr(record, "version", None)
    context["reason"] = request.POST.get("reason", "")
    carried = request.POST if form.is_bound else request.GET
    context["next"], context["then"] = carried.get("next", ""), carried.get("then", "")
    if context["then"] in THEN:
        context["submit_label"] = THEN_LABELS[context["then"]]
    if not form.is_bound:
        return render(request, template, context)
    if form.is_valid():
        try:
            with one_act() as act_id:
                saved = _saved(request, lambda: act(form.cleaned_data), record)
        except InvalidInput as error:
            add_errors(form, error)
        except Conflict as conflict:
            shown = ConflictView.of(conflict, form)
            return render(
                request,
                "records/conflict.html",
                {**context, "conflict": shown, "record": conflict.record},
                status=409,
            )
        else:
            return done(request, done_text(saved), record_url(saved), act_id)
    return render(request, template, context, status=422)


def _saved(request: HttpRequest, act: Callable[[], Any], record: Any) -> Any:
    """The act; with what the form was opened for (edit then approve), both or neither."""
    verb = THEN.get(request.POST.get("then", ""))
    if verb is None:
        return act()
    if record is not None:  # what plain SQL wrote stays taken in where a conflict with it undoes the rest
        take_in(kind_of(record), [record.pk])

    @transactional
    def both() -> Any:
        return verb([act()], actor=Actor.person(request)).record

    return both()


@dataclass
class ConflictRow:
    name: str
    label: str
    theirs: str
    yours: str
    same: bool
    diff: SafeString
    control: Any


@dataclass
class ConflictView:
    """Both versions, field by field, for templates/_conflict.html."""

    node_id: str
    actor: str
    when: Any
    current_version: int
    theirs_url: str
    rows: list[ConflictRow] = field(default_factory=list)

    @classmethod
    def of(cls, conflict: Conflict, form: forms.Form) -> ConflictView:
        record = record_or_404_by_node(conflict.record.project, conflict.record.node_id)
        last = revision_of_version(record, record.version)
        image = image_of(record)
        view = cls(
            node_id=record.node_id,
            actor=last.actor_name if last else _("Someone"),
            when=last.created_at if last else record.row_changed_at,
            current_version=record.version,
            theirs_url=record_url(record),
        )
        for name, bound in ((bound.name, bound) for bound in form):
            theirs_value = form.theirs(record, name) if hasattr(form, "theirs") else image.get(name)
            theirs, yours = as_text(theirs_value), as_text(form.cleaned_data.get(name))
            view.rows.append(
                ConflictRow(
                    name, str(bound.label), theirs, yours, theirs == yours, diff_of(theirs, yours), bound
                )
            )
        return view
