"""`POST /api/v1/context`: what the memory has to say to a task or a trigger, within a budget of tokens."""

from __future__ import annotations

from typing import Any

from django.core.exceptions import ValidationError as DjangoValidationError
from django.http import HttpResponse
from django.http.response import HttpResponseBase
from django.utils.translation import gettext_lazy as _
from drf_spectacular.utils import OpenApiExample, OpenApiTypes, extend_schema, extend_schema_field
from rest_framework import serializers
from rest_framework.request import Request
from rest_framework.response import Response

from agent_api.views import DoorView
from desk.context_pack import asked as limits
from desk.context_pack.answer import answer_of
from desk.context_pack.asked import Asked, packed_kinds, today, trigger_text
from desk.context_pack.pack import context_pack
from projects.access import Capability
from records.actor import SourceKind
from records.api.fields import Choice, Line, Text, Whole, YesNo
from records.api.serializers import StrictSerializer
from records.models import ReviewState
from records.reads import note_reads
from records.validation import check_json

JSON_FORM, MARKDOWN_FORM = "json", "markdown"
KIND_CHOICES = ("decision", "pattern", "pitfall", "session", "run", "memory")


@extend_schema_field({"description": "A text, or JSON of any shape.", "type": ["string", "object", "array"]})
class TriggerField(serializers.JSONField):
    """What set the agent off, as it came: an alert's text, a webhook's payload."""

    def to_internal_value(self, data: Any) -> Any:
        if not isinstance(data, str | dict | list):
            raise serializers.ValidationError(_("Must be a text, an object or an array."))
        try:
            check_json(data)
        except DjangoValidationError as error:
            raise serializers.ValidationError(error.messages, code=error.code) from error
        return data


class ContextQuestion(StrictSerializer):
    project = Line(
        required=False,
        max_length=400,
        help_text=_("The project's slug or another of its names; not needed when the token has only one."),
    )
    task = Text(required=False, help_text=_("What the agent is about to do."))
    trigger = TriggerField(
        required=False,
        help_text=_("What set it off: a text or a JSON payload, beside the task or instead of it."),
    )
    budget = Whole(
        required=False, min_value=limits.LEAST_BUDGET, max_value=limits.MOST_BUDGET, default=limits.DEFAULT_BUDGET,
        help_text=_("Tokens of the Markdown, at most."),
    )  # fmt: skip
    kinds = serializers.ListField(
        child=Choice(choices=KIND_CHOICES), required=False, allow_empty=False, max_length=20,
        help_text=_("Only items of these kinds."),
    )  # fmt: skip
    k = Whole(
        required=False, min_value=1, max_value=limits.MOST_K, default=limits.DEFAULT_K,
        help_text=_("Items of one section, at most."),
    )  # fmt: skip
    reviewed_only = YesNo(required=False, default=False, help_text=_("Only what a person approved."))
    agent = Line(
        required=False,
        max_length=255,
        allow_blank=True,
        help_text=_("Only incidents of this agent; of all without it."),
    )
    session = Line(
        required=False, max_length=255, allow_blank=True,
        help_text=_("The session whose state is told; without it the one of X-Session-Id."),
    )  # fmt: skip
    format = Choice(choices=(JSON_FORM, MARKDOWN_FORM), required=False, default=JSON_FORM)

    def validate(self, attrs: dict[str, Any]) -> dict[str, Any]:
        text = "\n".join(filter(None, [attrs.get("task"), trigger_text(attrs.get("trigger"))]))
        if not text.strip():
            raise serializers.ValidationError(
                {"task": [_("Say what the context is for: a task, a trigger or both.")]}
            )
        return {**attrs, "text": text}


