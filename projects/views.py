"""The project page: who may see and write, agents' tokens, how an agent connects. And a new project."""

from __future__ import annotations

from typing import Any

from django.contrib import messages
from django.core.exceptions import PermissionDenied, ValidationError
from django.forms import BaseForm
from django.http import HttpRequest, HttpResponse
from django.shortcuts import get_object_or_404, render
from django.urls import reverse
from django.utils.translation import gettext as _
from django.views.decorators.cache import never_cache
from django.views.decorators.http import require_http_methods, require_POST, require_safe

from projects import actions, naming, policies, queries, snippets
from projects.access import Capability, in_project
from projects.account_forms import InvitationForm
from projects.forms import (
    AddMemberForm,
    AliasForm,
    PolicyForm,
    ProjectForm,
    RenameForm,
    RoleForm,
    TokenForm,
    add_errors,
)
from projects.manager import Manager
from projects.models import AgentToken, Project, ProjectAlias, Role
from projects.responses import SeeOther


@require_safe
@in_project()
def settings_page(request: HttpRequest, project: Project) -> HttpResponse:
    """Viewers see who is in; tokens, forms and the log of changes are for admins."""
    return project_page(request, project)


@require_POST
@in_project(Capability.MANAGE)
def rename(request: HttpRequest, project: Project) -> HttpResponse:
    form = RenameForm(request.POST)
    if form.is_valid():
        try:
            project = naming.rename_project(by=Manager.person(request), project=project, **form.cleaned_data)
        except ValidationError as error:
            add_errors(form, error)
        else:
            return saved(request, project, _("Renamed"))
    return project_page(request, project, status=422, rename_form=form)


@require_POST
@in_project(Capability.MANAGE)
def add_alias(request: HttpRequest, project: Project) -> HttpResponse:
    form = AliasForm(request.POST)
    if form.is_valid():
        try:
            alias = naming.add_alias(
                by=Manager.person(request), project=project, name=form.cleaned_data["name"]
            )
        except ValidationError as error:
            form.add_error("name", [*error.messages])
        else:
            return saved(request, project, _("Also called %s") % alias)
    return project_page(request, project, status=422, alias_form=form)


@require_POST
@in_project(Capability.MANAGE)
def remove_alias(request: HttpRequest, project: Project, alias_id: int) -> HttpResponse:
    alias = get_object_or_404(ProjectAlias, pk=alias_id, project=project)
    naming.remove_alias(by=Manager.person(request), project=project, alias=alias)
    return saved(request, project, _("No longer called %s") % alias)


@require_POST
@in_project(Capability.MANAGE)
def change_policy(request: HttpRequest, project: Project) -> HttpResponse:
    # A form of its own instance: checking it must not change the policy that is shown again beside its errors.
    form = PolicyForm(request.POST, instance=queries.policy_of(project.pk))
    if form.is_valid():
        try:
            policies.change_policy(
                by=Manager.person(request),
                project=project,
                changes=form.changes(),
                reason=form.cleaned_data["reason"],
            )
        except ValidationError as error:
            add_errors(form, error)
        else:
            return saved(request, project, _("The policy is saved"))
    return project_page(request, project, status=422, policy_form=form)


@require_POST
@in_project(Capability.MANAGE)
def add_member(request: HttpRequest, project: Project) -> HttpResponse:
    form = AddMemberForm(request.POST)
    if form.is_valid():
        user, role = form.cleaned_data["username"], form.cleaned_data["role"]
        try:
            actions.add_member(by=Manager.person(request), project=project, user=user, role=role)
        except ValidationError as error:
            add_errors(form, error)
        else:
            return saved(
                request, project, _("%(user)s is in, as %(role)s") % {"user": user, "role": Role(role).label}
            )
    return project_page(request, project, status=422, member_form=form)


@require_POST
@in_project(Capability.MANAGE)
def change_role(request: HttpRequest, project: Project, member_id: int) -> HttpResponse:
    member = queries.member_or_404(project, member_id)
    form = RoleForm(request.POST)
    if not form.is_valid():
        return _refused(request, project, ValidationError(form.errors.as_data()))
    try:
        actions.change_role(by=Manager.person(request), member=member, role=form.cleaned_data["role"])
    except ValidationError as error:
        return _refused(request, project, error)
    return saved(
        request,
        project,
        _("%(user)s is now %(role)s") % {"user": member.user, "role": member.get_role_display()},
    )


