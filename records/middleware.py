"""What a verb refuses, where no page answered it more closely."""

from collections.abc import Callable

from django.core.exceptions import PermissionDenied
from django.http import HttpRequest, HttpResponse
from django.shortcuts import render

from records.errors import Conflict, Erased, InvalidInput, NotAllowed
from records.pages.erasing import tombstone


class VerbErrors:
    """403, 409, 410 and 422 instead of a 500 for a verb's refusal that reached nobody."""

    def __init__(self, get_response: Callable[[HttpRequest], HttpResponse]) -> None:
        self.get_response = get_response

    def __call__(self, request: HttpRequest) -> HttpResponse:
        return self.get_response(request)

    def process_exception(self, request: HttpRequest, error: Exception) -> HttpResponse | None:
        if isinstance(error, Erased):
            return tombstone(request, error)
        if isinstance(error, NotAllowed):
            raise PermissionDenied(str(error)) from error
        if isinstance(error, Conflict):
            return render(request, "records/refused.html", {"error": str(error)}, status=409)
        if isinstance(error, InvalidInput):
            return render(request, "records/refused.html", {"error": str(error)}, status=422)
        return None
