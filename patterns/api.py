"""Patterns for agents: thin over actions and queries."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

from django.utils.translation import gettext_lazy as _
from drf_spectacular.utils import OpenApiExample, extend_schema, extend_schema_field, extend_schema_view
from rest_framework import serializers
from rest_framework.decorators import action
from rest_framework.request import Request
from rest_framework.response import Response

from patterns import actions
from patterns.confidence import interval_of
from patterns.filters import PatternFilterSet
from patterns.kind import PATTERN
from patterns.models import Pattern
from projects.access import Capability
from projects.models import WEIGHT_LEAST, WEIGHT_MOST, Project
from records.api.fields import Line, Number, Tags, Text
from records.api.schema import record_schema
from records.api.serializers import (
    Became,
    Changes,
    New,
    Note,
    RecordSerializer,
    StrictSerializer,
    reason_field,
    version_field,
)
from records.api.viewsets import RecordViewSet
from records.checks import Reason


class PatternSerializer(RecordSerializer):
    category = serializers.CharField(read_only=True)
    name = serializers.CharField(read_only=True)
    description = serializers.CharField(read_only=True, allow_null=True)
    code_example = serializers.CharField(read_only=True, allow_null=True)
    language = serializers.CharField(read_only=True, allow_null=True)
    confidence_score = serializers.FloatField(read_only=True)
    usage_count = serializers.IntegerField(read_only=True)
    worked_count = serializers.IntegerField(
        read_only=True, help_text=_("Since the confidence was last adjusted.")
    )
    failed_count = serializers.IntegerField(
        read_only=True, help_text=_("Since the confidence was last adjusted.")
    )
    prior_confidence = serializers.FloatField(read_only=True, help_text=_("Where it stood without votes."))
    prior_weight = serializers.FloatField(read_only=True, help_text=_("In votes."))
    confidence_interval = serializers.SerializerMethodField(
        help_text=_("Between these two lies 95 % of what the evidence allows.")
    )
    updated_at = serializers.DateTimeField(read_only=True)

    @extend_schema_field(serializers.ListField(child=serializers.FloatField(), min_length=2, max_length=2))
    def get_confidence_interval(self, pattern: Pattern) -> list[float]:
        return [round(end, 4) for end in interval_of(pattern.confidence_score, pattern.all_votes)]


class WrittenPattern(Became, PatternSerializer):
    pass


class _PatternFields(serializers.Serializer[Any]):
    category = Line(required=False, max_length=50)
    name = Line(required=False, max_length=255)
    description = Text(required=False, allow_null=True, allow_blank=True)
    code_example = Text(required=False, allow_null=True, allow_blank=True)
    language = Line(required=False, allow_null=True, allow_blank=True, max_length=50)
    tags = Tags()


class NewPattern(_PatternFields, New):
    category = Line(max_length=50)
    name = Line(max_length=255)
    confidence = Number(
        required=False, min_value=0, max_value=1, help_text=_("Where it starts; left out: 0.5.")
    )


class PatternChanges(_PatternFields, Changes):
    pass


class ConfidenceChange(StrictSerializer):
    confidence = Number(min_value=0, max_value=1)
    weight = Number(
        required=False,
        min_value=WEIGHT_LEAST,
        max_value=WEIGHT_MOST,
        help_text=_("In votes: how hard it is to move. Left out: as much as before."),
    )
    reason = reason_field(required=True)
    version = version_field()


EXAMPLE = OpenApiExample(
    "A pattern",
    request_only=True,
    value={
        "category": "caching",
        "name": "Cache-aside with jittered expiry",
        "description": "Read through the cache; spread the expiries, so that they do not fall together.",
        "code_example": "ttl = 900 + random.randrange(120)",
        "language": "python",
        "confidence": 0.7,
    },
)


@record_schema(_("Patterns"), PatternSerializer, WrittenPattern, NewPattern, PatternChanges, EXAMPLE)
@extend_schema_view(
    worked=extend_schema(summary="Report that a pattern worked", request=Note, responses=WrittenPattern),
    failed=extend_schema(summary="Report that a pattern failed", request=Note, responses=WrittenPattern),
    confidence=extend_schema(
        summary="Set a pattern's confidence, with a reason",
        request=ConfidenceChange,
        responses=WrittenPattern,
    ),
)
class PatternViewSet(RecordViewSet):
    kind = PATTERN
    filterset_class = PatternFilterSet
    serializer_class = PatternSerializer
    new_class = NewPattern
    changes_class = PatternChanges

    def make_set(self, project: Project, rows: Sequence[dict[str, Any]], reason: Reason) -> list[Pattern]:
        return actions.create_patterns(actor=self.actor, project=project, rows=rows, reason=reason)

    def edit(self, record: Pattern, changes: dict[str, Any], **options: Any) -> Pattern:
        return actions.edit_pattern(actor=self.actor, pattern=record, changes=changes, **options)

    @action(detail=True, methods=["post"])
    def worked(self, request: Request, node_id: str) -> Response:
        return self._voted(worked=True)

    @action(detail=True, methods=["post"])
    def failed(self, request: Request, node_id: str) -> Response:
        return self._voted(worked=False)

    def _voted(self, *, worked: bool) -> Response:
        record = self.get_object()
        note = self.asked(Note).get("note", "")
        return self.answer(
            actions.record_evidence(actor=self.actor, pattern=record, worked=worked, note=note), "updated"
        )

    @action(detail=True, methods=["post"], capability=Capability.REVIEW)
    def confidence(self, request: Request, node_id: str) -> Response:
        record = self.get_object()
        asked = self.asked(ConfidenceChange)
        after = actions.adjust_confidence(
            actor=self.actor,
            pattern=record,
            confidence=asked["confidence"],
            weight=asked.get("weight"),
            **self.act_options(asked),
        )
        return self.changed(record, after)
