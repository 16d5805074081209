"""Lists are filtered by the kind's own FilterSet, as the page is; a filter that cannot be applied is refused."""

from __future__ import annotations

from typing import Any

import django_filters
from django.db.models import QuerySet
from django.utils.translation import gettext as _
from rest_framework.filters import BaseFilterBackend
from rest_framework.request import Request

from agent_api.problems import InvalidQuery
from projects.names import must_be_one_of, named_among
from records.filter_fields import SEVERAL, PairsField, PairsFilter

DOOR_ONLY = ("count",)


class FilterSetBackend(BaseFilterBackend):
    def filter_queryset(self, request: Request, queryset: QuerySet[Any], view: Any) -> QuerySet[Any]:
        asked = request.query_params.copy()
        for name in DOOR_ONLY:
            asked.pop(name, None)
        told: dict[str, list[str]] = {}
        project = self._project(request, asked, told)
        if project is not None:
            queryset = queryset.filter(project_id=project)
        own = view.actor.access.project_ids()
        project = own[0] if project is None and len(own) == 1 else project
        filterset = view.filterset_class(asked, queryset, request=request, project_id=project)
        problems = dict(filterset.problems)
        if "format" in asked:
            problems["format"] = [_("There is no such filter.")]
        for name, values in asked.lists():
            if len(values) > 1 and not isinstance(filterset.filters.get(name), SEVERAL):
                problems.setdefault(name, [_("Can be given only once.")])
        problems |= told
        if problems:
            raise InvalidQuery(problems)
        view.sort, view.filters = filterset.sort, filterset
        return filterset.qs

    def _project(self, request: Request, asked: Any, problems: dict[str, list[str]]) -> int | None:
        slug = asked.get("project")
        if slug is None:
            return None
        projects = request.auth.token.reach  # type: ignore[union-attr]
        named = named_among(projects, slug)
        if named is None:
            problems["project"] = [must_be_one_of(projects, slug)]
        return named.pk if named else None

    def get_schema_operation_parameters(self, view: Any) -> list[dict[str, Any]]:
        filterset_class = view.filterset_class
        parameters = [_of_filter(name, item) for name, item in filterset_class.base_filters.items()]
        sorts = [sort.name for sort in filterset_class.sorts]
        parameters += [
            _parameter("sort", {"type": "string", "enum": sorts, "default": sorts[0]}, "Order."),
            _parameter("project", {"type": "string"}, "Only this one of the token's projects (its slug)."),
        ]
        return parameters


def _parameter(name: str, schema: dict[str, Any], description: str) -> dict[str, Any]:
    return {"name": name, "in": "query", "required": False, "schema": schema, "description": description}


def _of_filter(name: str, item: Any) -> dict[str, Any]:
    label = str(item.label or name)
    choices = [str(value) for value, _label in item.extra.get("choices", [])]
    if isinstance(item, SEVERAL):
        one: dict[str, Any] = {"type": "string", "enum": choices}
        schema: dict[str, Any] = {"type": "array", "items": one}
        if isinstance(item, PairsFilter):
            one = {"type": "string", "pattern": "=", "maxLength": PairsField.LONGEST}
            schema = {"type": "array", "items": one, "maxItems": PairsField.MOST}
        return {**_parameter(name, schema, label), "explode": True, "style": "form"}
    if isinstance(item, django_filters.ChoiceFilter):
        schema = {"type": "string", "enum": choices}
        if item.extra.get("initial"):
            schema["default"] = item.extra["initial"]
    elif isinstance(item, django_filters.DateFilter):
        # Empty, as a form sends it, is no filter.
        schema = {"type": "string", "anyOf": [{"format": "date"}, {"maxLength": 0}]}
    elif isinstance(item, django_filters.NumberFilter):
        bounds = {"minimum": item.extra.get("min_value"), "maximum": item.extra.get("max_value")}
        schema = {"type": "number", **{bound: value for bound, value in bounds.items() if value is not None}}
    else:
        schema = {"type": "string"}
        if item.extra.get("max_length"):
            schema["maxLength"] = item.extra["max_length"]
    return _parameter(name, schema, label)
