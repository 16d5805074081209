"""The door itself: what happens around every call, whichever kind's viewset answers it."""

from __future__ import annotations

from datetime import UTC
from typing import Any

from django.http import HttpRequest, HttpResponseBase
from django.utils import timezone
from rest_framework.permissions import SAFE_METHODS
from rest_framework.request import Request
from rest_framework.routers import SimpleRouter

from agent_api.idempotency import ACT, once
from projects.access import Capability
from records.acts import one_act


def asks_only(view: Any, method: str | None) -> bool:
    """Whether the call changes nothing: by its method, or a question whose body outgrows an address."""
    return method in SAFE_METHODS or getattr(view, "capability", None) is Capability.READ


class Door:
    """Times in UTC, writes with a key done once and as one act, answers never cached."""

    http_method_names = ("get", "head", "post", "put", "patch", "delete")

    def dispatch(self, request: HttpRequest, *args: Any, **kwargs: Any) -> HttpResponseBase:
        with one_act() as act:
            response: HttpResponseBase = super().dispatch(request, *args, **kwargs)  # type: ignore[misc]
        if not asks_only(self, request.method) and response.status_code < 400:
            response.headers.setdefault(ACT, act)  # an answer given again names the act of the first
        return response

    def initial(self, request: Request, *args: Any, **kwargs: Any) -> None:
        timezone.activate(UTC)
        super().initial(request, *args, **kwargs)  # type: ignore[misc]
        key = request.headers.get("Idempotency-Key")
        method = (request.method or "").lower()
        if key is not None and not asks_only(self, request.method) and hasattr(self, method):
            setattr(self, method, once(key, getattr(self, method)))

    def finalize_response(self, *args: Any, **kwargs: Any) -> HttpResponseBase:
        response: HttpResponseBase = super().finalize_response(*args, **kwargs)  # type: ignore[misc]
        response.headers["Cache-Control"] = "no-store"
        return response


def through_door(view_class: type[Any]) -> type[Any]:
    """A kind's viewset behind the door; its name, and so its place in the schema, stays."""
    attributes = {"__module__": view_class.__module__, "__doc__": view_class.__doc__}
    return type(view_class.__name__, (Door, view_class), attributes)


class DoorRouter(SimpleRouter):
    """`/decisions` and `/decisions/` are one address: agents write both."""

    def __init__(self) -> None:
        super().__init__(trailing_slash=False)
        self.trailing_slash = "/?"

    def register(self, prefix: str, viewset: type[Any], basename: str | None = None) -> None:  # type: ignore[override]
        super().register(prefix, through_door(viewset), basename)
