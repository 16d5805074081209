"""`/api/v1/links`: relations that somebody asserted between two records of any kind."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

from django.http import Http404
from django.utils.translation import gettext as _t
from django.utils.translation import gettext_lazy as _
from drf_spectacular.utils import (
    OpenApiExample,
    OpenApiParameter,
    extend_schema,
    extend_schema_field,
    extend_schema_view,
)
from rest_framework import serializers, status
from rest_framework.exceptions import ParseError
from rest_framework.request import Request
from rest_framework.response import Response
from rest_framework.viewsets import GenericViewSet

from agent_api.problems import InvalidQuery
from agent_api.questions import only, project_ids_of
from desk import actions
from records.actor import SourceKind
from records.api.fields import Choice, Line
from records.api.serializers import BriefSerializer, StrictSerializer, reason_field
from records.api.viewsets import ActorView, Answers
from records.links import links_in
from records.models import Link, Relation
from records.paging import Sort
from records.queries import records_by_node_id

BECAME = [("created", "created"), ("unchanged", "unchanged"), ("deleted", "deleted")]


class LinkSerializer(serializers.Serializer[Any]):
    id = serializers.IntegerField(read_only=True)
    relation = serializers.ChoiceField(choices=Relation.choices, read_only=True)
    source = serializers.CharField(read_only=True, help_text=_("A node id."))  # type: ignore[assignment]
    target = serializers.CharField(read_only=True, help_text=_("A node id."))
    reason = serializers.CharField(source="note", read_only=True, allow_null=True)
    source_kind = serializers.ChoiceField(choices=SourceKind.choices, read_only=True)
    source_name = serializers.CharField(read_only=True, allow_null=True)
    created_at = serializers.DateTimeField(read_only=True)
    ends = serializers.SerializerMethodField(
        help_text=_("The two records, the source first; one that is gone is left out.")
    )

    @extend_schema_field(BriefSerializer(many=True))
    def get_ends(self, made: Link) -> list[dict[str, Any]]:
        ends = self.context["ends"]
        found = [ends[name] for name in (made.source, made.target) if name in ends]
        return [*BriefSerializer(found, many=True).data]


class WrittenLink(LinkSerializer):
    became = serializers.ChoiceField(choices=BECAME, read_only=True)


class NewLink(StrictSerializer):
    source = Line(max_length=40, help_text=_("The node id of the record that the relation starts from."))  # type: ignore[assignment]
    relation = Choice(choices=Relation.choices)
    target = Line(max_length=40, help_text=_("The node id of the other."))
    reason = reason_field()


EXAMPLE = OpenApiExample(
    "One decision replaces another",
    request_only=True,
    value={
        "source": "dec_124",
        "relation": "SUPERSEDES",
        "target": "dec_123",
        "reason": "Redis was too dear.",
    },
)
PARAMETERS = [
    OpenApiParameter("node", str, description="Only links of this record, a node id."),
    OpenApiParameter("relation", str, many=True, enum=Relation.values, description="Only these."),
    OpenApiParameter("project", str, description="Only this one of the token's projects (its slug)."),
]
LISTED = ("node", "relation", "project", "cursor", "page_size", "count")


@extend_schema_view(
    list=extend_schema(
        summary="List links, newest first", parameters=PARAMETERS, responses=LinkSerializer(many=True)
    ),
    retrieve=extend_schema(summary="Read one link", responses=LinkSerializer),
    create=extend_schema(
        summary="Say how two records relate",
        description="Said again it is unchanged. A decision that is superseded gets that status too.",
        request=NewLink,
        responses={201: WrittenLink, 200: WrittenLink},
        examples=[EXAMPLE],
    ),
    destroy=extend_schema(
        summary="Take a relation back",
        description="Both records' histories keep that it was there.",
        parameters=[OpenApiParameter("reason", str, description="Why; kept in the history.")],
        responses={200: WrittenLink},
    ),
)
class LinkViewSet(ActorView, GenericViewSet[Any]):
    lookup_value_regex = "[^/]+"
    lookup_field = "id"
    filter_backends = ()
    sort = Sort("newest", _("newest first"), "id")

    def list(self, request: Request) -> Response:
        only(request.query_params, *LISTED)
        relations = request.query_params.getlist("relation")
        if wrong := sorted(set(relations) - set(Relation.values)):
            said = _t("Must be one of: %s.") % ", ".join(Relation.values)
            raise InvalidQuery({"relation": [f"{', '.join(wrong)[:100]}: {said}"]})
        node_id = request.query_params.get("node", "")
        if not (node_id.isascii() and len(node_id) <= 40 and "\x00" not in node_id):
            raise InvalidQuery({"node": [_t("There is no such record.")]})
        ids = project_ids_of(self.actor, request.query_params.get("project"))
        page = self.paginate_queryset(links_in(ids, node_id, relations)) or []
        return self.get_paginated_response(self.answers(page))

    def retrieve(self, request: Request, id: str) -> Response:
        return Response(self.answers([self.get_object()])[0])

    def create(self, request: Request) -> Response:
        asked = self.asked(NewLink)
        ends = {field: self.visible(field, asked[field]) for field in ("source", "target")}
        made, became = actions.link_records(
            actor=self.actor, relation=asked["relation"], reason=asked.get("reason", ""), **ends
        )
        known = status.HTTP_201_CREATED if became == "created" else status.HTTP_200_OK
        return Response({"became": became, **self.answers([made])[0]}, status=known)

    def destroy(self, request: Request, id: str) -> Response:
        only(request.query_params, "reason")
        if request.data:
            raise ParseError(_t("A DELETE has no body here; the reason is a query parameter."))
        made = self.get_object()
        body = {"became": "deleted", **self.answers([made])[0]}
        actions.unlink_records(actor=self.actor, made=made, reason=request.query_params.get("reason", ""))
        return Response(body)

    def get_object(self) -> Link:
        key = self.kwargs["id"]
        if not (key.isascii() and key.isdecimal() and len(key) < 19):
            raise Http404
        made = links_in(self.actor.access.project_ids()).filter(pk=int(key)).first()
        if made is None:
            raise Http404
        return made

    def answers(self, links: Sequence[Link]) -> Answers:
        names = {name for made in links for name in (made.source, made.target)}
        ends = records_by_node_id(names, [*{made.project_id for made in links}])
        self.read(sorted(ends))
        return [*LinkSerializer([*links], many=True, context={"ends": ends}).data]
