"""`POST /api/v1/<kind>/bulk`: up to 1,000 new records at once; what became of each; a bad one stops no other."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

from django.utils.translation import gettext as _t
from django.utils.translation import gettext_lazy as _
from drf_spectacular.utils import extend_schema
from rest_framework import serializers
from rest_framework.decorators import action
from rest_framework.exceptions import APIException
from rest_framework.request import Request
from rest_framework.response import Response

from agent_api.problems import problem_of
from database.transactions import transactional
from projects.models import Project
from records.acts import one_act
from records.api.serializers import said_of
from records.api.viewsets import RecordViewSet
from records.became import BECAME, CREATED, became_of
from records.errors import InvalidInput, TooLarge, VerbError

ITEMS_MOST = 1_000
Item = tuple[int, dict[str, Any]]


class BulkResult(serializers.Serializer[Any]):
    """What became of one item: as in the answer to it alone, or what is wrong with it."""

    index = serializers.IntegerField(help_text=_("Of the item, from 0."))
    status = serializers.IntegerField(help_text=_("As if it had been sent alone: 201, 200, 409, 413, 422."))
    became = serializers.ChoiceField(choices=[(one, one) for one in BECAME], required=False)
    duplicate_of = serializers.ListField(child=serializers.CharField(), required=False)
    searchable_at = serializers.DateTimeField(required=False, allow_null=True)
    queued = serializers.BooleanField(required=False)
    node_id = serializers.CharField(required=False)
    version = serializers.IntegerField(required=False)
    detail = serializers.CharField(required=False, help_text=_("What is wrong with it."))
    errors = serializers.DictField(  # type: ignore[assignment]
        child=serializers.ListField(child=serializers.CharField()),
        required=False,
        help_text=_("By field path."),
    )


class BulkAnswer(serializers.Serializer[Any]):
    results = BulkResult(many=True, help_text=_("One for each item, in its order."))
    written = serializers.IntegerField(help_text=_("How many were created, updated or found unchanged."))
    refused = serializers.IntegerField()


def with_bulk(view_class: type[Any]) -> type[Any]:
    """A kind's viewset with `bulk` beside `create`."""
    plural = str(view_class.kind.label_plural).lower()
    items = type(
        f"Bulk{view_class.new_class.__name__}",
        (serializers.Serializer,),
        {"items": serializers.ListField(child=view_class.new_class(), min_length=1, max_length=ITEMS_MOST)},
    )

    @extend_schema(
        summary=f"Write up to 1,000 new {plural}",
        description="A bad item stops no other; each one's result is told. Beyond 1,000, or 4 MiB: 413.",
        request=items,
        responses=BulkAnswer,
    )
    @action(detail=False, methods=["post"])
    def bulk(self: Any, request: Request) -> Response:
        results = write_all(self, _items_of(request.data))
        written = sum("node_id" in result for result in results)
        return Response({"results": results, "written": written, "refused": len(results) - written})

    attributes = {"__module__": view_class.__module__, "__doc__": view_class.__doc__, "bulk": bulk}
    return type(view_class.__name__, (view_class,), attributes)


def _items_of(body: Any) -> list[Any]:
    items = body.get("items") if isinstance(body, dict) else None
    if not isinstance(items, list) or not items:
        raise InvalidInput({"items": [_t("Must be a list of 1 to %s items.") % f"{ITEMS_MOST:,}"]})
    if unknown := [name for name in body if name != "items"]:
        raise InvalidInput({name: [_t("There is no such field.")] for name in unknown})
    if len(items) > ITEMS_MOST:
        said = _t("Holds %(count)s items; at most %(most)s are taken at once, and nothing was written.")
        raise TooLarge({"items": [said % {"count": f"{len(items):,}", "most": f"{ITEMS_MOST:,}"}]})
    return items


def write_all(view: Any, items: Sequence[Any]) -> list[dict[str, Any]]:
    """The result of each item, in order. Those of one project and reason are written as one set."""
    with one_act():
        return _write_each(view, items)


def _write_each(view: Any, items: Sequence[Any]) -> list[dict[str, Any]]:
    results: dict[int, dict[str, Any]] = {}
    sets: dict[tuple[int, str], tuple[Project, list[Item]]] = {}
    for index, item in enumerate(items):
        try:
            serializer = view.new_class(data=item)
            serializer.is_valid(raise_exception=True)
            fields = dict(serializer.validated_data)
            if type(view).make_set is not RecordViewSet.make_set:
                project, reason = view.project_for(fields), fields.pop("reason", "")
                sets.setdefault((project.pk, reason), (project, []))[1].append((index, fields))
            else:
                results[index] = _written(*transactional(view.write)(fields))
        except (APIException, VerbError) as refusal:
            results[index] = _refused(refusal)
    for (_project_id, reason), (project, rows) in sets.items():
        results |= _write_set(view, project, rows, reason)
    return [{"index": index, **results[index]} for index in range(len(items))]


def _write_set(view: Any, project: Project, rows: Sequence[Item], reason: str) -> dict[int, dict[str, Any]]:
    """All at once; where one is refused, half and half, until it stands alone."""
    try:
        made = transactional(view.make_set)(project, [dict(fields) for _index, fields in rows], reason)
    except VerbError as refusal:
        if len(rows) == 1:
            return {rows[0][0]: _refused(refusal)}
        half = len(rows) // 2
        return _write_set(view, project, rows[:half], reason) | _write_set(view, project, rows[half:], reason)
    return {
        index: _said(record, said_of(became), 201)
        for (index, _fields), record, became in zip(rows, made, became_of(made), strict=True)
    }


def _written(record: Any, act: str) -> dict[str, Any]:
    return _said(record, said_of(became_of([record], act)[0]), 201 if act == CREATED else 200)


def _said(record: Any, became: dict[str, Any], status: int) -> dict[str, Any]:
    return {"status": status, **became, "node_id": record.node_id, "version": record.version}


def _refused(refusal: APIException | VerbError) -> dict[str, Any]:
    told = problem_of(refusal)
    return {name: told[name] for name in ("status", "detail", "errors") if name in told}
