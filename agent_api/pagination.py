"""Pages of a list by cursor, over the same keyset paging as the dashboard."""

from __future__ import annotations

from typing import Any

from django.conf import settings
from django.utils.translation import gettext as _
from rest_framework.pagination import BasePagination
from rest_framework.request import Request
from rest_framework.response import Response
from rest_framework.utils.urls import replace_query_param

from agent_api.problems import InvalidQuery
from records.errors import InvalidInput
from records.paging import COUNT_EXACT_TO, PAGE_SIZE, capped_count, paginate

PAGE_SIZE_MOST = 200


class KeysetPagination(BasePagination):
    """`page_size` (1 to 200), `cursor` from `next` or `previous`, `count=true` for the total up to 10,000."""

    def paginate_queryset(self, queryset: Any, request: Request, view: Any = None) -> list[Any]:
        self.path = f"{settings.SITE_URL}{request.get_full_path()}"
        counted, filters = wants_count(request), getattr(view, "filters", None)
        self.count = self.hidden = None
        if counted and filters is not None:
            self.count, self.hidden = filters.counts()
        elif counted:
            self.count = capped_count(queryset)
        try:
            self.page = paginate(
                queryset, view.sort, request.query_params.get("cursor") or None, page_size_of(request)
            )
        except InvalidInput as error:
            raise InvalidQuery(error.errors) from error
        return self.page.items

    def get_paginated_response(self, data: Any) -> Response:
        answer: dict[str, Any] = {
            "results": data,
            "next": self._link(self.page.next_cursor),
            "previous": self._link(self.page.previous_cursor),
        }
        if self.count is not None:
            answer["count"] = min(self.count, COUNT_EXACT_TO)
            answer["count_is_exact"] = self.count <= COUNT_EXACT_TO
        if self.hidden is not None:
            answer["hidden"] = min(self.hidden, COUNT_EXACT_TO)
        return Response(answer)

    def _link(self, cursor: str | None) -> str | None:
        return replace_query_param(self.path, "cursor", cursor) if cursor else None

    def get_paginated_response_schema(self, schema: dict[str, Any]) -> dict[str, Any]:
        link = {"type": ["string", "null"], "format": "uri"}
        return {
            "type": "object",
            "required": ["results", "next", "previous"],
            "properties": {
                "results": schema,
                "next": link,
                "previous": link,
                "count": {"type": "integer", "description": "With count=true; at most 10,000."},
                "count_is_exact": {"type": "boolean", "description": "False: there are more than count."},
                "hidden": {
                    "type": "integer",
                    "description": "With count=true, of a list of records: how many more show=all would find; at most 10,000.",
                },
            },
        }

    def get_schema_operation_parameters(self, view: Any) -> list[dict[str, Any]]:
        return [
            _parameter("cursor", {"type": "string"}, "From next or previous of another page."),
            _parameter(
                "page_size",
                {"type": "integer", "minimum": 1, "maximum": PAGE_SIZE_MOST, "default": PAGE_SIZE},
                "Items on a page.",
            ),
            _parameter("count", {"type": "boolean", "default": False}, "Count all rows of the filter too."),
        ]


def _parameter(name: str, schema: dict[str, Any], description: str) -> dict[str, Any]:
    return {"name": name, "in": "query", "required": False, "schema": schema, "description": description}


def page_size_of(request: Request) -> int:
    asked = request.query_params.get("page_size", str(PAGE_SIZE))
    if not (asked.isascii() and asked.isdecimal() and len(asked) < 5 and 1 <= int(asked) <= PAGE_SIZE_MOST):
        raise InvalidQuery({"page_size": [_("Must be a whole number from 1 to %s.") % PAGE_SIZE_MOST]})
    return int(asked)


def wants_count(request: Request) -> bool:
    asked = request.query_params.get("count", "false")
    if asked not in ("true", "false"):
        raise InvalidQuery({"count": [_("Must be true or false.")]})
    return asked == "true"
