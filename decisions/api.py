"""Decisions and outcomes for agents: thin over actions and queries."""

from __future__ import annotations

from collections.abc import Sequence
from datetime import datetime
from typing import Any

from django.utils.translation import gettext_lazy as _
from drf_spectacular.utils import OpenApiExample, extend_schema, extend_schema_field, extend_schema_view
from rest_framework import serializers
from rest_framework.decorators import action
from rest_framework.request import Request
from rest_framework.response import Response

from decisions import actions
from decisions.filters import DecisionFilterSet, OutcomeFilterSet
from decisions.kind import DECISION, OUTCOME
from decisions.models import OUTCOME_TYPES, Decision, Outcome, Precision, Status
from decisions.queries import successors_of
from projects.models import Project
from records.api.fields import Choice, Line, Moment, Number, Tags, Text, in_utc, midnight
from records.api.schema import record_schema
from records.api.serializers import (
    Became,
    BriefSerializer,
    Changes,
    New,
    RecordSerializer,
    StrictSerializer,
    reason_field,
    version_field,
)
from records.api.viewsets import RecordViewSet
from records.checks import Reason

TYPES = ", ".join(name for name, _label in OUTCOME_TYPES)


class DecisionSerializer(RecordSerializer):
    title = serializers.CharField(read_only=True)
    decision = serializers.CharField(read_only=True)
    rationale = serializers.CharField(read_only=True, allow_null=True)
    alternatives_considered = serializers.CharField(read_only=True, allow_null=True)
    status = serializers.ChoiceField(choices=Status.choices, read_only=True)
    status_written = serializers.CharField(read_only=True, allow_null=True)
    decided_at = serializers.SerializerMethodField()
    superseded_by = serializers.SerializerMethodField(
        help_text=_("What replaced a superseded decision; empty where nobody knows.")
    )

    @extend_schema_field(Moment(days=True, allow_null=True))
    def get_decided_at(self, decision: Decision) -> str | None:
        if decision.decided_at is not None and decision.decided_precision == Precision.DAY:
            return decision.decided_at.date().isoformat()
        return in_utc(decision.decided_at)

    @extend_schema_field(BriefSerializer(many=True))
    def get_superseded_by(self, decision: Decision) -> list[dict[str, Any]]:
        return self.context["successors"].get(decision.node_id, [])


class WrittenDecision(Became, DecisionSerializer):
    pass


class _DecisionFields(serializers.Serializer[Any]):
    title = Line(required=False, max_length=255)
    decision = Text(required=False)
    rationale = Text(required=False, allow_null=True, allow_blank=True)
    alternatives_considered = Text(required=False, allow_null=True, allow_blank=True)
    status = Choice(choices=Status.choices, required=False)
    decided_at = Moment(
        days=True, required=False, allow_null=True, help_text=_("Left out: now. null: on a day nobody knows.")
    )
    tags = Tags()


class NewDecision(_DecisionFields, New):
    title = Line(max_length=255)
    decision = Text()


class DecisionChanges(_DecisionFields, Changes):
    pass


class StatusChange(StrictSerializer):
    status = Choice(choices=Status.choices)
    reason = reason_field(required=True)
    version = version_field()


class Supersede(StrictSerializer):
    by = Line(
        required=False, allow_null=True, max_length=40, help_text=_("The successor's node id, where known.")
    )
    reason = reason_field()
    version = version_field()


class Contradict(StrictSerializer):
    other = Line(max_length=40, help_text=_("The node id of what it cannot hold together with."))
    reason = reason_field()


class OutcomeSerializer(RecordSerializer):
    decision = serializers.SerializerMethodField(help_text=_("The node id of the decision it followed."))
    decision_title = serializers.CharField(read_only=True)
    type = serializers.CharField(read_only=True)
    success_rate = serializers.FloatField(read_only=True, allow_null=True)
    note = serializers.CharField(read_only=True, allow_null=True)
    occurred_at = serializers.DateTimeField(read_only=True)

    def get_decision(self, outcome: Outcome) -> str:
        return DECISION.node_id(outcome.decision_id)


class WrittenOutcome(Became, OutcomeSerializer):
    pass


class _OutcomeFields(serializers.Serializer[Any]):
    type = Line(required=False, max_length=50, help_text=_("Usually one of: %s.") % TYPES)
    success_rate = Number(required=False, allow_null=True, min_value=0, max_value=1)
    note = Text(required=False, allow_null=True, allow_blank=True)
    occurred_at = Moment(required=False)
    tags = Tags()


class NewOutcomeOfDecision(_OutcomeFields, StrictSerializer):
    type = Line(max_length=50, help_text=_("Usually one of: %s.") % TYPES)
    reason = reason_field()


class NewOutcome(NewOutcomeOfDecision):
    decision = Line(max_length=40, help_text=_("The node id of the decision it followed."))


class OutcomeChanges(_OutcomeFields, Changes):
    pass


EXAMPLE = OpenApiExample(
    "A decision",
    request_only=True,
    value={
        "title": "Keep order totals in Redis",
        "decision": "Cache totals for 15 minutes.",
        "rationale": "The totals query takes 900 ms at peak.",
        "status": "accepted",
        "decided_at": "2026-03-15",
        "tags": ["redis", "latency"],
    },
)


