"""The viewset that each kind's resource extends: list, read, create, change, review, archive, restore."""

from __future__ import annotations

import re
from collections.abc import Iterable, Mapping, Sequence
from typing import Any, ClassVar

from django.http import Http404
from django.urls import reverse
from django.utils.translation import gettext as _
from rest_framework import serializers, status
from rest_framework.decorators import action
from rest_framework.exceptions import APIException, ParseError
from rest_framework.request import Request
from rest_framework.response import Response
from rest_framework.viewsets import GenericViewSet

from projects.access import Capability
from projects.models import Project
from projects.names import must_be_one_of, named_among
from records import verbs
from records.actor import Actor
from records.api.serializers import Act, RecordSerializer, Review, StrictSerializer, said_of
from records.became import CREATED, UNCHANGED, UPDATED, became_of
from records.checks import Reason
from records.errors import Erased
from records.filters import RecordFilterSet
from records.hygiene.kept import Found, findings_of
from records.kinds import Kind, parse_node_id
from records.links import links_of
from records.models import RecordQuerySet
from records.queries import survivors_of, visible_record, visible_records
from records.reads import note_reads

Answers = list[dict[str, Any]]
ETAG = re.compile(r'(?:W/)?"([0-9]{1,10})"', re.ASCII)


class PreconditionRequired(APIException):
    status_code = status.HTTP_428_PRECONDITION_REQUIRED
    default_code = "version_required"


class ActorView:
    """Who asks: the authentication class puts the Actor in `request.auth`."""

    # None: by method (read or write). Actions that need more say so.
    capability: ClassVar[Capability | None] = None

    @property
    def actor(self) -> Actor:
        return self.request.auth  # type: ignore[attr-defined]

    def asked(self, serializer_class: type[StrictSerializer]) -> dict[str, Any]:
        """What the body asks, checked."""
        serializer = serializer_class(data=self.request.data)  # type: ignore[attr-defined]
        serializer.is_valid(raise_exception=True)
        return dict(serializer.validated_data)

    def project_for(self, fields: dict[str, Any]) -> Project:
        """The project a new record goes to: the one named, or the token's only one."""
        token = self.actor.token
        assert token is not None
        projects = token.reach
        slug = fields.pop("project", None)
        if slug is None and len(projects) == 1:
            return projects[0]
        named = named_among(projects, slug)
        if named is None:
            raise serializers.ValidationError({"project": [must_be_one_of(projects, slug)]})
        return named

    def visible(self, field: str, node_id: str, kind: Kind | None = None) -> Any:
        """The record that a field names; another project's is as absent as a missing one."""
        return _there(field, visible_record(self.actor.access, node_id), kind)

    def read(self, node_ids: Sequence[str]) -> None:
        """Note that these records were answered to the agent."""
        note_reads(node_ids, actor=self.actor, door=f"{self.actor.channel}.{self.basename}.{self.action}")  # type: ignore[attr-defined]


def _there(field: str, record: Any, kind: Kind | None) -> Any:
    if isinstance(record, Erased):
        raise record
    if record is None or (kind is not None and record.prefix != kind.prefix):
        raise serializers.ValidationError({field: [_("There is no such record.")]})
    return record


