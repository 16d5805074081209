"""Runs and run memories for agents: thin over actions and queries."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any, cast

from django.utils.translation import gettext_lazy as _
from drf_spectacular.utils import OpenApiExample, extend_schema, extend_schema_view
from rest_framework import serializers
from rest_framework.decorators import action
from rest_framework.request import Request
from rest_framework.response import Response

from projects.models import Project
from records.api.fields import (
    Choice,
    Json,
    JsonObject,
    KeptJson,
    Line,
    Moment,
    Number,
    Tags,
    Text,
    Whole,
    YesNo,
)
from records.api.schema import record_schema
from records.api.serializers import (
    Became,
    Changes,
    New,
    RecordSerializer,
    StrictSerializer,
    reason_field,
    version_field,
)
from records.api.viewsets import Answers, RecordViewSet
from records.checks import Reason
from records.validation import check_json
from runs import actions, queries
from runs.filters import MemoryFilterSet, RunFilterSet
from runs.kind import MEMORY, RUN
from runs.models import Memory, Run, RunStatus

CALLS_AT_ONCE = 1_000
ENDED = [(status, status) for status in actions.ENDED]
SUMMARY = _("What a later run should know of this one: kept as a run memory, and found again by its meaning.")


class RunInListSerializer(RecordSerializer):
    """Without its tool calls, which may be long: read the run for them."""

    agent_name = serializers.CharField(read_only=True)
    agent_version = serializers.CharField(read_only=True, allow_null=True)
    trigger_type = serializers.CharField(read_only=True, allow_null=True)
    trigger_payload = KeptJson()
    started_at = serializers.DateTimeField(read_only=True)
    ended_at = serializers.DateTimeField(read_only=True, allow_null=True)
    status = serializers.ChoiceField(choices=RunStatus.choices, read_only=True)
    outcome = KeptJson()
    token_cost = serializers.IntegerField(read_only=True, allow_null=True)
    escalated_to_human = serializers.BooleanField(read_only=True)
    confidence = serializers.SerializerMethodField()
    memories = serializers.SerializerMethodField(help_text=_("Node ids of its run memories, newest first."))

    def get_confidence(self, run: Run) -> float | None:
        return None if run.confidence is None else float(run.confidence)

    def get_memories(self, run: Run) -> list[str]:
        memories: list[str] = self.context["memories"][run.node_id]
        return memories


class RunSerializer(RunInListSerializer):
    tool_calls = KeptJson(help_text=_("In order, as their writer sent them."))


class WrittenRun(Became, RunSerializer):
    pass


class CallList(serializers.ListField):
    child = JsonObject()
    default_validators = [check_json]  # of the whole, as it is kept in one column


class _RunFields(serializers.Serializer[Any]):
    agent_version = Line(required=False, allow_null=True, allow_blank=True, max_length=50)
    trigger_type = Line(required=False, allow_null=True, allow_blank=True, max_length=100)
    trigger_payload = Json(required=False, allow_null=True)
    started_at = Moment(required=False)
    ended_at = Moment(required=False, allow_null=True)
    status = Choice(choices=RunStatus.choices, required=False)
    outcome = Json(required=False, allow_null=True)
    tool_calls = CallList(required=False, allow_null=True)
    token_cost = Whole(required=False, allow_null=True, min_value=0, max_value=2**31 - 1)
    escalated_to_human = YesNo(required=False)
    confidence = Number(
        required=False, allow_null=True, min_value=0, max_value=1, help_text=_("Two decimals are kept.")
    )
    tags = Tags()


class NewRun(_RunFields, New):
    id = Line(
        required=False, max_length=36, help_text=_("A UUID of your own: the run can then be sent again.")
    )
    agent_name = Line(required=False, max_length=255, help_text=_("Left out: the token's own agent."))
    summary = Text(required=False, help_text=SUMMARY)


class RunChanges(_RunFields, Changes):
    pass


class ToolCalls(StrictSerializer):
    tool_calls = CallList(
        min_length=1,
        max_length=CALLS_AT_ONCE,
        help_text=_("Usually with name, arguments, result, error, duration_ms."),
    )
    version = version_field()
    reason = reason_field()


class FinishRun(StrictSerializer):
    status = Choice(choices=ENDED)
    ended_at = Moment(required=False, help_text=_("Left out: now."))
    outcome = Json(required=False, allow_null=True)
    token_cost = Whole(required=False, allow_null=True, min_value=0, max_value=2**31 - 1)
    escalated_to_human = YesNo(required=False)
    confidence = Number(required=False, allow_null=True, min_value=0, max_value=1)
    tags = Tags()
    summary = Text(required=False, help_text=SUMMARY)
    version = version_field()
    reason = reason_field()


RUN_EXAMPLE = OpenApiExample(
    "A whole run",
    request_only=True,
    value={
        "id": "9f2b6f0e-54b1-4e0c-8d0e-1c1f0a1b2c3d",
        "agent_version": "1.4.0",
        "trigger_type": "alert",
        "trigger_payload": {"alert": "replica lag", "host": "db-2"},
        "status": "succeeded",
        "tool_calls": [{"name": "show_replica_status", "result": {"lag_s": 340}, "duration_ms": 120}],
        "outcome": {"cause": "bulk delete", "did": "throttled the purge job"},
        "token_cost": 5120,
        "escalated_to_human": False,
        "confidence": 0.82,
        "summary": "Replica lag after a bulk delete; throttled the purge job.",
    },
)
START_EXAMPLE = OpenApiExample(
    "A run that begins",
    request_only=True,
    value={"trigger_type": "alert", "trigger_payload": {"alert": "replica lag", "host": "db-2"}},
)
CALLS_EXAMPLE = OpenApiExample(
    "One more call",
    request_only=True,
    value={"tool_calls": [{"name": "throttle", "arguments": {"job": "purge"}, "duration_ms": 45}]},
)
FINISH_EXAMPLE = OpenApiExample(
    "Ended well",
    request_only=True,
    value={
        "status": "succeeded",
        "outcome": {"cause": "bulk delete"},
        "token_cost": 5120,
        "confidence": 0.82,
        "summary": "Replica lag after a bulk delete; throttled the purge job.",
    },
)


@extend_schema_view(
    create=extend_schema(
        summary="Start a run, or write a whole one",
        description="With an id of its own the same run may be sent again: 200 unchanged; other content is 409.",
        request=NewRun,
        responses={201: WrittenRun, 200: WrittenRun},
    ),
    tool_calls=extend_schema(
        summary="Add tool calls to a run",
        description="After those that are there, under a lock: calls sent at once are all kept.",
        request=ToolCalls,
        responses=WrittenRun,
        examples=[CALLS_EXAMPLE],
    ),
    finish=extend_schema(
        summary="Say how a run ended", request=FinishRun, responses=WrittenRun, examples=[FINISH_EXAMPLE]
    ),
)
@record_schema(
    _("Runs"), RunSerializer, WrittenRun, NewRun, RunChanges, RUN_EXAMPLE, START_EXAMPLE,
    listed=RunInListSerializer,
)  # fmt: skip
class RunViewSet(RecordViewSet):
    kind = RUN
    filterset_class = RunFilterSet
    serializer_class = RunSerializer
    new_class = NewRun
    changes_class = RunChanges

    def extras(self, records: Sequence[Run]) -> dict[str, Any]:
        return {"memories": queries.memory_ids_of(records)}

    def get_queryset(self) -> Any:
        return super().get_queryset().defer("tool_calls")

    def listed_answers(self, records: Sequence[Run]) -> Answers:
        return [*RunInListSerializer([*records], many=True, context=self.context_of(records)).data]

    def own_name(self, fields: Mapping[str, Any]) -> str | None:
        return actions.hex_id(fields["id"]) if fields.get("id") else None

    def write_set(
        self, project: Project, rows: Sequence[dict[str, Any]], reason: Reason
    ) -> list[tuple[Run, str]]:
        named = [{"agent_name": self.actor.name, **row} for row in rows]
        return actions.write_runs(actor=self.actor, project=project, rows=named, reason=reason)

    def edit(self, record: Run, changes: dict[str, Any], **options: Any) -> Run:
        return actions.edit_run(actor=self.actor, run=record, changes=changes, **options)

    @action(detail=True, methods=["post"])
    def tool_calls(self, request: Request, node_id: str) -> Response:
        run = self.get_object()
        asked = self.asked(ToolCalls)
        calls = asked.pop("tool_calls")
        return self.became(
            actions.append_tool_calls(actor=self.actor, run=run, calls=calls, **self.act_options(asked))
        )

    @action(detail=True, methods=["post"])
    def finish(self, request: Request, node_id: str) -> Response:
        run = self.get_object()
        asked = self.asked(FinishRun)
        options = self.act_options(asked)
        return self.became(actions.finish_run(actor=self.actor, run=run, **asked, **options))


class MemorySerializer(RecordSerializer):
    agent_name = serializers.CharField(read_only=True)
    summary = serializers.CharField(read_only=True)
    run = serializers.SerializerMethodField(help_text=_("The node id of the run that it sums up."))

    def get_run(self, memory: Memory) -> str | None:
        run: str | None = self.context["runs"].get(memory.node_id)
        return run


class WrittenMemory(Became, MemorySerializer):
    pass


class NewMemory(New):
    summary = Text(help_text=SUMMARY)
    run = Line(
        required=False, allow_null=True, max_length=40, help_text=_("The node id of the run that it sums up.")
    )
    agent_name = Line(required=False, max_length=255, help_text=_("Left out: the token's own agent."))
    tags = Tags()


class MemoryChanges(Changes):
    summary = Text(required=False)
    tags = Tags()


MEMORY_EXAMPLE = OpenApiExample(
    "A run memory",
    request_only=True,
    value={"summary": "Replica lag after a bulk delete; throttled the purge job.", "tags": ["mysql"]},
)


@record_schema(_("Run memories"), MemorySerializer, WrittenMemory, NewMemory, MemoryChanges, MEMORY_EXAMPLE)
class MemoryViewSet(RecordViewSet):
    kind = MEMORY
    filterset_class = MemoryFilterSet
    serializer_class = MemorySerializer
    new_class = NewMemory
    changes_class = MemoryChanges
    named = {"run": RUN}

    def extras(self, records: Sequence[Memory]) -> dict[str, Any]:
        return {"runs": queries.runs_summed_up(records)}

    def place(self, fields: dict[str, Any]) -> Project:
        run: Run | None = fields.get("run")
        return self.project_for(fields) if run is None or "project" in fields else cast(Project, run.project)

    def make_set(self, project: Project, rows: Sequence[dict[str, Any]], reason: Reason) -> list[Memory]:
        named = [{"agent_name": self.actor.name, **row} for row in rows]
        return actions.remember_all(actor=self.actor, project=project, rows=named, reason=reason)

    def edit(self, record: Memory, changes: dict[str, Any], **options: Any) -> Memory:
        return actions.edit_memory(actor=self.actor, memory=record, changes=changes, **options)
