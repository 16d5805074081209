"""The search page, and the completion of its box."""

from __future__ import annotations

from typing import Any
from urllib.parse import urlencode

from django.http import HttpRequest, HttpResponse
from django.shortcuts import render
from django.utils.translation import gettext as _
from django.views.decorators.http import require_safe

from desk.search.completion import completions
from projects.access import in_project
from projects.models import Project
from recall import search as core
from recall.excerpts import excerpt
from records.kinds import kind_of
from records.pages.listing import page_or_part
from records.pages.rows import Row, row_of
from records.query_language import FILTERS, Query, parse

SHOWN = 50
EXAMPLES = (
    "redis status:accepted",
    "decided:last-30-days tag:latency",
    "confidence:>0.8 usage:>10",
    "severity:critical,high category:caching",
    '"cache aside" is:unreviewed',
)


@require_safe
@in_project()
def search_page(request: HttpRequest, project: Project) -> HttpResponse:
    """What answers a line of search, best first, each with why it was found."""
    text = request.GET.get("q", "")
    query = parse(text)
    found = core.search([project.pk], query, limit=SHOWN)
    context: dict[str, Any] = {
        "search_text": text,
        "asked": bool(text.strip()),
        "found": found,
        "rows": [_row(hit, query, project) for hit in found.hits],
        "hidden_url": f"?{urlencode({'q': f'{text} is:hidden'})}" if found.hidden else None,
        "examples": EXAMPLES,
        "filters": sorted(FILTERS),
    }
    status = 422 if found.problems else 200
    return page_or_part(request, "desk/search.html", "desk/_search_results.html", context, status=status)


@require_safe
@in_project()
def complete(request: HttpRequest, project: Project) -> HttpResponse:
    """Options for the box: names of filters, then their values in this project."""
    options = completions(request.GET.get("q", ""), project)
    return render(request, "desk/_search_options.html", {"options": options})


def _row(hit: core.SearchHit, query: Query, project: Project) -> Row:
    hit.record.project = project
    row = row_of(hit.record, why=_why(hit))
    asked = " ".join([query.words, *query.phrases])
    body = kind_of(hit.record).body_of(hit.record)
    if asked.strip() and body:
        row.excerpt = excerpt(body, asked, hit.start, hit.end)
    return row


def _why(hit: core.SearchHit) -> str:
    words = {core.ID: _("its id"), core.PHRASE: _("words side by side"), core.WORDS: _("words")}
    told = [words[why] for why in hit.why if why in words]
    if hit.cosine is not None and core.MEANING in hit.why:
        told.append(_("meaning, cosine %.2f") % hit.cosine)
    return ", ".join(told)