class ContextItemSerializer(serializers.Serializer[Any]):
    node_id = serializers.CharField()
    kind = serializers.CharField()
    section = serializers.CharField()
    title = serializers.CharField()
    status = serializers.CharField(
        allow_null=True, help_text=_("Its state in the world, where its kind has one.")
    )
    url = serializers.CharField(help_text=_("The record's page."))
    score = serializers.FloatField(
        help_text=_("What it is worth to this text, 0 to 1; docs/context.md has the formula.")
    )
    relevance = serializers.FloatField(help_text=_("What it has to do with the text, 0 to 1."))
    cosine = serializers.FloatField(allow_null=True, help_text=_("Plain cosine of its best passage."))
    why = serializers.ListField(child=serializers.CharField(), help_text=_("What found it."))
    tokens = serializers.IntegerField(help_text=_("Of its part of the Markdown."))
    text = serializers.CharField(help_text=_("Its own words, … where some are left out."))
    whole = serializers.BooleanField(help_text=_("Nothing of its text is left out."))
    rewritten = serializers.BooleanField(help_text=_("An LLM put it into these words."))
    told_with_it = serializers.ListField(
        child=serializers.CharField(),
        help_text=_("Outcomes, what it supersedes and contradicts, one a line."),
    )
    beside = serializers.ListField(child=serializers.CharField(), help_text=_("The node ids of those."))
    run = serializers.CharField(allow_null=True, help_text=_("Of a run memory: its run."))
    review_state = serializers.ChoiceField(choices=ReviewState.choices)
    trust = serializers.FloatField()
    source_kind = serializers.ChoiceField(choices=SourceKind.choices)
    source_name = serializers.CharField(allow_null=True)
    age_days = serializers.IntegerField(allow_null=True)
    version = serializers.IntegerField()


class LeftOutSerializer(serializers.Serializer[Any]):
    node_id = serializers.CharField()
    kind = serializers.CharField()
    section = serializers.CharField()
    title = serializers.CharField()
    score = serializers.FloatField()
    reason = serializers.ChoiceField(
        choices=["budget", "k", "duplicate", "superseded", "unreviewed", "confidence"]
    )
    of = serializers.CharField(allow_null=True, help_text=_("What it duplicates or was superseded by."))


class ContextPackSerializer(serializers.Serializer[Any]):
    """A context pack; the same memory, request and day give the same bytes."""

    project = serializers.CharField()
    as_of = serializers.DateField(help_text=_("The day, in UTC, that ages are counted from."))
    budget = serializers.IntegerField()
    tokens = serializers.IntegerField(help_text=_("Of the whole Markdown; never more than the budget."))
    frame_tokens = serializers.IntegerField(help_text=_("Of its lines that are no item's."))
    tokenizer = serializers.CharField(help_text=_("What counted them."))
    compressed_by = serializers.CharField(
        help_text=_("extractive; llm:<model>; or extractive, with what the LLM did instead of answering.")
    )
    markdown = serializers.CharField(help_text=_("What to put before the agent."))
    items = ContextItemSerializer(many=True)
    left_out = LeftOutSerializer(many=True)
    notes = serializers.ListField(child=serializers.CharField(), help_text=_("What limits this answer."))


EXAMPLE = OpenApiExample(
    "A task",
    request_only=True,
    value={"project": "shop", "task": "Cache product prices in the order service", "budget": 1500},
)
ALERT = OpenApiExample(
    "An alert",
    request_only=True,
    value={
        "project": "shop",
        "trigger": {"alert": "HighLatency", "service": "orders", "p99_ms": 4200},
        "kinds": ["memory", "run", "pitfall"],
        "reviewed_only": True,
        "format": "markdown",
    },
)


class ContextView(DoorView):
    capability = Capability.READ  # it asks, though by POST: a trigger outgrows an address

    @extend_schema(
        summary="What the memory has to say to a task, within a budget of tokens",
        description="Recent decisions, pitfalls to avoid, trusted patterns, similar decisions and incidents, the "
        "session's state: chosen by value per token, compressed to whole sentences. With `format` markdown the answer is "
        "the Markdown alone.",
        operation_id="context",
        request=ContextQuestion,
        responses={
            (200, "application/json"): ContextPackSerializer,
            (200, "text/markdown"): OpenApiTypes.STR,
        },
        examples=[EXAMPLE, ALERT],
    )
    def post(self, request: Request) -> HttpResponseBase:
        asked = self.asked(ContextQuestion)
        pack = context_pack(
            Asked(
                project=self.project_for(asked),
                text=asked["text"],
                budget=asked["budget"],
                k=asked["k"],
                kinds=frozenset(asked.get("kinds") or packed_kinds()),
                reviewed_only=asked["reviewed_only"],
                agent=asked.get("agent", ""),
                session=asked.get("session") or self.actor.session,
                as_of=today(),
            )
        )
        note_reads(pack.served, actor=self.actor, door=f"{self.actor.channel}.context")
        if asked["format"] == MARKDOWN_FORM:
            return HttpResponse(pack.markdown, content_type="text/markdown; charset=utf-8")
        return Response(answer_of(pack))
