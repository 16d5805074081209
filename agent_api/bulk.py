"""`POST /api/v1/<kind>/bulk`: up to 1,000 new records at once; what became of each; a bad one stops no other."""

from __future__ import annotations

from collections import Counter
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
from records.became import BECAME, CREATED, UNCHANGED, UPDATED, Became, became_of
from records.errors import Erased, InvalidInput, TooLarge, VerbError

ITEMS_MOST = 1_000
REFUSALS = (APIException, VerbError, Erased)
Item = tuple[int, dict[str, Any]]


class BulkResult(serializers.Serializer[Any]):
    """What became of one item: as in the answer to it alone, or what is wrong with it."""

    index = serializers.IntegerField(help_text=_("Of the item, from 0."))
    status = serializers.IntegerField(
        help_text=_("As if it had been sent alone: 201, 200, 409, 410, 413, 422.")
    )
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
    """The result of each item, in order. Those of one project are written as one set, of which no two are the same
    record."""
    with one_act():
        return _write_each(view, items)


def _write_each(view: RecordViewSet, items: Sequence[Any]) -> list[dict[str, Any]]:
    results: dict[int, dict[str, Any]] = {}
    checked: list[Item] = []
    for index, item in enumerate(items):
        try:
            serializer = view.new_class(data=item)
            serializer.is_valid(raise_exception=True)
            checked.append((index, dict(serializer.validated_data)))
        except REFUSALS as refusal:
            results[index] = _refused(refusal)
    named = view.named_in(fields for _index, fields in checked)
    times: Counter[str | None] = Counter()
    sets: dict[tuple[int, int], tuple[Project, list[Item]]] = {}
    for index, fields in checked:
        try:
            view.put_named(fields, named)
            project, name = view.place(fields), view.own_name(fields)
        except REFUSALS as refusal:
            results[index] = _refused(refusal)
            continue
        # What is named again is written after all that is named for the first time.
        again = 0 if name is None else times[name]
        times[name] += 1
        sets.setdefault((again, project.pk), (project, []))[1].append((index, fields))
    for _order, (project, rows) in sorted(sets.items(), key=lambda one: one[0][0]):
        results |= _write_set(view, project, rows)
    return [{"index": index, **results[index]} for index in range(len(items))]


def _write_set(view: RecordViewSet, project: Project, items: Sequence[Item]) -> dict[int, dict[str, Any]]:
    """All at once; where one is refused, half and half, until it stands alone."""
    rows = [{name: value for name, value in fields.items() if name != "reason"} for _index, fields in items]
    reasons = [fields.get("reason", "") for _index, fields in items]
    try:
        written = transactional(view.write_set)(project, rows, reasons)
    except VerbError as refusal:
        if len(items) == 1:
            return {items[0][0]: _refused(refusal)}
        half = len(items) // 2
        return _write_set(view, project, items[:half]) | _write_set(view, project, items[half:])
    results: dict[int, dict[str, Any]] = {}
    for act in (CREATED, UPDATED, UNCHANGED):
        acted = {
            index: record
            for (index, _fields), (record, done) in zip(items, written, strict=True)
            if done == act
        }
        told = became_of([*acted.values()], act)
        for (index, record), became in zip(acted.items(), told, strict=True):
            results[index] = _said(record, act, became)
    return results


def _said(record: Any, act: str, became: Became) -> dict[str, Any]:
    status = 201 if act == CREATED else 200
    return {"status": status, **said_of(became), "node_id": record.node_id, "version": record.version}


def _refused(refusal: APIException | VerbError | Erased) -> dict[str, Any]:
    told = problem_of(refusal)
    return {name: told[name] for name in ("status", "detail", "errors") if name in told}
