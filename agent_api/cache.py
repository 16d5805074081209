"""`/api/v1/cache/{key}`: an agent's hot state, kept for hours."""

from __future__ import annotations

from typing import Any

from django.core.exceptions import ValidationError
from django.http import Http404
from django.utils.translation import gettext_lazy as _
from drf_spectacular.utils import OpenApiExample, OpenApiParameter, extend_schema
from rest_framework import serializers
from rest_framework.request import Request
from rest_framework.response import Response

from agent_api.questions import only
from agent_api.views import DoorView
from projects.models import Project
from records.api.fields import Json, KeptJson, Whole
from records.api.serializers import StrictSerializer
from records.errors import InvalidInput
from records.validation import check_text
from runs import actions, queries
from runs.models import CacheEntry

KEY_LONGEST = 255
BECAME = [("created", "created"), ("updated", "updated"), ("deleted", "deleted")]


class CacheSerializer(serializers.Serializer[Any]):
    project = serializers.CharField(source="project.slug", read_only=True)
    key = serializers.CharField(read_only=True)
    value = KeptJson()
    expires_at = serializers.DateTimeField(read_only=True)
    updated_at = serializers.DateTimeField(read_only=True)


class WrittenCache(CacheSerializer):
    became = serializers.ChoiceField(choices=BECAME, read_only=True)


class PutCache(StrictSerializer):
    value = Json(allow_null=True)
    ttl = Whole(
        required=False,
        min_value=1,
        max_value=actions.CACHE_TTL_MOST,
        default=actions.CACHE_TTL,
        help_text=_("Seconds until it is gone: 24 hours unless said otherwise, 72 hours at most."),
    )


PROJECT = OpenApiParameter(
    "project", str, description="The project's slug; not needed when the token has only one."
)
EXAMPLE = OpenApiExample(
    "For an hour", request_only=True, value={"value": {"step": "tests", "failed": 3}, "ttl": 3600}
)


class CacheView(DoorView):
    @extend_schema(
        summary="Read what is kept under a key",
        description="404 once it has expired.",
        parameters=[PROJECT],
        responses=CacheSerializer,
    )
    def get(self, request: Request, key: str) -> Response:
        return Response(CacheSerializer(self._entry(key)).data)

    @extend_schema(
        summary="Keep a value under a key, for hours",
        parameters=[PROJECT],
        request=PutCache,
        responses={200: WrittenCache, 201: WrittenCache},
        examples=[EXAMPLE],
    )
    def put(self, request: Request, key: str) -> Response:
        project = self._project()
        entry, became = actions.set_cache(
            actor=self.actor, project=project, key=_checked(key), **self.asked(PutCache)
        )
        body = {"became": became, **CacheSerializer(entry).data}
        return Response(body, status=201 if became == actions.CREATED else 200)

    @extend_schema(
        summary="Drop what is kept under a key", parameters=[PROJECT], responses={200: WrittenCache}
    )
    def delete(self, request: Request, key: str) -> Response:
        entry = self._entry(key)
        body = {"became": "deleted", **CacheSerializer(entry).data}
        actions.delete_cache(actor=self.actor, entry=entry)
        return Response(body)

    def _project(self) -> Project:
        only(self.request.query_params, "project")
        return self.project_for(self.request.query_params.dict())

    def _entry(self, key: str) -> CacheEntry:
        entry = queries.cache_entry(self._project().pk, _checked(key))
        if entry is None:
            raise Http404
        return entry


def _checked(key: str) -> str:
    try:
        check_text(key)
    except ValidationError as error:
        raise InvalidInput({"key": error.messages}) from error
    if not key.strip() or len(key) > KEY_LONGEST:
        raise InvalidInput({"key": [str(_("Has 1 to %s characters.")) % KEY_LONGEST]})
    return key
