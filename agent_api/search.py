"""`GET /api/v1/search/?q=`: the search box, for agents."""

from __future__ import annotations

from typing import Any

from django import forms
from django.http import QueryDict
from django.utils.translation import gettext_lazy as _
from drf_spectacular.utils import OpenApiParameter, extend_schema, extend_schema_field
from rest_framework import serializers
from rest_framework.request import Request
from rest_framework.response import Response

from agent_api.problems import InvalidQuery
from agent_api.questions import checked, only, project_ids_of
from agent_api.serializers import SimilarItemSerializer
from agent_api.views import DoorView
from decisions.api import briefs_of_successors
from decisions.models import Decision
from projects.queries import recalling_reviewed_only
from recall.search import LARGEST_LIMIT, SearchHit, search
from records.hygiene.kept import findings_of
from records.kinds import kind_of
from records.query_language import LONGEST_QUERY, parse
from records.reads import note_reads

DEFAULT_LIMIT = 20
REVIEWED_ONLY = _("By the project's policy only what a person approved is recalled.")
MODES = {"hybrid": (True, True), "words": (True, False), "meaning": (False, True)}


class SearchForm(forms.Form):
    q = forms.CharField(max_length=LONGEST_QUERY)
    project = forms.CharField(max_length=400, required=False)
    limit = forms.IntegerField(min_value=1, max_value=LARGEST_LIMIT, required=False)
    mode = forms.ChoiceField(choices=[(mode, mode) for mode in MODES], required=False)


class PassageSerializer(serializers.Serializer[Any]):
    start = serializers.IntegerField(help_text=_("Characters into the record's body."))
    end = serializers.IntegerField()
    text = serializers.CharField()


class SearchItemSerializer(SimilarItemSerializer):
    score = serializers.SerializerMethodField(
        help_text=_("Of the fused rankings; compare within one answer only.")
    )
    why = serializers.SerializerMethodField(help_text=_("What found it: id, phrase, words, meaning."))
    cosine = serializers.SerializerMethodField(help_text=_("Plain cosine of its best passage; null where words alone found it."))  # fmt: skip
    passage = serializers.SerializerMethodField(
        help_text=_("The passage that answers best, where meaning found it.")
    )

    def _hit(self, record: Any) -> SearchHit:
        hit: SearchHit = self.context["hits"][record.node_id]
        return hit

    def get_score(self, record: Any) -> float:
        return round(self._hit(record).score, 6)

    @extend_schema_field(serializers.ListField(child=serializers.CharField()))
    def get_why(self, record: Any) -> list[str]:
        return list(self._hit(record).why)

    def get_cosine(self, record: Any) -> float | None:
        cosine = self._hit(record).cosine
        return None if cosine is None else round(cosine, 4)

    @extend_schema_field(PassageSerializer(allow_null=True))
    def get_passage(self, record: Any) -> dict[str, Any] | None:
        hit = self._hit(record)
        if hit.end <= hit.start:
            return None
        text = kind_of(record).body_of(record)[hit.start : hit.end]
        return {"start": hit.start, "end": hit.end, "text": text}


class SearchSerializer(serializers.Serializer[Any]):
    q = serializers.CharField(read_only=True)
    results = SearchItemSerializer(many=True, read_only=True)
    more = serializers.BooleanField(read_only=True, help_text=_("There are others beyond the limit."))
    hidden = serializers.IntegerField(
        read_only=True,
        help_text=_("How many hidden ones would stand among these: is:hidden in q finds them."),
    )
    notes = serializers.ListField(
        child=serializers.CharField(), read_only=True, help_text=_("What limits this answer, such as a missing encoder.")
    )  # fmt: skip


PARAMETERS = [
    OpenApiParameter(
        "q",
        str,
        required=True,
        description='Words, ids, "phrases", and filters: redis status:accepted decided:2026-03',
    ),
    OpenApiParameter("project", str, description="Only this one of the token's projects."),
    OpenApiParameter(
        "limit", int, default=DEFAULT_LIMIT, description=f"Results at most, 1 to {LARGEST_LIMIT}."
    ),
    OpenApiParameter("mode", str, enum=list(MODES), default="hybrid", description="By which rankings."),
]


class SearchView(DoorView):
    @extend_schema(
        summary="What answers a line of search, best first",
        operation_id="search",
        parameters=PARAMETERS,
        responses=SearchSerializer,
    )
    def get(self, request: Request) -> Response:
        form = _search_form(request.query_params)
        asked = form.cleaned_data
        query = parse(asked["q"])
        words, meaning = MODES[asked["mode"] or "hybrid"]
        project_ids = project_ids_of(self.actor, asked["project"])
        reviewed_only = recalling_reviewed_only(project_ids)
        found = search(
            project_ids, query, limit=asked["limit"] or DEFAULT_LIMIT, words=words, meaning=meaning, reviewed_only=reviewed_only
        )  # fmt: skip
        if found.problems:
            raise InvalidQuery({"q": found.problems})
        records = [hit.record for hit in found.hits]
        note_reads(
            [record.node_id for record in records], actor=self.actor, door=f"{self.actor.channel}.search"
        )
        context = {
            "hits": {hit.record.node_id: hit for hit in found.hits},
            "successors": briefs_of_successors([one for one in records if isinstance(one, Decision)]),
            "findings": findings_of(record.node_id for record in records),
        }
        notes = [*found.notes, *([str(REVIEWED_ONLY)] if reviewed_only else [])]
        answer = {
            "q": asked["q"],
            "results": records,
            "more": found.more,
            "hidden": found.hidden,
            "notes": notes,
        }
        return Response(SearchSerializer(answer, context=context).data)


def _search_form(given: QueryDict) -> SearchForm:
    only(given, *SearchForm.base_fields)
    form: SearchForm = checked(SearchForm(given))
    return form
