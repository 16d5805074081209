"""Sessions for agents: thin over actions and queries."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from typing import Any

from django.http import Http404
from django.utils.translation import gettext_lazy as _
from drf_spectacular.utils import OpenApiExample, extend_schema, extend_schema_field, extend_schema_view
from rest_framework import serializers
from rest_framework.decorators import action
from rest_framework.request import Request
from rest_framework.response import Response

from projects.models import Project
from records import verbs
from records.api.fields import JsonObject, KeptJson, Line, Moment, Tags, Text, in_utc
from records.api.schema import record_schema
from records.api.serializers import (
    Became,
    Changes,
    New,
    RecordSerializer,
    StrictSerializer,
    reason_field,
    said_of,
    version_field,
)
from records.api.viewsets import RecordViewSet
from records.became import became_of
from records.checks import Reason
from work_sessions import actions, queries
from work_sessions.filters import SessionFilterSet
from work_sessions.kind import SESSION
from work_sessions.models import WorkSession


class SessionSerializer(RecordSerializer):
    session_id = serializers.CharField(read_only=True, help_text=_("The agent's own name for it."))
    started_at = serializers.DateTimeField(read_only=True)
    ended_at = serializers.DateTimeField(read_only=True, allow_null=True)
    is_running = serializers.SerializerMethodField()
    summary = serializers.CharField(read_only=True, allow_null=True)
    context = KeptJson()  # type: ignore[assignment]

    def get_is_running(self, session: WorkSession) -> bool:
        return session.ended_at is None


WRITTEN = {"type": "object", "additionalProperties": {"type": "integer"}}


class SessionStatus(SessionSerializer):
    """One session, and what its history says of it."""

    last_activity_at = serializers.SerializerMethodField(help_text=_("Of anything done in it or to it."))
    written = serializers.SerializerMethodField(help_text=_("By kind: how many records were made in it."))

    @property
    def _activity(self) -> queries.Activity:
        activity: queries.Activity = self._context["activity"]  # `context` is a field of a session
        return activity

    @extend_schema_field(serializers.DateTimeField(allow_null=True))
    def get_last_activity_at(self, session: WorkSession) -> str | None:
        return in_utc(self._activity.last_at)

    @extend_schema_field(WRITTEN)
    def get_written(self, session: WorkSession) -> dict[str, int]:
        return self._activity.written


class WrittenSession(Became, SessionSerializer):
    pass


class _SessionFields(serializers.Serializer[Any]):
    started_at = Moment(required=False)
    ended_at = Moment(required=False, allow_null=True, help_text=_("null: it goes on."))
    summary = Text(required=False, allow_null=True, allow_blank=True)
    context = JsonObject(  # type: ignore[assignment]
        required=False, allow_null=True, help_text=_("The whole of it, in place of what was there.")
    )
    tags = Tags()


class NewSession(_SessionFields, New):
    session_id = Line(max_length=255, help_text=_("Any name; unique over all projects of the desk."))


class SessionChanges(_SessionFields, Changes):
    pass


class SessionContext(serializers.Serializer[Any]):
    node_id = serializers.CharField(read_only=True)
    session_id = serializers.CharField(read_only=True)
    version = serializers.IntegerField(read_only=True)
    context = KeptJson()  # type: ignore[assignment]


class PutContext(StrictSerializer):
    context = JsonObject(allow_null=True)  # type: ignore[assignment]
    version = version_field()
    reason = reason_field()


class MergeContext(StrictSerializer):
    context = JsonObject(help_text=_("What to set; null takes a key out; the others stay (RFC 7396)."))  # type: ignore[assignment]
    version = version_field()
    reason = reason_field()


class EndSession(StrictSerializer):
    summary = Text(required=False, help_text=_("What was done."))
    version = version_field()
    reason = reason_field()


class WrittenContext(Became, SessionContext):
    pass


NEW_EXAMPLE = OpenApiExample(
    "A session",
    request_only=True,
    value={
        "session_id": "deploy-2026-11-29",
        "context": {"branch": "main", "step": "tests"},
        "tags": ["deploy"],
    },
)
PUT_EXAMPLE = OpenApiExample(
    "The whole context", request_only=True, value={"context": {"branch": "main", "step": "deploy"}}
)
MERGE_EXAMPLE = OpenApiExample(
    "One key set, another taken out",
    request_only=True,
    value={"context": {"step": "deploy", "blocked_by": None}},
)
END_EXAMPLE = OpenApiExample(
    "With what was done", request_only=True, value={"summary": "Deployed 1.4.0; all green."}
)
BY_EITHER = "By node id or by the agent's own name for it."


@extend_schema_view(
    create=extend_schema(
        summary="Start a session, or say more of one",
        description="A session_id of the token's project that is known already is changed to have the fields named.",
        request=NewSession,
        responses={201: WrittenSession, 200: WrittenSession},
    ),
    retrieve=extend_schema(
        summary="The current status of a session", description=BY_EITHER, responses=SessionStatus
    ),
    read_context=extend_schema(
        summary="Read a session's context", description=BY_EITHER, responses=SessionContext
    ),
    end=extend_schema(
        summary="End a session", request=EndSession, responses=WrittenSession, examples=[END_EXAMPLE]
    ),
)
@record_schema(_("Sessions"), SessionSerializer, WrittenSession, NewSession, SessionChanges, NEW_EXAMPLE)
class SessionViewSet(RecordViewSet):
    kind = SESSION
    filterset_class = SessionFilterSet
    serializer_class = SessionSerializer
    new_class = NewSession
    changes_class = SessionChanges

    def get_object(self) -> WorkSession:
        session = queries.visible_session(self.actor.access, self.kwargs["node_id"])
        if session is None:
            raise Http404
        return session

    def own_name(self, fields: Mapping[str, Any]) -> str:
        return str(fields["session_id"])

    def write_set(
        self, project: Project, rows: Sequence[dict[str, Any]], reason: Reason
    ) -> list[tuple[WorkSession, str]]:
        return actions.upsert_sessions(actor=self.actor, project=project, rows=rows, reason=reason)

    def edit(self, record: WorkSession, changes: dict[str, Any], **options: Any) -> WorkSession:
        return actions.edit_session(actor=self.actor, session=record, changes=changes, **options)

    def retrieve(self, request: Request, node_id: str) -> Response:
        session = self.get_object()
        self.read([session.node_id])
        answer = SessionStatus(session, context={"activity": queries.activity_in(session)})
        return Response(answer.data, headers={"ETag": f'"{session.version}"'})

    @action(detail=True, methods=["get"], url_path="context", url_name="context")
    def read_context(self, request: Request, node_id: str) -> Response:
        session = self.get_object()
        self.read([session.node_id])
        return _context_of(session)

    @read_context.mapping.put
    @extend_schema(
        summary="Put a session's context as a whole",
        request=PutContext,
        responses=WrittenContext,
        examples=[PUT_EXAMPLE],
    )
    def put_context(self, request: Request, node_id: str) -> Response:
        return self._with_context(actions.put_context, PutContext)

    @read_context.mapping.patch
    @extend_schema(
        summary="Set some keys of a session's context",
        description="Under a lock: of two at once, neither loses what the other set.",
        request=MergeContext,
        responses=WrittenContext,
        examples=[MERGE_EXAMPLE],
    )
    def merge_context(self, request: Request, node_id: str) -> Response:
        return self._with_context(actions.merge_context, MergeContext)

    def _with_context(
        self, write: Callable[..., verbs.Outcome], asked_by: type[StrictSerializer]
    ) -> Response:
        session = self.get_object()
        asked = self.asked(asked_by)
        outcome = write(
            actor=self.actor, session=session, context=asked["context"], **self.act_options(asked)
        )
        return _context_of(outcome.record, "updated" if outcome.updated else "unchanged")

    @action(detail=True, methods=["post"])
    def end(self, request: Request, node_id: str) -> Response:
        session = self.get_object()
        asked = self.asked(EndSession)
        options = self.act_options(asked)
        after = actions.end_session(
            actor=self.actor, session=session, summary=asked.get("summary"), **options
        )
        return self.changed(session, after)


def _context_of(session: WorkSession, became: str | None = None) -> Response:
    body: dict[str, Any] = SessionContext(session).data
    if became is not None:
        body = {**said_of(became_of([session], became)[0]), **body}
    return Response(body, headers={"ETag": f'"{session.version}"'})