class RecordViewSet(ActorView, GenericViewSet[Any]):
    """Subclasses name the kind and its serializers, and say how sets of it are made and one is edited (`make_set` or
    `write_set`, `edit`)."""

    kind: ClassVar[Kind]
    filterset_class: ClassVar[type[RecordFilterSet]]
    serializer_class: type[RecordSerializer]
    new_class: ClassVar[type[StrictSerializer]]
    changes_class: ClassVar[type[StrictSerializer]]
    # Fields of `new_class` that name another record by its node id, with the kind of that.
    named: ClassVar[Mapping[str, Kind]] = {}
    lookup_field = "node_id"
    lookup_value_regex = "[^/]+"

    # --- What a kind says ------------------------------------------------------------------------------------
    def make_set(self, project: Project, rows: Sequence[dict[str, Any]], reason: Reason) -> list[Any]:
        """New records of one project, in the order of the rows."""
        raise NotImplementedError

    def write_set(
        self, project: Project, rows: Sequence[dict[str, Any]], reason: Reason
    ) -> Sequence[tuple[Any, str]]:
        """The same, and what was done with each: CREATED; of a kind that is upserted, UPDATED or UNCHANGED. No two rows
        have the same `own_name`."""
        return [(record, CREATED) for record in self.make_set(project, rows, reason)]

    def own_name(self, fields: Mapping[str, Any]) -> str | None:
        """What a new one calls itself, where what is written again by that name is the same record."""
        return None

    def place(self, fields: dict[str, Any]) -> Project:
        """The project that a new one goes to; the records that it names stand in `fields`."""
        return self.project_for(fields)

    def edit(self, record: Any, changes: dict[str, Any], **options: Any) -> Any:
        raise NotImplementedError

    def extras(self, records: Sequence[Any]) -> dict[str, Any]:
        """What the serializer needs beside the rows, read once for all of them."""
        return {}

    # --- The resource ----------------------------------------------------------------------------------------
    def get_queryset(self) -> RecordQuerySet:
        rows = self.kind.model.objects.select_related("project", *self.kind.select)
        ids = self.actor.access.project_ids()
        # One project compares by "=", so that the index also gives the order.
        return rows.filter(project_id=ids[0]) if len(ids) == 1 else rows.filter(project_id__in=ids)

    def get_object(self) -> Any:
        node_id = self.kwargs["node_id"]
        parsed = parse_node_id(node_id)
        record = (
            visible_record(self.actor.access, node_id)
            if parsed and parsed[0].name == self.kind.name
            else None
        )
        if record is None:
            raise Http404
        return record

    def list(self, request: Request) -> Response:
        return self.listed(self.get_queryset())

    def listed(self, rows: Any) -> Response:
        page = self.paginate_queryset(self.filter_queryset(rows)) or []
        self.read([record.node_id for record in page])
        return self.get_paginated_response(self.listed_answers(page))

    def retrieve(self, request: Request, node_id: str) -> Response:
        record = self.get_object()
        self.read([record.node_id])
        return self.answer(record)

    def create(self, request: Request) -> Response:
        record, act = self.write(self.asked(self.new_class))
        return self.made(record) if act == CREATED else self.answer(record, act)

    def write(self, fields: dict[str, Any]) -> tuple[Any, str]:
        """The record that was asked for, and what was done (`write_set`)."""
        self.put_named(fields, self.named_in([fields]))
        project, reason = self.place(fields), fields.pop("reason", "")
        ((record, act),) = self.write_set(project, [fields], reason)
        return record, act

    def named_in(self, bodies: Iterable[Mapping[str, Any]]) -> dict[str, Any]:
        """What these bodies name, by node id: for `put_named`."""
        node_ids = {body[field] for body in bodies for field in self.named if body.get(field)}
        return visible_records(self.actor.access, node_ids) if node_ids else {}

    def put_named(self, fields: dict[str, Any], found: Mapping[str, Any]) -> None:
        """The records in place of their node ids. Raises ValidationError and Erased."""
        for field, kind in self.named.items():
            if fields.get(field):
                fields[field] = _there(field, found.get(fields[field]), kind)

    def partial_update(self, request: Request, node_id: str) -> Response:
        record = self.get_object()
        changes = self.asked(self.changes_class)
        options = self.act_options(changes, version_required=True)
        return self.changed(record, self.edit(record, changes, **options))

    @action(detail=True, methods=["post"], capability=Capability.REVIEW)
    def review(self, request: Request, node_id: str) -> Response:
        record = self.get_object()
        asked = self.asked(Review)
        return self.became(
            verbs.review([record], asked["state"], actor=self.actor, **self.act_options(asked)),
        )

    @action(detail=True, methods=["post"])
    def archive(self, request: Request, node_id: str) -> Response:
        record = self.get_object()
        return self.became(verbs.archive([record], actor=self.actor, **self.act_options(self.asked(Act))))

    @action(detail=True, methods=["post"])
    def restore(self, request: Request, node_id: str) -> Response:
        record = self.get_object()
        return self.became(verbs.restore([record], actor=self.actor, **self.act_options(self.asked(Act))))

    # --- What was asked --------------------------------------------------------------------------------------
    def are_linked(self, record: Any, other: Any, relation: str) -> bool:
        pair = {record.node_id, other.node_id}
        return any({link.source, link.target} == pair for link in links_of([record.node_id], [relation]))

    def act_options(self, asked: dict[str, Any], *, version_required: bool = False) -> dict[str, Any]:
        """`reason` and `expected_version` of a verb, taken out of what was asked and of If-Match."""
        version = asked.pop("version", None)
        header = self.request.headers.get("If-Match")
        if header is not None and header.strip() != "*":
            match = ETAG.fullmatch(header.strip())
            if match is None:
                raise ParseError(_('If-Match must be "<version>" or *.'))
            if version is not None and version != int(match[1]):
                raise ParseError(_("If-Match and version name two different versions."))
            version = int(match[1])
        if version_required and version is None and header is None:
            raise PreconditionRequired(
                _("Send the version you read (as version or If-Match), or If-Match: * to change any.")
            )
        return {"reason": asked.pop("reason", ""), "expected_version": version}

    # --- What is answered ------------------------------------------------------------------------------------
    def answers(self, records: Sequence[Any], findings: Found | None = None) -> Answers:
        return [
            *self.serializer_class([*records], many=True, context=self.context_of(records, findings)).data
        ]

    def context_of(self, records: Sequence[Any], findings: Found | None = None) -> dict[str, Any]:
        """`extras`, where merged ones lead, and what was found in the records' texts: one query, unless it is at hand."""
        if findings is None:
            findings = findings_of(record.node_id for record in records)
        return {**self.extras(records), "findings": findings, "survivors": survivors_of(records, brief=True)}

    def listed_answers(self, records: Sequence[Any]) -> Answers:
        """What a list says of its records, where that is less than what each says for itself."""
        return self.answers(records)

    def state_of(self, record: Any) -> dict[str, Any]:
        """The record as it is kept now, for the answer to a conflict."""
        return self.answers([record])[0]

    def answer(self, record: Any, act: str | None = None) -> Response:
        """The record; after an act (created, updated, unchanged) also what became of it."""
        if act is None:
            body = self.answers([record])[0]
        else:
            (became,) = became_of([record], act)
            (answer,) = self.answers([record], {record.node_id: list(became.findings)})
            body = {**said_of(became), **answer}
        return Response(body, headers={"ETag": f'"{record.version}"'})

    def made(self, record: Any) -> Response:
        response = self.answer(record, CREATED)
        response.status_code = status.HTTP_201_CREATED
        response["Location"] = reverse(f"api:{self.kind.name}-detail", args=[record.node_id])
        return response

    def changed(self, before: Any, after: Any) -> Response:
        return self.answer(after, UPDATED if after.version != before.version else UNCHANGED)

    def became(self, outcome: verbs.Outcome) -> Response:
        return self.answer(outcome.record, UPDATED if outcome.updated else UNCHANGED)
