"""Pages of decisions and outcomes."""

from __future__ import annotations

from typing import Any

from django.http import HttpRequest, HttpResponse
from django.http.response import HttpResponseBase
from django.shortcuts import render
from django.urls import reverse
from django.utils.translation import gettext as _
from django.views.decorators.http import require_http_methods, require_POST, require_safe

from decisions import actions, queries
from decisions.filters import DecisionFilterSet, OutcomeFilterSet
from decisions.forms import ContradictForm, DecisionForm, OutcomeForm, StatusForm, SupersedeForm
from decisions.imported import settle_conflict
from decisions.kind import DECISION, OUTCOME
from decisions.models import Decision, Status
from decisions.pages import conflict_context, document_facts
from graph.pages import similar_context
from projects.access import Capability, in_project
from projects.models import Project
from records.actor import Actor
from records.acts import one_act
from records.errors import Conflict, InvalidInput, Refused
from records.pages.detail import detail_context
from records.pages.editing import begun_with, done, expected_version, form_page, posted, refused
from records.pages.listing import list_page
from records.pages.merged import led_away
from records.pages.rows import record_url, row_of
from records.queries import record_or_404, records_by_node_id

OUTCOMES_SHOWN = 20


@require_safe
@in_project()
def decision_list(request: HttpRequest, project: Project) -> HttpResponseBase:
    return list_page(
        request, project, DECISION, DecisionFilterSet, "decisions/list.html",
        empty_template="decisions/_empty.html", list_actions="decisions/_list_actions.html",
    )  # fmt: skip


@require_safe
@in_project()
def decision_detail(request: HttpRequest, project: Project, pk: int) -> HttpResponse:
    decision = record_or_404(project, DECISION, pk)
    if elsewhere := led_away(request, decision):
        return elsewhere
    outcomes = [row_of(outcome) for outcome in queries.outcomes_of(decision, OUTCOMES_SHOWN + 1)]
    context = {
        **detail_context(request, decision),
        **similar_context(decision),
        **conflict_context(decision),
        "outcomes": outcomes[:OUTCOMES_SHOWN],
        "more_outcomes": len(outcomes) > OUTCOMES_SHOWN,
        "edit_url": reverse("decisions:edit", args=[project.slug, pk]),
        "status_fields": "decisions/_status_field.html",
        "statuses": Status.choices,
    }
    context["provenance"] += document_facts(decision)
    return render(request, "decisions/detail.html", context)


@require_POST
@in_project(Capability.WRITE)
def settle_import(request: HttpRequest, project: Project, pk: int) -> HttpResponse:
    """Edited here and changed in its document: which of the two holds."""
    decision = record_or_404(project, DECISION, pk)
    try:
        with one_act() as act:
            saved = settle_conflict(
                actor=Actor.person(request), decision=decision, choice=request.POST.get("choice", ""),
                reason=request.POST.get("reason", ""), expected_version=expected_version(request),
            )  # fmt: skip
    except InvalidInput as error:
        return refused(request, error, record_url(decision))
    except Conflict as error:
        return refused(request, Refused(str(error), decision.node_id), record_url(decision))
    return done(request, _("Settled %s") % saved.node_id, record_url(saved), act)


@require_http_methods(["GET", "POST"])
@in_project(Capability.WRITE)
def decision_create(request: HttpRequest, project: Project) -> HttpResponse:
    form = DecisionForm(posted(request), begun=begun_with(request, "title", "decision", "rationale"))

    def act(cleaned: dict[str, Any]) -> Decision:
        return actions.create_decision(
            actor=Actor.person(request),
            project=project,
            reason=request.POST.get("reason", ""),
            **form.changes(),
        )

    return form_page(
        request, form, act, title=_("New decision"), with_reason=True, submit_label=_("Record the decision"),
        cancel_url=reverse("decisions:list", args=[project.slug]),
        done_text=lambda saved: _("Recorded %s") % saved.node_id,
    )  # fmt: skip


@require_http_methods(["GET", "POST"])
@in_project(Capability.WRITE)
def decision_edit(request: HttpRequest, project: Project, pk: int) -> HttpResponse:
    decision = record_or_404(project, DECISION, pk)
    form = DecisionForm(posted(request), decision=decision)

    def act(cleaned: dict[str, Any]) -> Decision:
        return actions.edit_decision(
            actor=Actor.person(request), decision=decision, changes=form.changes(),
            reason=request.POST.get("reason", ""), expected_version=expected_version(request),
        )  # fmt: skip

    return form_page(
        request, form, act, record=decision, title=_("Edit the decision"), with_reason=True,
        done_text=lambda saved: _("Saved %s") % saved.node_id,
    )  # fmt: skip


