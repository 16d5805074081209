"""The Recall page: what an agent is told, and why."""

from __future__ import annotations

from typing import Any

from django.http import HttpRequest, HttpResponse
from django.views.decorators.http import require_safe

from desk.context_pack.forms import RecallForm
from desk.context_pack.pack import context_pack
from desk.context_pack.rows import item_rows, left_out_rows, segments
from projects.access import in_project
from projects.models import Project
from projects.snippets import address_of, context_command
from recall.tokens import TOKENIZER
from records.pages.listing import page_or_part


@require_safe
@in_project()
def recall_page(request: HttpRequest, project: Project) -> HttpResponse:
    """`/p/shop/recall/?text=…&budget=1500`: the pack of `POST /api/v1/context` for the same question."""
    form = RecallForm(request.GET or None)
    context: dict[str, Any] = {"form": form, "tokenizer": TOKENIZER}
    status = 200
    if form.is_bound and form.is_valid():
        pack = context_pack(form.asked(project))
        context |= {
            "pack": pack,
            "items": item_rows(pack),
            "segments": segments(pack),
            "left_out": left_out_rows(pack),
            "command": context_command(address_of(request), form.request_body(project)),
        }
    elif form.is_bound:
        status = 422
    return page_or_part(request, "desk/recall.html", "desk/_recall_pack.html", context, status=status)
