"""Of one record: why an agent believes it, and as it was at a time."""

from __future__ import annotations

from datetime import datetime
from typing import Any

from django.http import HttpRequest, HttpResponse
from django.shortcuts import render
from django.utils import timezone
from django.utils.formats import date_format
from django.utils.translation import gettext as _
from django.views.decorators.http import require_safe

from curation.history.belief import belief_of
from curation.history.chain import steps_of
from curation.history.past import Past, moment_of, record_as_of
from curation.history.past_links import edges_at
from projects.access import in_project
from projects.models import Project
from records.images import changed_between, image_of
from records.models import CheckedJSON, LongText, Relation
from records.pages.history import QUIET_COLUMNS, as_text, diff_of
from records.pages.listing import page_or_part
from records.pages.rows import record_url, reversed_label, row_of, rows_of, title_of
from records.queries import record_or_404_by_node, records_by_node_id
from records.times import shown_time

# Said above the columns, or of no use to a reader.
SAID_ABOVE = {
    "project", "tags", "review_state", "status", "severity", "archived_at", "merged_into", "sort_at", "origin",
    "source_text", "embedding", "embedding_model", "decided_precision", "prior_weight", *QUIET_COLUMNS,
}  # fmt: skip


@require_safe
@in_project()
def belief(request: HttpRequest, project: Project, node_id: str) -> HttpResponse:
    """`/p/shop/r/dec_1/belief/`: the chain from its source to those who act on it."""
    record = record_or_404_by_node(project, node_id)
    context = {"row": row_of(record), "steps": steps_of(belief_of(record), record)}
    return page_or_part(request, "history/belief.html", "history/_belief.html", context)


@require_safe
@in_project()
def as_of(request: HttpRequest, project: Project, node_id: str) -> HttpResponse:
    """`/p/shop/r/dec_1/as-of/?at=2026-03-01`: the record at the end of a day, or at a time."""
    record = record_or_404_by_node(project, node_id)
    at = request.GET.get("at", "").strip()
    context: dict[str, Any] = {"now": row_of(record), "heading": title_of(record), "at": at, "row": None}
    if not at:
        return render(request, "history/as_of.html", context)
    if len(at) > 100:
        return _unclear(request, context, _("Name a day or a time."))
    try:
        moment = moment_of(at)
    except ValueError as error:
        return _unclear(request, context, str(error))
    past = record_as_of(record, moment)
    label = date_format(shown_time(moment), "j M Y, H:i")
    context |= {"moment": moment, "moment_label": label, "past": past}
    if past.record is not None:
        context |= _of_the_past(past, record)
    return render(request, "history/as_of.html", context)


def _unclear(request: HttpRequest, context: dict[str, Any], problem: str) -> HttpResponse:
    return render(request, "history/as_of.html", {**context, "problem": problem}, status=422)


def _of_the_past(past: Past, record: Any) -> dict[str, Any]:
    then, now = past.record, image_of(record)
    facts, texts, structures = [], [], []
    for column in then.versioned_fields():
        value = getattr(then, column.attname)
        if value in (None, "", [], {}) or column.is_relation or column.name in SAID_ABOVE:
            continue
        label = str(column.verbose_name)
        if isinstance(column, LongText):
            texts.append((label.capitalize(), value))
        elif isinstance(column, CheckedJSON):
            structures.append((label.capitalize(), value))
        elif value != then.heading:
            facts.append((label, _shown(then, column, value)))
    columns = {column.attname: column for column in then.versioned_fields()}
    changed = [name for name in changed_between(past.image, now) if name not in QUIET_COLUMNS]
    links, hidden = _links(past, record)
    outcomes = [outcome for outcome in past.outcomes if outcome.is_active]
    return {
        "heading": title_of(then),
        "row": row_of(then),
        "facts": facts,
        "texts": texts,
        "structures": structures,
        "links": links,
        "outcomes": rows_of(outcomes),
        "hidden": hidden + len(past.outcomes) - len(outcomes),
        "diffs": [
            (str(columns[name].verbose_name).capitalize(), diff_of(past.image.get(name), now.get(name)))
            for name in changed
            if name in columns
        ],
    }


def _shown(record: Any, column: Any, value: Any) -> str:
    if isinstance(value, datetime):
        return date_format(shown_time(value), "j M Y, H:i")
    display = getattr(record, f"get_{column.name}_display", None)
    return str(display()) if display is not None else as_text(value)


def _links(past: Past, record: Any) -> tuple[list[tuple[str, str, str, str, bool]], int]:
    """(words, node id, title, address, whether it is no link any more) of each relation that held then, to what is
    active now; and how many lead to what is hidden."""
    others = {end for source, _relation, target in past.edges for end in (source, target)} - {record.node_id}
    found = records_by_node_id(others, [record.project_id], brief=True)
    still = edges_at(record.node_id, timezone.now())
    rows, hidden = [], 0
    for edge in past.edges:
        source, relation, target = edge
        outward = source == record.node_id
        other_id = target if outward else source
        other = found.get(other_id)
        if relation not in Relation.values or other is None:
            continue
        if not other.is_active:
            hidden += 1
            continue
        known = Relation(relation)
        words = str(known.label if outward else reversed_label(known))
        rows.append((words, other_id, title_of(other), record_url(other), edge not in still))
    return rows, hidden
