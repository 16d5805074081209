"""Pages of pitfalls."""

from __future__ import annotations

from typing import Any

from django.http import HttpRequest, HttpResponse
from django.http.response import HttpResponseBase
from django.shortcuts import render
from django.urls import reverse
from django.utils.translation import gettext as _
from django.views.decorators.http import require_http_methods, require_safe

from graph.pages import similar_context
from pitfalls import actions, queries
from pitfalls.filters import PitfallFilterSet
from pitfalls.forms import EncounterForm, PitfallForm, SeverityForm
from pitfalls.kind import PITFALL
from pitfalls.models import Pitfall
from projects.access import Capability, in_project
from projects.models import Project
from records.actor import Actor
from records.pages.detail import detail_context
from records.pages.editing import begun_with, expected_version, form_page, posted
from records.pages.listing import list_page
from records.pages.merged import led_away
from records.queries import record_or_404


@require_safe
@in_project()
def pitfall_list(request: HttpRequest, project: Project) -> HttpResponseBase:
    return list_page(
        request,
        project,
        PITFALL,
        PitfallFilterSet,
        "records/list.html",
        list_actions="pitfalls/_list_actions.html",
    )


@require_safe
@in_project()
def pitfall_detail(request: HttpRequest, project: Project, pk: int) -> HttpResponse:
    pitfall = record_or_404(project, PITFALL, pk)
    if elsewhere := led_away(request, pitfall):
        return elsewhere
    context = {
        **detail_context(request, pitfall),
        **similar_context(pitfall),
        "encounters": queries.encounters_of(pitfall),
        "severities": SeverityForm(initial={"severity": pitfall.severity}),
        "severity_field": "pitfalls/_severity_field.html",
        "edit_url": reverse("pitfalls:edit", args=[project.slug, pk]),
    }
    return render(request, "pitfalls/detail.html", context)


@require_http_methods(["GET", "POST"])
@in_project(Capability.WRITE)
def pitfall_create(request: HttpRequest, project: Project) -> HttpResponse:
    def act(cleaned: dict[str, Any]) -> Pitfall:
        return actions.create_pitfall(
            actor=Actor.person(request), project=project, reason=request.POST.get("reason", ""), **cleaned
        )

    begun = begun_with(request, "title", "category", "description", "how_to_avoid")
    return form_page(
        request, PitfallForm(posted(request), initial=begun), act, title=_("New pitfall"), with_reason=True,
        submit_label=_("Record the pitfall"), cancel_url=reverse("pitfalls:list", args=[project.slug]),
        done_text=lambda saved: _("Recorded %s") % saved.node_id,
    )  # fmt: skip


@require_http_methods(["GET", "POST"])
@in_project(Capability.WRITE)
def pitfall_edit(request: HttpRequest, project: Project, pk: int) -> HttpResponse:
    pitfall = record_or_404(project, PITFALL, pk)

    def act(cleaned: dict[str, Any]) -> Pitfall:
        return actions.edit_pitfall(
            actor=Actor.person(request), pitfall=pitfall, changes=cleaned,
            reason=request.POST.get("reason", ""), expected_version=expected_version(request),
        )  # fmt: skip

    return form_page(
        request, PitfallForm(posted(request), pitfall=pitfall), act, record=pitfall, title=_("Edit the pitfall"),
        with_reason=True, done_text=lambda saved: _("Saved %s") % saved.node_id,
    )  # fmt: skip


@require_http_methods(["GET", "POST"])
@in_project(Capability.WRITE)
def change_severity(request: HttpRequest, project: Project, pk: int) -> HttpResponse:
    pitfall = record_or_404(project, PITFALL, pk)
    form = SeverityForm(posted(request), initial={"severity": pitfall.severity})

    def act(cleaned: dict[str, Any]) -> Pitfall:
        return actions.change_severity(
            actor=Actor.person(request), pitfalls=[pitfall], severity=cleaned["severity"], reason=cleaned["reason"],
            expected_version=expected_version(request),
        ).record  # fmt: skip

    return form_page(
        request, form, act, record=pitfall, title=_("Change the severity"),
        done_text=lambda saved: f"{saved.node_id}: {saved.get_severity_display()}",
    )  # fmt: skip


@require_http_methods(["GET", "POST"])
@in_project(Capability.WRITE)
def meet_again(request: HttpRequest, project: Project, pk: int) -> HttpResponse:
    pitfall = record_or_404(project, PITFALL, pk)

    def act(cleaned: dict[str, Any]) -> Pitfall:
        return actions.meet_again(actor=Actor.person(request), pitfall=pitfall, note=cleaned["note"] or "")

    return form_page(
        request, EncounterForm(posted(request)), act, record=pitfall, title=_("Met again"),
        submit_label=_("Met again"),
        done_text=lambda saved: _("%(node)s was met %(count)s times")
        % {"node": saved.node_id, "count": saved.encountered_count},
    )  # fmt: skip
