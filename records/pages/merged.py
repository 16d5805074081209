"""The page of a record that was merged into another: it leads there, and that page says so."""

from __future__ import annotations

from typing import Any
from urllib.parse import urlencode

from django.http import HttpRequest, HttpResponse
from django.shortcuts import redirect

from records.pages.rows import Row, record_url, row_of
from records.queries import records_by_node_id, survivor_of

ITSELF, CAME_FROM = "itself", "merged"


def led_away(request: HttpRequest, record: Any) -> HttpResponse | None:
    """A redirect to the survivor's page; None where the record is live, or asked for as it was (`?itself=1`)."""
    if not record.merged_into or request.GET.get(ITSELF):
        return None
    survivor = survivor_of(record)
    if survivor.node_id == record.node_id:
        return None
    return redirect(f"{record_url(survivor)}?{urlencode({CAME_FROM: record.node_id})}")


def came_from(request: HttpRequest, record: Any) -> Row | None:
    """The old record whose address led here, if it did; its own page is at `url`."""
    named = request.GET.get(CAME_FROM, "")
    old = records_by_node_id([named], [record.project_id], brief=True).get(named) if named else None
    if old is None or not old.merged_into or survivor_of(old).node_id != record.node_id:
        return None
    row = row_of(old)
    row.url = f"{row.url}?{urlencode({ITSELF: 1})}"
    return row
