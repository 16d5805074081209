"""Pitfalls for agents: thin over actions and queries."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

from django.utils.translation import gettext_lazy as _
from drf_spectacular.utils import OpenApiExample, extend_schema, extend_schema_view
from rest_framework import serializers
from rest_framework.decorators import action
from rest_framework.request import Request
from rest_framework.response import Response

from pitfalls import actions
from pitfalls.filters import PitfallFilterSet
from pitfalls.kind import PITFALL
from pitfalls.models import Pitfall, Severity
from projects.models import Project
from records.api.fields import Choice, Line, Tags, Text
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


class PitfallSerializer(RecordSerializer):
    category = serializers.CharField(read_only=True)
    title = serializers.CharField(read_only=True)
    description = serializers.CharField(read_only=True, allow_null=True)
    how_to_avoid = serializers.CharField(read_only=True, allow_null=True)
    severity = serializers.ChoiceField(choices=Severity.choices, read_only=True)
    encountered_count = serializers.IntegerField(read_only=True)


class WrittenPitfall(Became, PitfallSerializer):
    pass


class _PitfallFields(serializers.Serializer[Any]):
    category = Line(required=False, max_length=50)
    title = Line(required=False, max_length=255)
    description = Text(required=False, allow_null=True, allow_blank=True)
    how_to_avoid = Text(required=False, allow_null=True, allow_blank=True)
    severity = Choice(choices=Severity.choices, required=False)
    tags = Tags()


class NewPitfall(_PitfallFields, New):
    category = Line(max_length=50)
    title = Line(max_length=255)


class PitfallChanges(_PitfallFields, Changes):
    pass


class SeverityChange(StrictSerializer):
    severity = Choice(choices=Severity.choices)
    reason = reason_field(required=True)
    version = version_field()


EXAMPLE = OpenApiExample(
    "A pitfall",
    request_only=True,
    value={
        "category": "database",
        "title": "The connection pool drains under retries",
        "description": "Retries without a pause hold two connections each.",
        "how_to_avoid": "Back off with jitter, and cap the retries at three.",
        "severity": "high",
    },
)


@record_schema(_("Pitfalls"), PitfallSerializer, WrittenPitfall, NewPitfall, PitfallChanges, EXAMPLE)
@extend_schema_view(
    met_again=extend_schema(
        summary="Report that a pitfall was met again", request=Note, responses=WrittenPitfall
    ),
    severity=extend_schema(
        summary="Change a pitfall's severity, with a reason",
        request=SeverityChange,
        responses=WrittenPitfall,
    ),
)
class PitfallViewSet(RecordViewSet):
    kind = PITFALL
    filterset_class = PitfallFilterSet
    serializer_class = PitfallSerializer
    new_class = NewPitfall
    changes_class = PitfallChanges

    def make_set(self, project: Project, rows: Sequence[dict[str, Any]], reason: Reason) -> list[Pitfall]:
        return actions.create_pitfalls(actor=self.actor, project=project, rows=rows, reason=reason)

    def edit(self, record: Pitfall, changes: dict[str, Any], **options: Any) -> Pitfall:
        return actions.edit_pitfall(actor=self.actor, pitfall=record, changes=changes, **options)

    @action(detail=True, methods=["post"], url_path="met-again")
    def met_again(self, request: Request, node_id: str) -> Response:
        record = self.get_object()
        note = self.asked(Note).get("note", "")
        return self.answer(actions.meet_again(actor=self.actor, pitfall=record, note=note), "updated")

    @action(detail=True, methods=["post"])
    def severity(self, request: Request, node_id: str) -> Response:
        record = self.get_object()
        asked = self.asked(SeverityChange)
        return self.became(
            actions.change_severity(
                actor=self.actor, pitfalls=[record], severity=asked["severity"], **self.act_options(asked)
            )
        )