@require_http_methods(["GET", "POST"])
@in_project(Capability.WRITE)
def change_status(request: HttpRequest, project: Project, pk: int) -> HttpResponse:
    decision = record_or_404(project, DECISION, pk)
    form = StatusForm(posted(request), initial={"status": decision.status})

    def act(cleaned: dict[str, Any]) -> Decision:
        return actions.change_status(
            actor=Actor.person(request), decisions=[decision], status=cleaned["status"], reason=cleaned["reason"],
            expected_version=expected_version(request),
        ).record  # fmt: skip

    return form_page(
        request, form, act, record=decision, title=_("Change the status"),
        done_text=lambda saved: f"{saved.node_id}: {saved.get_status_display()}",
    )  # fmt: skip


@require_http_methods(["GET", "POST"])
@in_project(Capability.WRITE)
def supersede(request: HttpRequest, project: Project, pk: int) -> HttpResponse:
    decision = record_or_404(project, DECISION, pk)
    form = SupersedeForm(posted(request), initial={"by": request.GET.get("by", "")})

    def act(cleaned: dict[str, Any]) -> Decision:
        by = _other(project, cleaned["by"], "by", decision) if cleaned["by"] else None
        if by is not None and not isinstance(by, Decision):
            raise InvalidInput({"by": [_("Only a decision can supersede a decision.")]}, decision.node_id)
        return actions.supersede(
            actor=Actor.person(request), decision=decision, by=by, reason=cleaned["reason"],
            expected_version=expected_version(request),
        )  # fmt: skip

    return form_page(
        request, form, act, record=decision, title=_("Supersede the decision"), submit_label=_("Supersede"),
        done_text=lambda saved: _("%s is superseded") % saved.node_id,
    )  # fmt: skip


@require_http_methods(["GET", "POST"])
@in_project(Capability.WRITE)
def contradict(request: HttpRequest, project: Project, pk: int) -> HttpResponse:
    decision = record_or_404(project, DECISION, pk)
    form = ContradictForm(posted(request), initial={"other": request.GET.get("other", "")})

    def act(cleaned: dict[str, Any]) -> Decision:
        other = _other(project, cleaned["other"], "other", decision)
        actions.contradict(
            actor=Actor.person(request), decision=decision, other=other, reason=cleaned["reason"]
        )
        return decision

    return form_page(
        request, form, act, record=decision, title=_("Say what it contradicts"), submit_label=_("Contradicts"),
        done_text=lambda saved: _("The contradiction of %s is recorded") % saved.node_id,
    )  # fmt: skip


def _other(project: Project, node_id: str, field: str, decision: Decision) -> Any:
    other = records_by_node_id([node_id.strip()], [project.pk]).get(node_id.strip())
    if other is None:
        raise InvalidInput({field: [_("There is no such record in this project.")]}, decision.node_id)
    return other


@require_http_methods(["GET", "POST"])
@in_project(Capability.WRITE)
def record_outcome(request: HttpRequest, project: Project, pk: int) -> HttpResponse:
    decision = record_or_404(project, DECISION, pk)
    form = OutcomeForm(posted(request), begun=begun_with(request, "type", "note"))

    def act(cleaned: dict[str, Any]) -> Decision:
        actions.record_outcome(actor=Actor.person(request), decision=decision, **form.changes())
        return decision

    return form_page(
        request, form, act, record=decision, title=_("Record an outcome"), submit_label=_("Record the outcome"),
        done_text=lambda saved: _("Recorded what followed %s") % saved.node_id,
    )  # fmt: skip


@require_safe
@in_project()
def outcome_list(request: HttpRequest, project: Project) -> HttpResponseBase:
    return list_page(
        request,
        project,
        OUTCOME,
        OutcomeFilterSet,
        "records/list.html",
        empty_template="decisions/_empty_outcomes.html",
    )


@require_safe
@in_project()
def outcome_detail(request: HttpRequest, project: Project, pk: int) -> HttpResponse:
    outcome = record_or_404(project, OUTCOME, pk)
    context = {
        **detail_context(request, outcome),
        **similar_context(outcome),
        "decision_row": row_of(outcome.decision) if outcome.decision.project_id == project.pk else None,
        "edit_url": reverse("decisions:outcome_edit", args=[project.slug, pk]),
    }
    return render(request, "decisions/outcome.html", context)


@require_http_methods(["GET", "POST"])
@in_project(Capability.WRITE)
def outcome_edit(request: HttpRequest, project: Project, pk: int) -> HttpResponse:
    outcome = record_or_404(project, OUTCOME, pk)
    form = OutcomeForm(posted(request), outcome=outcome)

    def act(cleaned: dict[str, Any]) -> Any:
        return actions.edit_outcome(
            actor=Actor.person(request), outcome=outcome, changes=form.changes(),
            reason=request.POST.get("reason", ""), expected_version=expected_version(request),
        )  # fmt: skip

    return form_page(
        request, form, act, record=outcome, title=_("Edit the outcome"), with_reason=True,
        done_text=lambda saved: _("Saved %s") % saved.node_id,
    )  # fmt: skip
