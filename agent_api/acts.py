"""`POST /api/v1/acts/{act}/undo`: take back what one act did. Every write names its act in the header X-Act-Id."""

from __future__ import annotations

from collections.abc import Collection
from typing import Any, ClassVar

from django.http import Http404
from django.utils.translation import gettext_lazy as _
from drf_spectacular.utils import extend_schema
from rest_framework import serializers
from rest_framework.request import Request
from rest_framework.response import Response

from agent_api.questions import only
from agent_api.serializers import projects_of
from agent_api.views import DoorView
from projects.access import Capability
from projects.models import Project
from projects.names import must_be_one_of, named_among
from records.acts import one_act
from records.api.fields import Line
from records.api.serializers import StrictSerializer, reason_field
from records.errors import InvalidInput
from records.undo import projects_of_act, undo


class Undo(StrictSerializer):
    project = Line(
        required=False,
        max_length=400,
        help_text=_(
            "The project's slug or another of its names; needed where the act is in several (an imported history repeats"
            " another's acts)."
        ),
    )
    reason = reason_field()


class NotUndone(serializers.Serializer[Any]):
    node_id = serializers.CharField(read_only=True)
    detail = serializers.CharField(read_only=True, help_text=_("Why it stays as it is."))


class UndoneSerializer(serializers.Serializer[Any]):
    act = serializers.CharField(read_only=True, help_text=_("The undo, an act itself: it can be undone."))
    undone = serializers.CharField(read_only=True, help_text=_("The act that was taken back."))
    updated = serializers.ListField(child=serializers.CharField(), read_only=True, help_text=_("Node ids."))
    unchanged = serializers.ListField(
        child=serializers.CharField(), read_only=True, help_text=_("Undone before.")
    )
    refused = NotUndone(many=True, read_only=True)


class UndoView(DoorView):
    capability: ClassVar[Capability | None] = Capability.REVIEW

    @extend_schema(
        summary="Take back what one act did",
        description="What was changed again since stays as it is, and is named in `refused`.",
        request=Undo,
        responses=UndoneSerializer,
    )
    def post(self, request: Request, act: str) -> Response:
        only(request.query_params)
        asked = self.asked(Undo)
        found = {project_id for project_id in projects_of_act(act) if self.actor.access.may(project_id)}
        project = self._project(found, asked.get("project"))
        with one_act() as this:
            outcome = undo(act, actor=self.actor, reason=asked.get("reason", ""), project=project)
        body = {
            "act": this,
            "undone": act,
            "updated": [record.node_id for record in outcome.updated],
            "unchanged": [record.node_id for record in outcome.unchanged],
            "refused": [{"node_id": node_id, "detail": str(why)} for node_id, why in outcome.refused],
        }
        return Response(UndoneSerializer(body).data)

    def _project(self, found: Collection[int | None], name: str | None) -> Project | None:
        """The one that the act is of; None for runs of no project. 404 where it is in none of the token's, or not in the
        one that was named."""
        found = {*found}
        known = [project for project in projects_of(self.actor) if project.pk in found]
        if name is not None:
            project = named_among(projects_of(self.actor), name)
            if project is None:
                raise InvalidInput({"project": [must_be_one_of(projects_of(self.actor), name)]})
            found &= {project.pk}
        if not found:
            raise Http404
        if len(found) > 1:
            raise InvalidInput({"project": [must_be_one_of(known, "")]})
        return next((project for project in known if project.pk in found), None)
