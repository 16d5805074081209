"""How many wrong passwords are listened to: few for one person from one address, more for an address as a whole."""

from __future__ import annotations

from ipaddress import ip_address
from typing import Any

from axes.attempts import get_cool_off_threshold
from axes.handlers.database import AxesDatabaseHandler
from axes.models import AccessAttempt
from django.conf import settings
from django.db.models import Sum
from django.http import HttpRequest


def client_address(request: HttpRequest) -> str | None:
    """The caller's address: what the outermost of TRUSTED_PROXIES proxies saw, so that nobody can name his own."""
    seen = request.META.get("REMOTE_ADDR") or None
    if not settings.TRUSTED_PROXIES:
        return seen
    hops = request.headers.get("X-Forwarded-For", "").split(",")
    try:
        return str(ip_address(hops[-settings.TRUSTED_PROXIES].strip()))
    except (ValueError, IndexError):
        return seen


class LoginThrottle(AxesDatabaseHandler):
    """Locks the pair of person and address first: nobody can lock somebody else out from elsewhere.

    An address that tries many names is locked as a whole at LOGIN_TRIES_ADDRESS.
    """

    def get_failures(self, request: Any, credentials: dict[str, Any] | None = None) -> int:
        """Those of the pair; as many as lock it where the whole address is locked."""
        failures = int(super().get_failures(request, credentials))
        return max(failures, settings.LOGIN_TRIES) if self._address_locked(request) else failures

    def _address_locked(self, request: Any) -> bool:
        since = get_cool_off_threshold(request)
        attempts = AccessAttempt.objects.filter(ip_address=request.axes_ip_address, attempt_time__gte=since)
        failures = attempts.aggregate(failures=Sum("failures_since_start"))["failures"] or 0
        return bool(failures >= settings.LOGIN_TRIES_ADDRESS)
