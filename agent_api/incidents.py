"""`POST /api/v1/incidents`: have we seen an incident like this text? What was done, what did it cost, who was called?"""

from __future__ import annotations

from typing import Any

from django.utils.translation import gettext_lazy as _
from drf_spectacular.utils import OpenApiExample, extend_schema
from rest_framework import serializers
from rest_framework.request import Request
from rest_framework.response import Response

from agent_api.questions import project_ids_of
from agent_api.views import DoorView
from desk.incident.similar import Incident, incidents_like
from projects.access import Capability
from projects.queries import recalling_reviewed_only
from records.api.fields import Line, Text, Whole
from records.api.serializers import StrictSerializer
from records.hygiene.kept import findings_of
from records.reads import note_reads
from runs.api import MemorySerializer, RunSerializer
from runs.queries import memory_ids_of, runs_summed_up

DEFAULT_K, MOST_K = 5, 50


class IncidentQuestion(StrictSerializer):
    text = Text(help_text=_("The alert, the trigger, the symptom: any text."))
    k = Whole(
        required=False, min_value=1, max_value=MOST_K, default=DEFAULT_K, help_text=_("How many at most.")
    )
    agent = Line(required=False, max_length=255, help_text=_("Only of this agent; of all without it."))
    project = Line(required=False, max_length=400, help_text=_("Only of this one of the token's projects."))


class IncidentSerializer(serializers.Serializer[Any]):
    score = serializers.FloatField(
        help_text=_("0 to 1: two thirds the cosine, a third the place in the fused rankings.")
    )
    cosine = serializers.FloatField(allow_null=True, help_text=_("Plain cosine of the best passage."))
    why = serializers.ListField(child=serializers.CharField())
    run = RunSerializer(
        allow_null=True, help_text=_("With its tool calls, cost and whether a person was called.")
    )
    memory = MemorySerializer(allow_null=True, help_text=_("The summary that was found, where one was."))


class IncidentsSerializer(serializers.Serializer[Any]):
    results = IncidentSerializer(many=True)
    notes = serializers.ListField(
        child=serializers.CharField(), help_text=_("What limits this answer, such as a missing encoder.")
    )


EXAMPLE = OpenApiExample(
    "An alert", request_only=True, value={"text": "db-2: replication lag 340 s, rising", "k": 5}
)


class IncidentsView(DoorView):
    capability = Capability.READ

    @extend_schema(
        summary="Which past runs were like this text",
        operation_id="incidents_like",
        request=IncidentQuestion,
        responses=IncidentsSerializer,
        examples=[EXAMPLE],
    )
    def post(self, request: Request) -> Response:
        asked = self.asked(IncidentQuestion)
        project = [self.project_for(asked).pk] if "project" in asked else project_ids_of(self.actor, None)
        incidents, notes = incidents_like(
            project, asked["text"], k=asked["k"], agent=asked.get("agent", ""), reviewed_only=recalling_reviewed_only(project)
        )  # fmt: skip
        told = [record.node_id for one in incidents for record in (one.run, one.memory) if record is not None]
        note_reads(told, actor=self.actor, door=f"{self.actor.channel}.incidents")
        return Response({"results": _answers(incidents), "notes": notes})


def _answers(incidents: list[Incident]) -> list[dict[str, Any]]:
    runs = [one.run for one in incidents if one.run is not None]
    memories = [one.memory for one in incidents if one.memory is not None]
    found = findings_of(record.node_id for record in [*runs, *memories])
    of_runs = {"memories": memory_ids_of(runs), "findings": found}
    of_memories = {"runs": runs_summed_up(memories), "findings": found}
    return [
        {
            "score": round(one.score, 6),
            "cosine": None if one.cosine is None else round(one.cosine, 4),
            "why": list(one.why),
            "run": None if one.run is None else RunSerializer(one.run, context=of_runs).data,
            "memory": None if one.memory is None else MemorySerializer(one.memory, context=of_memories).data,
        }
        for one in incidents
    ]
