"""Inviting on the project page, and the page that an invitation's link opens."""

from __future__ import annotations

from typing import Any

from django.conf import settings
from django.contrib import messages
from django.contrib.auth import login
from django.contrib.auth.decorators import login_not_required
from django.core.exceptions import ValidationError
from django.http import HttpRequest, HttpResponse
from django.shortcuts import get_object_or_404, render
from django.urls import reverse
from django.utils.translation import gettext as _
from django.views.decorators.cache import never_cache
from django.views.decorators.http import require_http_methods, require_POST

from projects import invitations
from projects.access import Capability, in_project
from projects.account_forms import InvitationForm, JoinForm
from projects.account_views import PASSWORD_BACKEND
from projects.call_counts import seconds_to_wait
from projects.forms import add_errors
from projects.manager import Manager
from projects.models import Invitation, Project, User
from projects.queries import invitation_of
from projects.responses import SeeOther
from projects.throttle import client_address
from projects.views import project_page, saved

JOINS_A_MINUTE = 20  # of one address


@never_cache
@require_POST
@in_project(Capability.MANAGE)
def invite(request: HttpRequest, project: Project) -> HttpResponse:
    """Answers with the link in the page itself: it is shown once."""
    form = InvitationForm(request.POST, auto_id="invite_%s")
    if form.is_valid():
        asked = form.cleaned_data
        try:
            made, text = invitations.invite(
                by=Manager.person(request), project=project, role=asked["role"], note_text=asked["note"],
                days=asked["days"],
            )  # fmt: skip
        except ValidationError as error:
            add_errors(form, error)
        else:
            link = f"{settings.SITE_URL}{reverse('invitation', args=[text])}"
            return project_page(request, project, status=201, new_invitation=made, invitation_link=link)
    return project_page(request, project, status=422, invitation_form=form)


@require_POST
@in_project(Capability.MANAGE)
def withdraw(request: HttpRequest, project: Project, invitation_id: int) -> HttpResponse:
    invitation = get_object_or_404(Invitation, pk=invitation_id, project=project)
    if invitations.withdraw(by=Manager.person(request), invitation=invitation):
        return saved(request, project, _("The invitation is withdrawn. Its link no longer works."))
    return saved(request, project, _("That invitation was used or withdrawn before."))


@login_not_required
@never_cache
@require_http_methods(["GET", "HEAD", "POST"])
def invitation(request: HttpRequest, text: str) -> HttpResponse:
    """A button for those who are signed in, else a form for the new account."""
    found = invitation_of(text)
    if found is None:
        return render(request, "registration/invitation.html", status=410)
    form = JoinForm(request.POST if request.method == "POST" and not request.user.is_authenticated else None)
    if request.method == "POST":
        if seconds_to_wait(f"join {client_address(request)}", JOINS_A_MINUTE):
            return render(request, "429.html", status=429)
        try:
            answer = _accept(request, text, form)
        except ValidationError as error:
            add_errors(form, error)
        else:
            if answer is not None:
                return answer
    status = 422 if form.is_bound or request.method == "POST" else 200
    return render(request, "registration/invitation.html", {"invitation": found, "form": form}, status=status)


def _accept(request: HttpRequest, text: str, form: JoinForm) -> HttpResponse | None:
    request_id = getattr(request, "request_id", "")
    if isinstance(request.user, User):
        project = invitations.accept(text=text, user=request.user, request_id=request_id)
    elif form.is_valid():
        asked: dict[str, Any] = form.cleaned_data
        user, project = invitations.accept_with_new_account(
            text=text, username=asked["username"], password=asked["password"], request_id=request_id
        )
        login(request, user, backend=PASSWORD_BACKEND)
    else:
        return None
    messages.success(request, _("You are in %s.") % project)
    return SeeOther(project.get_absolute_url())
