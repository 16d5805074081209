"""The open record of a queue: what its own page shows, why it is here, and what lies near it."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

from django.http import HttpRequest
from django.urls import NoReverseMatch, reverse
from django.utils.translation import gettext as _

from curation.inbox.actions import REASONS, open_pairs_of
from curation.inbox.asked import Asked
from curation.inbox.queues import Pane
from curation.inbox.wording import as_rows
from graph.similar import similar_records
from records.attention import causes_in, is_past
from records.kinds import kind_of
from records.models import Attention
from records.pages.detail import detail_context
from records.pages.rows import record_url, title_of
from records.queries import record_or_404_by_node

NEIGHBOURS = 8


@dataclass(frozen=True)
class Neighbour:
    """A record that lies near; `put_away` says in words why agents do not get it, or that it no longer holds."""

    node_id: str
    title: str
    url: str
    kind: str
    score: float
    status: str
    review_state: str
    put_away: str
    diff_url: str


def record_pane(request: HttpRequest, asked: Asked, row: Attention, mode: str) -> Pane:
    """For templates/inbox/_record.html. The queries are those of a record's page, and one a kind for what is near."""
    record = record_or_404_by_node(asked.project, row.node_id)
    context = {
        **detail_context(request, record),
        **kind_of(record).sections_of(record),
        "mode": mode,
        "why": as_rows(causes_in(row.why)),
        "risk": row.risk,
        "attention": row,
        "neighbours": neighbours_of(record),
        "edit_url": _edit_url(record),
        "reasons": REASONS,
        "keeps_both": mode == "review" and open_pairs_of(record.node_id).exists(),
    }
    return Pane("inbox/_record.html", context)


def _edit_url(record: Any) -> str:
    """Empty for kinds that no form edits (runs, sessions)."""
    kind = kind_of(record)
    name = kind.url_name.replace(":detail", ":edit").replace(":outcome", ":outcome_edit")
    try:
        return reverse(name, args=[record.project.slug, record.pk]) if name != kind.url_name else ""
    except NoReverseMatch:
        return ""


def neighbours_of(record: Any) -> list[Neighbour]:
    """Hidden ones too: what is written again after somebody put it away is what a reviewer must see."""
    found = similar_records(record, k=NEIGHBOURS, include_hidden=True).found
    return [_neighbour(record, item.record, item.score) for item in found]


def _neighbour(record: Any, other: Any, score: float) -> Neighbour:
    kind = kind_of(other)
    same = kind is kind_of(record)
    return Neighbour(
        node_id=other.node_id,
        title=title_of(other),
        url=record_url(other),
        kind=kind.name,
        score=score,
        status=kind.status_label_of(other),
        review_state=other.review_state,
        put_away=_put_away(other),
        diff_url=reverse("inbox:diff", args=[record.project.slug, record.node_id, other.node_id])
        if same
        else "",
    )


def _put_away(record: Any) -> str:
    if record.merged_into:
        return _("merged into %s") % record.merged_into
    if record.archived_at:
        return _("archived")
    if not record.is_active:
        return str(record.get_review_state_display())
    kind = kind_of(record)
    return kind.status_label_of(record) if is_past(record) else ""
