"""Pages of patterns."""

from __future__ import annotations

from typing import Any

from django.http import HttpRequest, HttpResponse
from django.http.response import HttpResponseBase
from django.shortcuts import render
from django.urls import reverse
from django.utils.translation import gettext as _
from django.views.decorators.http import require_http_methods, require_safe

from graph.pages import similar_context
from patterns import actions
from patterns.filters import PatternFilterSet
from patterns.forms import ConfidenceForm, EvidenceForm, NewPatternForm, PatternForm, RetireForm
from patterns.kind import PATTERN
from patterns.models import Pattern
from patterns.pages import confidence_context
from projects.access import Capability, in_project
from projects.models import Project
from records.actor import Actor
from records.forms import ReasonForm
from records.pages.detail import detail_context
from records.pages.editing import expected_version, form_page, posted
from records.pages.listing import list_page
from records.pages.merged import led_away
from records.queries import record_or_404


@require_safe
@in_project()
def pattern_list(request: HttpRequest, project: Project) -> HttpResponseBase:
    return list_page(
        request,
        project,
        PATTERN,
        PatternFilterSet,
        "records/list.html",
        list_actions="patterns/_list_actions.html",
    )


@require_safe
@in_project()
def pattern_detail(request: HttpRequest, project: Project, pk: int) -> HttpResponse:
    pattern = record_or_404(project, PATTERN, pk)
    if elsewhere := led_away(request, pattern):
        return elsewhere
    context = {
        **detail_context(request, pattern),
        **similar_context(pattern),
        **confidence_context(pattern),
        "confidence_form": ConfidenceForm(pattern=pattern),
        "edit_url": reverse("patterns:edit", args=[project.slug, pk]),
        "retire_url": reverse("patterns:retire", args=[project.slug, pk]),
        "unretire_url": reverse("patterns:unretire", args=[project.slug, pk]),
    }
    return render(request, "patterns/detail.html", context)


@require_http_methods(["GET", "POST"])
@in_project(Capability.WRITE)
def pattern_create(request: HttpRequest, project: Project) -> HttpResponse:
    def act(cleaned: dict[str, Any]) -> Pattern:
        return actions.create_pattern(
            actor=Actor.person(request), project=project, reason=request.POST.get("reason", ""), **cleaned
        )

    return form_page(
        request, NewPatternForm(posted(request)), act, title=_("New pattern"), with_reason=True,
        submit_label=_("Record the pattern"), cancel_url=reverse("patterns:list", args=[project.slug]),
        done_text=lambda saved: _("Recorded %s") % saved.node_id,
    )  # fmt: skip


@require_http_methods(["GET", "POST"])
@in_project(Capability.WRITE)
def pattern_edit(request: HttpRequest, project: Project, pk: int) -> HttpResponse:
    pattern = record_or_404(project, PATTERN, pk)

    def act(cleaned: dict[str, Any]) -> Pattern:
        return actions.edit_pattern(
            actor=Actor.person(request), pattern=pattern, changes=cleaned,
            reason=request.POST.get("reason", ""), expected_version=expected_version(request),
        )  # fmt: skip

    return form_page(
        request, PatternForm(posted(request), pattern=pattern), act, record=pattern, title=_("Edit the pattern"),
        with_reason=True, done_text=lambda saved: _("Saved %s") % saved.node_id,
    )  # fmt: skip


@require_http_methods(["GET", "POST"])
@in_project(Capability.REVIEW)
def adjust_confidence(request: HttpRequest, project: Project, pk: int) -> HttpResponse:
    pattern = record_or_404(project, PATTERN, pk)
    form = ConfidenceForm(posted(request), pattern=pattern)

    def act(cleaned: dict[str, Any]) -> Pattern:
        return actions.adjust_confidence(
            actor=Actor.person(request), pattern=pattern, confidence=cleaned["confidence"], weight=cleaned["weight"],
            reason=cleaned["reason"], expected_version=expected_version(request),
        )  # fmt: skip

    return form_page(
        request, form, act, record=pattern, title=_("Adjust the confidence"), submit_label=_("Adjust"),
        done_text=lambda saved: _("The confidence of %(node)s is now %(value).2f")
        % {"node": saved.node_id, "value": saved.confidence_score},
    )  # fmt: skip


def _vote(request: HttpRequest, project: Project, pk: int, worked: bool, title: str) -> HttpResponse:
    pattern = record_or_404(project, PATTERN, pk)

    def act(cleaned: dict[str, Any]) -> Pattern:
        return actions.record_evidence(
            actor=Actor.person(request), pattern=pattern, worked=worked, note=cleaned["note"] or ""
        )

    return form_page(
        request, EvidenceForm(posted(request)), act, record=pattern, title=title, submit_label=title,
        done_text=lambda saved: _("The confidence of %(node)s is now %(value).2f")
        % {"node": saved.node_id, "value": saved.confidence_score},
    )  # fmt: skip


@require_http_methods(["GET", "POST"])
@in_project(Capability.WRITE)
def worked(request: HttpRequest, project: Project, pk: int) -> HttpResponse:
    return _vote(request, project, pk, True, _("It worked"))


@require_http_methods(["GET", "POST"])
@in_project(Capability.WRITE)
def failed(request: HttpRequest, project: Project, pk: int) -> HttpResponse:
    return _vote(request, project, pk, False, _("It failed"))


@require_http_methods(["GET", "POST"])
@in_project(Capability.WRITE)
def retire(request: HttpRequest, project: Project, pk: int) -> HttpResponse:
    pattern = record_or_404(project, PATTERN, pk)

    def act(cleaned: dict[str, Any]) -> Pattern:
        return actions.retire_pattern(
            actor=Actor.person(request), pattern=pattern, reason=cleaned["reason"],
            expected_version=expected_version(request),
        )  # fmt: skip

    return form_page(
        request, RetireForm(posted(request)), act, record=pattern, title=_("Retire the pattern"),
        submit_label=_("Retire"), done_text=lambda saved: _("Retired %s") % saved.node_id,
    )  # fmt: skip


@require_http_methods(["GET", "POST"])
@in_project(Capability.WRITE)
def unretire(request: HttpRequest, project: Project, pk: int) -> HttpResponse:
    pattern = record_or_404(project, PATTERN, pk)

    def act(cleaned: dict[str, Any]) -> Pattern:
        return actions.unretire_pattern(
            actor=Actor.person(request), pattern=pattern, reason=cleaned["reason"],
            expected_version=expected_version(request),
        )  # fmt: skip

    return form_page(
        request, ReasonForm(posted(request)), act, record=pattern, title=_("Take the pattern back into use"),
        submit_label=_("Take back"), done_text=lambda saved: _("%s is in use again") % saved.node_id,
    )  # fmt: skip
