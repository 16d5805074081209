import zoneinfo
from collections.abc import Callable

from django.conf import settings
from django.http import HttpRequest, HttpResponse
from django.utils import timezone
from django.utils.functional import SimpleLazyObject

from projects.access import access_of_user


class AccessMiddleware:
    """Puts `request.access` (lazily, one query) on each request and shows times in the person's own zone."""

    def __init__(self, get_response: Callable[[HttpRequest], HttpResponse]) -> None:
        self.get_response = get_response

    def __call__(self, request: HttpRequest) -> HttpResponse:
        request.access = SimpleLazyObject(lambda: access_of_user(request.user))  # type: ignore[attr-defined]
        request.project = None  # type: ignore[attr-defined]
        timezone.activate(zone_of(request))
        try:
            return self.get_response(request)
        finally:
            timezone.deactivate()


def zone_of(request: HttpRequest) -> zoneinfo.ZoneInfo:
    return zone_named(getattr(request.user, "time_zone", ""))


def zone_named(name: str) -> zoneinfo.ZoneInfo:
    """The zone that a person chose; the desk's own where they chose none."""
    name = name or settings.TIME_ZONE_SHOWN
    try:
        return zoneinfo.ZoneInfo(name)
    except (zoneinfo.ZoneInfoNotFoundError, ValueError, OSError):  # "America" is a folder
        return zoneinfo.ZoneInfo("UTC")