@require_POST
@in_project(Capability.MANAGE)
def remove_member(request: HttpRequest, project: Project, member_id: int) -> HttpResponse:
    member = queries.member_or_404(project, member_id)
    try:
        actions.remove_member(by=Manager.person(request), member=member)
    except ValidationError as error:
        return _refused(request, project, error)
    return saved(request, project, _("%s is out of this project") % member.user)


@never_cache
@require_POST
@in_project(Capability.MANAGE)
def create_token(request: HttpRequest, project: Project) -> HttpResponse:
    """Answers with the token's text in the page itself: it is in no address, no cookie and no log."""
    form = TokenForm(request.POST)
    if not form.is_valid():
        return project_page(request, project, status=422, token_form=form)
    try:
        token, text = actions.create_token(by=Manager.person(request), project=project, **form.cleaned_data)
    except ValidationError as error:
        add_errors(form, error)
        return project_page(request, project, status=422, token_form=form)
    return project_page(
        request, project, status=201, new_token=token, export_command=snippets.export_command(text)
    )


@require_POST
@in_project(Capability.MANAGE)
def revoke_token(request: HttpRequest, project: Project, token_id: int) -> HttpResponse:
    token = get_object_or_404(AgentToken, pk=token_id, projects=project)
    actions.revoke_token(by=Manager.person(request), project=project, token=token)
    return saved(request, project, _("Revoked %s. Its next call is refused.") % token)


@require_http_methods(["GET", "POST"])
def new_project(request: HttpRequest) -> HttpResponse:
    """For operators."""
    if not request.access.everywhere:  # type: ignore[attr-defined]
        raise PermissionDenied
    form = ProjectForm(request.POST if request.method == "POST" else None)
    if form.is_bound and form.is_valid():
        try:
            project = actions.create_project(by=Manager.person(request), **form.cleaned_data)
        except ValidationError as error:
            add_errors(form, error)
        else:
            return SeeOther(reverse("projects:settings", args=[project.slug]))
    return render(request, "projects/new.html", {"form": form}, status=422 if form.is_bound else 200)


def project_page(request: HttpRequest, project: Project, status: int = 200, **forms: Any) -> HttpResponse:
    """The whole page, with these forms in place of empty ones."""
    manages = request.access.may(project.pk, Capability.MANAGE)  # type: ignore[attr-defined]
    address = snippets.address_of(request)
    policy = queries.policy_of(project.pk)
    context: dict[str, Any] = {
        "project": project,
        "manages": manages,
        "members": queries.members_of(project),
        "roles": Role.choices,
        "policy": queries.policy_rows(policy),
        "write_command": snippets.write_command(address, project),
        "import_command": snippets.import_command(project),
        "token_command": snippets.token_command(project),
    }
    if manages:
        empty: dict[str, BaseForm] = {
            "rename_form": RenameForm(
                initial={"name": project.name, "slug": project.slug}, auto_id="rename_%s"
            ),
            "alias_form": AliasForm(auto_id="alias_%s"),
            "member_form": AddMemberForm(auto_id="member_%s"),
            "token_form": TokenForm(auto_id="token_%s"),
            "invitation_form": InvitationForm(auto_id="invite_%s"),
        }
        if "policy_form" not in forms:
            empty["policy_form"] = PolicyForm(instance=policy, auto_id="policy_%s")
        context |= {
            "tokens": queries.tokens_of(project),
            "events": queries.access_events_of(project),
            "aliases": queries.aliases_of(project),
            "invitations": queries.invitations_of(project),
            **empty,
        }
    return render(request, "projects/settings.html", {**context, **forms}, status=status)


def saved(request: HttpRequest, project: Project, text: str) -> HttpResponse:
    messages.success(request, text)
    return SeeOther(reverse("projects:settings", args=[project.slug]))


def _refused(request: HttpRequest, project: Project, error: ValidationError) -> HttpResponse:
    for text in error.messages:
        messages.error(request, text)
    return SeeOther(reverse("projects:settings", args=[project.slug]))
