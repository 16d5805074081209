"""Resources of no single kind: who the token is, its projects, the questions one asks of any record."""

from __future__ import annotations

from typing import Any

from django.contrib.auth.decorators import login_not_required
from django.http import Http404, HttpRequest, HttpResponse, JsonResponse
from django.utils.translation import gettext as _
from django.views.decorators.csrf import csrf_exempt
from drf_spectacular.utils import extend_schema, extend_schema_view
from rest_framework.decorators import action
from rest_framework.request import Request
from rest_framework.response import Response
from rest_framework.views import APIView
from rest_framework.viewsets import GenericViewSet

from agent_api import openapi
from agent_api.door import Door
from agent_api.pagination import page_size_of
from agent_api.problems import InvalidQuery, plain_problem
from agent_api.questions import (
    HISTORY_PARAMETERS,
    NEIGHBOURHOOD_PARAMETERS,
    SIMILAR_PARAMETERS,
    neighbourhood_form,
    only,
    similar_form,
)
from agent_api.serializers import (
    CountsSerializer,
    HistorySerializer,
    MeSerializer,
    NeighbourhoodSerializer,
    PolicySerializer,
    ProjectDetailSerializer,
    ProjectListSerializer,
    ProjectSerializer,
    SimilarSerializer,
    projects_of,
)
from decisions.api import briefs_of_successors
from decisions.models import Decision
from desk.counts import counts_by_kind
from graph.queries import graph_store, reviewed_part
from graph.similar import similar_records
from graph.store import NoSuchNode
from projects.access import project_or_404
from projects.queries import policy_of, recalling_reviewed_only
from records.api.viewsets import ActorView
from records.hygiene.kept import findings_of
from records.queries import images_before, records_by_node_id, revisions_of, visible_record


class DoorView(Door, ActorView, APIView):  # type: ignore[misc]
    pass


class MeView(DoorView):
    capability = None

    @extend_schema(summary="Who this token is and what it may do", responses=MeSerializer)
    def get(self, request: Request) -> Response:
        only(request.query_params)
        return Response(MeSerializer(self.actor.token).data)


class ProjectsView(DoorView):
    @extend_schema(
        summary="The projects this token may read",
        operation_id="projects_list",
        responses=ProjectListSerializer,
    )
    def get(self, request: Request) -> Response:
        only(request.query_params)
        return Response(ProjectListSerializer({"results": projects_of(self.actor)}).data)


class ProjectView(DoorView):
    @extend_schema(
        summary="One project: how much it remembers, and its policy",
        operation_id="projects_retrieve",
        responses=ProjectDetailSerializer,
    )
    def get(self, request: Request, slug: str) -> Response:
        only(request.query_params)
        project = project_or_404(self.actor.access, slug)
        body: dict[str, Any] = ProjectSerializer(project).data
        counts = {name: CountsSerializer(count).data for name, count in counts_by_kind(project).items()}
        return Response({**body, "counts": counts, "policy": PolicySerializer(policy_of(project.pk)).data})


@extend_schema_view(
    similar=extend_schema(
        summary="What is most like a record, best first",
        responses=SimilarSerializer,
        parameters=SIMILAR_PARAMETERS,
    ),
    neighbourhood=extend_schema(
        summary="What surrounds a record in the graph",
        responses=NeighbourhoodSerializer,
        parameters=NEIGHBOURHOOD_PARAMETERS,
    ),
    history=extend_schema(
        summary="Every act on a record, newest first",
        responses=HistorySerializer,
        parameters=HISTORY_PARAMETERS,
    ),
)
class RecordsViewSet(ActorView, GenericViewSet[Any]):
    """Questions one asks of a record of any kind."""

    lookup_field = "node_id"
    lookup_value_regex = "[^/]+"
    pagination_class = None
    filter_backends = ()

    def get_object(self) -> Any:
        record = visible_record(self.actor.access, self.kwargs["node_id"])
        if record is None:
            raise Http404
        return record

    @action(detail=True)
    def similar(self, request: Request, node_id: str) -> Response:
        form = similar_form(request.query_params)
        record = self.get_object()
        options = form.options()
        options["reviewed_only"] |= self._reviewed_only(record)
        similar = similar_records(record, **options)
        found = similar.found
        records = [one.record for one in found]
        self.read([one.node_id for one in records])
        context = {
            "scores": {one.record.node_id: one.score for one in found},
            "successors": briefs_of_successors([one for one in records if isinstance(one, Decision)]),
            "findings": findings_of(one.node_id for one in records),
        }
        answer = {"node_id": record.node_id, "answered_by": similar.answered_by, "results": records}
        return Response(SimilarSerializer(answer, context=context).data)

    @action(detail=True)
    def neighbourhood(self, request: Request, node_id: str) -> Response:
        record = self.get_object()
        if record.project_id is None:
            raise Http404
        form = neighbourhood_form(request.query_params, record.node_id)
        try:
            hood = graph_store().neighbourhood(
                record.node_id,
                form.within(record.project_id),
                depth=form.value("depth"),
                cap=form.value("cap"),
            )
        except NoSuchNode as error:
            raise Http404 from error
        if self._reviewed_only(record):
            hood = reviewed_part(hood)
        node_ids = [node.id for node in hood.nodes]
        self.read(node_ids)
        records = records_by_node_id(node_ids, [record.project_id], brief=True)
        return Response(NeighbourhoodSerializer(hood, context={"records": records}).data)

    def _reviewed_only(self, record: Any) -> bool:
        """The policy of the record's project."""
        return record.project_id in recalling_reviewed_only([record.project_id])

    @action(detail=True)
    def history(self, request: Request, node_id: str) -> Response:
        only(request.query_params, "before", "page_size")
        record = self.get_object()
        size = page_size_of(request)
        revisions = revisions_of(record.node_id, size + 1, _before(request))
        more, revisions = len(revisions) > size, revisions[:size]
        context = {"before": images_before(revisions)}
        answer = {"node_id": record.node_id, "results": revisions, "next": revisions[-1].pk if more else None}
        return Response(HistorySerializer(answer, context=context).data)


def _before(request: Request) -> int | None:
    asked = request.query_params.get("before")
    if asked is None:
        return None
    if not (asked.isascii() and asked.isdecimal() and len(asked) < 19):
        raise InvalidQuery({"before": [_("Must be the number that next gave.")]})
    return int(asked)


@login_not_required
def schema(request: HttpRequest) -> HttpResponse:
    """The OpenAPI description; open to all, as it tells nothing of any record."""
    if request.method not in ("GET", "HEAD"):
        response = plain_problem(request, 405, "method_not_allowed", _("Only GET is answered here."))
        response["Allow"] = "GET, HEAD"
        return response
    return HttpResponse(openapi.description(), content_type="application/vnd.oai.openapi+json; version=3.1")


@csrf_exempt
@login_not_required
def not_found(request: HttpRequest, **_kwargs: Any) -> HttpResponse:
    return plain_problem(
        request, 404, "not_found", _("There is no such address in this API; see /api/v1/schema.")
    )


@csrf_exempt
@login_not_required
def no_oauth(request: HttpRequest, **_kwargs: Any) -> HttpResponse:
    """Agents' clients look for OAuth first: say briefly that there is none, so that they use their token."""
    return JsonResponse({"error": "not_found", "error_description": "Use a bearer token."}, status=404)
