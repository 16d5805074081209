"""Merge records that say the same: choose the survivor, then its words field by field, with a preview."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any
from urllib.parse import urlencode

from django.contrib import messages
from django.http import Http404, HttpRequest, HttpResponse, QueryDict
from django.shortcuts import render
from django.urls import reverse
from django.utils.translation import gettext as _
from django.utils.translation import ngettext
from django.views.decorators.http import require_http_methods

from curation.merging.preview import preview_of
from curation.pairs.pages import heaviest_first
from graph.similar import similar_records
from projects.access import Capability, in_project
from projects.models import Project
from records.actor import Actor
from records.acts import one_act
from records.errors import Conflict, InvalidInput
from records.kinds import kind_of
from records.merging import MOST_MERGED, check_set, merge, refuse_unfit
from records.pages.editing import done, expected_version, next_url
from records.pages.rows import record_url, row_of
from records.queries import records_by_node_id, survivor_of

FIELD, VERSION = "field-", "version-"
SUGGESTED = 8
LOOKED_AT = 200  # ids
SPLIT = 200  # characters of an id that are looked at


@require_http_methods(["GET", "POST"])
@in_project(Capability.REVIEW)
def page(request: HttpRequest, project: Project) -> HttpResponse:
    """`/p/shop/merge/?into=dec_1&from=dec_2&from=dec_3`. Without `into`, the first choice of those named is ours."""
    records, missing, notes = _asked(request, project)
    if not records:
        if missing or request.method == "POST":
            raise Http404
        return render(request, "merging/page.html", {"title": _("Merge")})
    context: dict[str, Any] = {
        "missing": missing, "notes": notes, "record": records[0], "row": row_of(records[0]), "most": MOST_MERGED,
        "cancel_url": next_url(request, record_url(records[0])), "next": next_url(request, ""), "reason": request.POST.get("reason", ""),
        "title": _("Merge into %s") % records[0].node_id,
    }  # fmt: skip
    problem = _problem(records)
    if problem or len(records) < 2:
        context |= {"problem": problem, "suggested": [] if problem else _suggested(records[0])}
        return render(
            request, "merging/page.html", context, status=422 if problem and len(records) > 1 else 200
        )
    if request.method == "POST":
        return _merge(request, project, records, context)
    return _drawn(request, project, records, context)


def _asked(request: HttpRequest, project: Project) -> tuple[list[Any], list[str], list[str]]:
    """The records named, the survivor first; the ids that name none here; and what else is not as it was named. An old
    id leads to its survivor."""
    asked = request.GET if request.method == "GET" or "into" in request.GET else request.POST
    named = [*asked.getlist("into")[:1], *_ids(asked)]
    every = list(dict.fromkeys(text.strip()[:SPLIT] for text in named if text.strip()))
    wanted, notes = every[:LOOKED_AT], []
    found = records_by_node_id(wanted, [project.pk], brief=True)
    live: dict[str, str] = {}  # the record that each leads to, by its id -> the id that was named for it
    for node_id in wanted:
        if node_id not in found:
            continue
        survivor = survivor_of(found[node_id]).node_id
        if live.setdefault(survivor, node_id) != node_id:
            notes.append(
                _("%(old)s leads to %(new)s, which is named already.") % {"old": node_id, "new": survivor}
            )
    if len(every) > len(wanted):
        notes.append(_("Of the ids named, only the first %s are looked at.") % LOOKED_AT)
    # Of more than can be merged nothing is compared, so that their texts need not be read.
    whole = records_by_node_id(live, [project.pk], brief=len(live) > MOST_MERGED + 1)
    ordered = [whole[node_id] for node_id in live if node_id in whole]
    missing = [node_id for node_id in wanted if node_id not in found]
    return ordered if asked.get("into") else heaviest_first(ordered), missing, notes


def _ids(asked: QueryDict) -> list[str]:
    """`from` may be repeated, or hold several ids between spaces or commas."""
    return [one for text in asked.getlist("from") for one in text.replace(",", " ").split()]


def _problem(records: Sequence[Any]) -> str:
    """Why these cannot be merged; "" where they can."""
    try:
        refuse_unfit(records[0])
        if len(records) > 1:
            check_set(records[0], records[1:])
            for record in records[1:]:
                refuse_unfit(record)
    except InvalidInput as refusal:
        return str(refusal)
    kind = kind_of(records[0])
    if not kind.repeats_are_duplicates:
        return _("These are events, each of its own: %s cannot be merged.") % kind.label_plural
    return ""


def _suggested(record: Any) -> list[tuple[Any, float]]:
    """Records of its kind that are most like it: (row, cosine)."""
    answer = similar_records(record, k=SUGGESTED, kinds=[kind_of(record).name])
    return [(row_of(item.record), item.score) for item in answer.found]


def _drawn(
    request: HttpRequest, project: Project, records: Sequence[Any], context: dict[str, Any],
    errors: dict[str, list[str]] | None = None, status: int = 200,
) -> HttpResponse:  # fmt: skip
    choices = {
        name.removeprefix(FIELD): request.POST[name] for name in request.POST if name.startswith(FIELD)
    }
    preview = preview_of(kind_of(records[0]), records, choices, errors or {})
    ids = [record.node_id for record in records]
    context |= {
        "preview": preview,
        "versions": [(f"{VERSION}{record.node_id}", record.version) for record in records],
        "instead": [
            (
                row,
                _address(
                    project, row.node_id, [other for other in ids if other != row.node_id], context["next"]
                ),
            )
            for row in preview.others
        ],
        "errors": [text for name in ("__all__", "reason", "tags") for text in (errors or {}).get(name, [])],
    }
    return render(request, "merging/page.html", context, status=status)


def _address(project: Project, into: str, others: Sequence[str], following: str) -> str:
    pairs = [("into", into), *(("from", other) for other in others)]
    query = urlencode([*pairs, ("next", following)] if following else pairs)
    return f"{reverse('merging:page', args=[project.slug])}?{query}"


def _merge(
    request: HttpRequest, project: Project, records: Sequence[Any], context: dict[str, Any]
) -> HttpResponse:
    survivor, others = records[0], records[1:]
    kind = kind_of(survivor)
    choices = {
        name: request.POST[f"{FIELD}{name}"] for name in kind.editable if f"{FIELD}{name}" in request.POST
    }
    try:
        with one_act() as act:
            merge(
                survivor, others, actor=Actor.person(request), choices=choices, reason=request.POST.get("reason", ""),
                expected_versions=_expected(request, records),
            )  # fmt: skip
    except InvalidInput as error:
        return _drawn(request, project, records, context, error.errors, status=422)
    except Conflict as conflict:
        messages.warning(
            request,
            _("%s was changed while you were choosing. Nothing was merged; its new words are below.")
            % conflict.record.node_id,
        )
        fresh = records_by_node_id([record.node_id for record in records], [project.pk])
        again = [fresh[record.node_id] for record in records if record.node_id in fresh]
        return _drawn(request, project, again, context, status=409)
    text = ngettext(
        "Merged %(number)s record into %(node)s", "Merged %(number)s records into %(node)s", len(others)
    ) % {"number": len(others), "node": survivor.node_id}
    return done(request, text, record_url(survivor), act)


def _expected(request: HttpRequest, records: Sequence[Any]) -> dict[str, int]:
    expected = {}
    for record in records:
        version = expected_version(request, f"{VERSION}{record.node_id}")
        if version is not None:
            expected[record.node_id] = version
    return expected
