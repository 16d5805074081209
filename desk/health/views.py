"""How the desk is doing, and the few things that a person does about it. Each act is noted in the records' history."""

from __future__ import annotations

from typing import Any

from django.contrib import messages
from django.http import HttpRequest, HttpResponse
from django.shortcuts import render
from django.urls import reverse
from django.utils.translation import gettext as _
from django.utils.translation import ngettext
from django.views.decorators.cache import never_cache
from django.views.decorators.http import require_POST, require_safe

from desk.health.counts import start_count
from desk.health.forms import ProjectAgainForm, RetryForm
from desk.health.page import Health
from projects.access import for_managers
from projects.responses import SeeOther
from records.actor import Actor
from records.errors import InvalidInput
from records.pages.editing import add_errors
from records.projection import project_again as ask_for
from records.projection import retry_dead


@never_cache
@require_safe
@for_managers
def page(request: HttpRequest) -> HttpResponse:
    """What is wrong first, then what is."""
    return _page(request)


@require_POST
@for_managers
def retry(request: HttpRequest) -> HttpResponse:
    """One record that was given up, or with no `node_id` all of them."""
    form = RetryForm(request.POST)
    if not form.is_valid():
        return _page(request, status=422)
    node_id, reason = form.cleaned_data["node_id"], form.cleaned_data["reason"]
    try:
        count = retry_dead(
            actor=Actor.person(request), node_ids=[node_id] if node_id else None, reason=reason
        )
    except InvalidInput as error:
        return _refused(request, error)
    said = ngettext("%d record is tried again", "%d records are tried again", count) % count
    messages.success(request, said if count else _("Nothing was given up any more"))
    return SeeOther(reverse("health:page"))


@require_POST
@for_managers
def project_again(request: HttpRequest) -> HttpResponse:
    """Embed and show one record anew, though nothing says that it differs."""
    form = ProjectAgainForm(request.POST)
    if form.is_valid():
        try:
            found = ask_for(
                form.cleaned_data["node_id"], actor=Actor.person(request), reason=form.cleaned_data["reason"]
            )
        except InvalidInput as error:
            add_errors(form, error)
        else:
            if found:
                messages.success(request, _("%s is embedded and shown again") % form.cleaned_data["node_id"])
                return SeeOther(reverse("health:page"))
            form.add_error("node_id", _("There is no such record in a project that you manage."))
    return _page(request, status=422, again_form=form)


@require_POST
@for_managers
def count(request: HttpRequest) -> HttpResponse:
    """Compare everything, in the background; the page shows it with its time."""
    if not start_count(request.user.get_username()):
        messages.info(request, _("Somebody is counting already"))
    return SeeOther(reverse("health:page") + "#counted")


def _page(
    request: HttpRequest, status: int = 200, again_form: ProjectAgainForm | None = None
) -> HttpResponse:
    context: dict[str, Any] = {
        "health": Health(request.access),  # type: ignore[attr-defined]
        "again_form": again_form or ProjectAgainForm(),
    }
    return render(request, "desk/health.html", context, status=status)


def _refused(request: HttpRequest, error: InvalidInput) -> HttpResponse:
    for found in error.errors.values():
        for text in found:
            messages.error(request, text)
    return SeeOther(reverse("health:page"))