@record_schema(_("Decisions"), DecisionSerializer, WrittenDecision, NewDecision, DecisionChanges, EXAMPLE)
@extend_schema_view(
    status=extend_schema(
        summary="Say what the world did with a decision", request=StatusChange, responses=WrittenDecision
    ),
    supersede=extend_schema(
        summary="Mark a decision as replaced", request=Supersede, responses=WrittenDecision
    ),
    contradict=extend_schema(
        summary="Say that two memories cannot both hold", request=Contradict, responses=WrittenDecision
    ),
)
class DecisionViewSet(RecordViewSet):
    kind = DECISION
    filterset_class = DecisionFilterSet
    serializer_class = DecisionSerializer
    new_class = NewDecision
    changes_class = DecisionChanges

    def extras(self, records: Sequence[Decision]) -> dict[str, Any]:
        return {"successors": briefs_of_successors(records)}

    def make_set(self, project: Project, rows: Sequence[dict[str, Any]], reason: Reason) -> list[Decision]:
        prepared = [_with_precision(row) for row in rows]
        return actions.create_decisions(actor=self.actor, project=project, rows=prepared, reason=reason)

    def edit(self, record: Decision, changes: dict[str, Any], **options: Any) -> Decision:
        return actions.edit_decision(
            actor=self.actor, decision=record, changes=_with_precision(changes), **options
        )

    @action(detail=True, methods=["post"])
    def status(self, request: Request, node_id: str) -> Response:
        record = self.get_object()
        asked = self.asked(StatusChange)
        return self.became(
            actions.change_status(
                actor=self.actor, decisions=[record], status=asked["status"], **self.act_options(asked)
            )
        )

    @action(detail=True, methods=["post"])
    def supersede(self, request: Request, node_id: str) -> Response:
        record = self.get_object()
        asked = self.asked(Supersede)
        by = self.visible("by", asked["by"], DECISION) if asked.get("by") else None
        known = {successor.node_id for successor in successors_of([record]).get(record.node_id, [])}
        after = actions.supersede(actor=self.actor, decision=record, by=by, **self.act_options(asked))
        new_link = by is not None and by.node_id not in known
        return self.answer(after, "updated" if new_link or after.version != record.version else "unchanged")

    @action(detail=True, methods=["post"])
    def contradict(self, request: Request, node_id: str) -> Response:
        record = self.get_object()
        asked = self.asked(Contradict)
        other = self.visible("other", asked["other"])
        linked = self.are_linked(record, other, "CONTRADICTS")
        actions.contradict(actor=self.actor, decision=record, other=other, reason=asked.get("reason", ""))
        return self.answer(record, "unchanged" if linked else "updated")


def briefs_of_successors(decisions: Sequence[Decision]) -> dict[str, list[dict[str, Any]]]:
    """Node id of each superseded decision -> its successors that are active."""
    found = successors_of([one for one in decisions if one.status == Status.SUPERSEDED])
    return {
        node_id: [*BriefSerializer([one for one in successors if one.is_active], many=True).data]
        for node_id, successors in found.items()
    }


def _with_precision(fields: dict[str, Any]) -> dict[str, Any]:
    """A day is kept as a day, an instant as an instant."""
    moment = fields.get("decided_at")
    if moment is None:
        return fields
    if isinstance(moment, datetime):
        return {**fields, "decided_precision": Precision.INSTANT}
    return {**fields, "decided_at": midnight(moment), "decided_precision": Precision.DAY}


@record_schema(_("Outcomes"), OutcomeSerializer, WrittenOutcome, NewOutcome, OutcomeChanges)
class OutcomeViewSet(RecordViewSet):
    kind = OUTCOME
    filterset_class = OutcomeFilterSet
    serializer_class = OutcomeSerializer
    new_class = NewOutcome
    changes_class = OutcomeChanges
    named = {"decision": DECISION}

    def place(self, fields: dict[str, Any]) -> Project:
        project: Project = fields["decision"].project
        return project

    def make_set(self, project: Project, rows: Sequence[dict[str, Any]], reason: Reason) -> list[Outcome]:
        return actions.record_outcomes(actor=self.actor, project=project, rows=rows, reason=reason)

    def edit(self, record: Outcome, changes: dict[str, Any], **options: Any) -> Outcome:
        return actions.edit_outcome(actor=self.actor, outcome=record, changes=changes, **options)


@extend_schema_view(
    list=extend_schema(summary="List what followed a decision", operation_id="decisions_outcomes_list"),
    create=extend_schema(
        summary="Record what followed a decision",
        operation_id="decisions_outcomes_create",
        request=NewOutcomeOfDecision,
        responses={201: WrittenOutcome},
    ),
)
class DecisionOutcomesViewSet(OutcomeViewSet):
    """`/decisions/{node_id}/outcomes`."""

    new_class = NewOutcomeOfDecision  # type: ignore[assignment]

    def decision(self) -> Decision:
        viewset = DecisionViewSet(request=self.request, kwargs=self.kwargs)
        return viewset.get_object()

    def list(self, request: Request, node_id: str) -> Response:  # type: ignore[override]
        return self.listed(self.get_queryset().filter(decision=self.decision()))

    def create(self, request: Request, node_id: str) -> Response:  # type: ignore[override]
        decision = self.decision()
        fields = self.asked(self.new_class)
        reason = fields.pop("reason", "")
        return self.made(actions.record_outcome(actor=self.actor, decision=decision, reason=reason, **fields))
