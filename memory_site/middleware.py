import logging
import re
import time
import uuid
from collections.abc import Callable

from django.http import HttpRequest, HttpResponse

from memory_site.logs import request_id

log = logging.getLogger("memory_desk.request")
SAFE_ID = re.compile(r"[A-Za-z0-9._-]{8,64}")


class RequestId:
    """Gives each request an id (a proxy's own X-Request-ID is kept when well formed), logs it and answers it back."""

    def __init__(self, get_response: Callable[[HttpRequest], HttpResponse]) -> None:
        self.get_response = get_response

    def __call__(self, request: HttpRequest) -> HttpResponse:
        given = request.headers.get("X-Request-ID", "")
        request.request_id = given if SAFE_ID.fullmatch(given) else uuid.uuid4().hex  # type: ignore[attr-defined]
        token = request_id.set(request.request_id)  # type: ignore[attr-defined]
        began = time.perf_counter()
        try:
            response = self.get_response(request)
            took = (time.perf_counter() - began) * 1000
            response["X-Request-ID"] = request.request_id  # type: ignore[attr-defined]
            response["Server-Timing"] = f"app;dur={took:.1f}"
            log.info(
                "%s %s %s %.1f ms",
                request.method,
                request.path,
                response.status_code,
                took,
                extra={
                    "method": request.method,
                    "path": request.path,
                    "status": response.status_code,
                    "ms": round(took, 1),
                },
            )
            return response
        finally:
            request_id.reset(token)
