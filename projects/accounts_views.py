"""The accounts of the desk, for operators; a member's new password, for admins; one's own preferences."""

from __future__ import annotations

from typing import Any

from django.conf import settings
from django.contrib import messages
from django.core.exceptions import PermissionDenied, ValidationError
from django.http import HttpRequest, HttpResponse
from django.shortcuts import get_object_or_404, render
from django.urls import reverse
from django.utils.http import url_has_allowed_host_and_scheme
from django.utils.translation import gettext as _
from django.views.decorators.cache import never_cache
from django.views.decorators.http import require_http_methods, require_POST, require_safe

from projects import accounts
from projects.access import Capability, for_operators, in_project
from projects.account_forms import AccountForm, PreferencesForm, ThemeForm, offered_zones
from projects.forms import add_errors
from projects.manager import Manager
from projects.models import Project, User
from projects.queries import ACCOUNTS_SHOWN, accounts_found, member_or_404
from projects.responses import SeeOther
from projects.views import project_page


@require_safe
@for_operators
def accounts_page(request: HttpRequest) -> HttpResponse:
    return _page(request)


@never_cache
@require_POST
@for_operators
def make(request: HttpRequest) -> HttpResponse:
    form = AccountForm(request.POST)
    if form.is_valid():
        try:
            user, link = accounts.create_account_with_link(by=Manager.person(request), **form.cleaned_data)
        except ValidationError as error:
            add_errors(form, error)
        else:
            return _page(request, status=201, link_user=user, link=f"{settings.SITE_URL}{link}")
    return _page(request, status=422, form=form)


@never_cache
@require_POST
@for_operators
def reset(request: HttpRequest, user_id: int) -> HttpResponse:
    user = get_object_or_404(User, pk=user_id)
    try:
        link = accounts.reset_link(by=Manager.person(request), user=user)
    except ValidationError as error:
        return _refused(request, error)
    return _page(request, status=201, link_user=user, link=f"{settings.SITE_URL}{link}")


@never_cache
@require_POST
@in_project(Capability.MANAGE)
def reset_member(request: HttpRequest, project: Project, member_id: int) -> HttpResponse:
    """For admins of all the projects that the member is in."""
    member = member_or_404(project, member_id)
    try:
        link = accounts.reset_link(by=Manager.person(request), user=member.user)
    except (PermissionDenied, ValidationError) as error:
        messages.error(request, str(error) if isinstance(error, PermissionDenied) else error.messages[0])
        return SeeOther(reverse("projects:settings", args=[project.slug]))
    return project_page(
        request, project, status=201, link_user=member.user, reset_link=f"{settings.SITE_URL}{link}"
    )


@require_POST
@for_operators
def deactivate(request: HttpRequest, user_id: int) -> HttpResponse:
    user = get_object_or_404(User, pk=user_id)
    try:
        accounts.deactivate(by=Manager.person(request), user=user, reason=request.POST.get("reason", ""))
    except ValidationError as error:
        return _refused(request, error)
    messages.success(request, _("%s is deactivated and signed out everywhere.") % user)
    return SeeOther(reverse("accounts"))


@require_POST
@for_operators
def reactivate(request: HttpRequest, user_id: int) -> HttpResponse:
    user = get_object_or_404(User, pk=user_id)
    accounts.reactivate(by=Manager.person(request), user=user)
    messages.success(request, _("%s may sign in again.") % user)
    return SeeOther(reverse("accounts"))


@require_http_methods(["GET", "POST"])
def preferences(request: HttpRequest) -> HttpResponse:
    """One's own time zone, looks, address and digest."""
    user: Any = request.user
    form = PreferencesForm(request.POST if request.method == "POST" else None, instance=user)
    if form.is_bound and form.is_valid():
        accounts.keep_preferences(user, **form.cleaned_data)
        messages.success(request, _("Your account is saved"))
        return SeeOther(reverse("preferences"))
    if form.is_bound:
        user.refresh_from_db()  # the page is drawn in what was kept
    context = {"form": form, "zones": offered_zones()}
    return render(request, "registration/preferences.html", context, status=422 if form.is_bound else 200)


@require_POST
def choose_theme(request: HttpRequest) -> HttpResponse:
    """From the menu of any page, and back to it; a script that has applied it already is told nothing."""
    user: Any = request.user
    form = ThemeForm(request.POST, instance=user)
    if form.is_valid():
        accounts.keep_preferences(user, **form.cleaned_data)
    else:
        messages.error(request, _("There is no such theme."))
    if request.htmx:  # type: ignore[attr-defined]
        return HttpResponse(status=204 if form.is_valid() else 422)
    back = request.POST.get("next", "")
    ours = url_has_allowed_host_and_scheme(back, {request.get_host()}, require_https=request.is_secure())
    return SeeOther(back if ours and back.startswith("/") else reverse("preferences"))


def _page(request: HttpRequest, status: int = 200, **more: Any) -> HttpResponse:
    words = request.GET.get("q", "").replace("\x00", "")[:200]
    found = list(accounts_found(words)[: ACCOUNTS_SHOWN + 1])
    context = {
        "accounts": found[:ACCOUNTS_SHOWN],
        "more": len(found) > ACCOUNTS_SHOWN,
        "words": words,
        "form": AccountForm(),
        **more,
    }
    return render(request, "projects/accounts.html", context, status=status)


def _refused(request: HttpRequest, error: ValidationError) -> HttpResponse:
    for text in error.messages:
        messages.error(request, text)
    return SeeOther(reverse("accounts"))
