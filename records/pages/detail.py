"""What surrounds a record on its page: links, similar records, provenance, history. Constant query count."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any

from django.http import HttpRequest
from django.utils.formats import date_format
from django.utils.translation import gettext as _

from records.hygiene.findings import LABELS, SENTENCES, FieldFinding
from records.hygiene.kept import findings_of
from records.kinds import kind_of
from records.links import links_of
from records.models import Relation
from records.pages.history import Act, history_page
from records.pages.merged import came_from
from records.pages.rows import link_rows, places_of, row_of
from records.queries import projection_of, records_in
from records.times import shown_time

LINKS_SHOWN = 100


def detail_context(request: HttpRequest, record: Any) -> dict[str, Any]:
    """Everything of templates/records/detail.html but the kind's own sections and `similar`."""
    node_id, slug = record.node_id, record.project.slug
    kept = links_of([node_id], limit=LINKS_SHOWN + 1)
    more_links, kept = len(kept) > LINKS_SHOWN, kept[:LINKS_SHOWN]
    others = {link.source for link in kept} | {link.target for link in kept}
    records = records_in(record.project, others - {node_id}, brief=True)
    rows = link_rows(node_id, kept, records, slug)
    links = rows if request.GET.get("links") == "all" else [link for link in rows if link.record.is_active]
    acts, older = history_page(node_id)
    embedding_pending, may_be_flagged = projection_of(node_id)
    # Most have none: that costs no statement of its own.
    findings = findings_of([node_id]).get(node_id, []) if may_be_flagged else []
    return {
        "record": record,
        "kind": kind_of(record),
        "came_from": came_from(request, record),
        "row": row_of(record),
        "links": links,
        "more_links": more_links,
        "hidden_links": len(rows) - len(links),
        "contradictions": [
            link for link in links if link.relation_key == Relation.CONTRADICTS and link.record.is_active
        ],
        "successors": [
            link
            for link in links
            if link.relation_key == Relation.SUPERSEDES and _is_outward(kept, link.node_id, node_id)
        ],
        "revisions": acts,
        "older": older,
        "provenance": provenance(request, record, acts),
        "findings": [finding_row(record, finding) for finding in findings],
        "embedding_pending": embedding_pending,
        "reject_fields": [("state", "rejected")],
        "quarantine_fields": [("state", "quarantined")],
        "unreview_fields": [("state", "unreviewed")],
    }


def _is_outward(links: list[Any], other: str, node_id: str) -> bool:
    """True when `other` supersedes the node."""
    return any(
        link.relation == Relation.SUPERSEDES and link.source == other and link.target == node_id
        for link in links
    )


@dataclass(frozen=True)
class FindingRow:
    """One finding in words: its name, what it means, where it stands, the first of them made visible."""

    name: str
    sentence: str
    field: str
    excerpt: str
    times: int


def finding_row(record: Any, finding: FieldFinding) -> FindingRow:
    columns = {column.name: column for column in record._meta.concrete_fields}
    return FindingRow(
        str(LABELS.get(finding.code, finding.code)),
        str(SENTENCES.get(finding.code, "")),
        str(getattr(columns.get(finding.field), "verbose_name", finding.field)),
        finding.excerpt,
        finding.times,
    )


def provenance(request: HttpRequest, record: Any, acts: Sequence[Act] = ()) -> list[tuple[str, str, str]]:
    """(label, text, url or "") of where the memory came from and who vetted it."""
    facts = [
        (_("written by"), f"{record.source_name or _('unknown')} ({record.get_source_kind_display()})", "")
    ]
    facts += places_of(record.project.slug, record.source_session or "", record.source_run or "")
    if record.reviewed_at:
        who = record.reviewed_by.get_username() if record.reviewed_by else _reviewer(acts)
        facts.append(
            (_("reviewed"), f"{record.get_review_state_display()}, {who}, {_date(record.reviewed_at)}", "")
        )
    facts.append((_("trust"), f"{record.trust:.2f}", ""))
    facts.append((_("version"), str(record.version), ""))
    facts.append((_("written"), _date(record.created_at), ""))
    return facts


def _reviewer(acts: Sequence[Act]) -> str:
    """Who reviewed it last without an account: a policy, or an agent whose token may."""
    return next((act.actor for act in acts if act.key in ("approve", "reject", "quarantine")), _("a rule"))


def _date(when: Any) -> str:
    return date_format(shown_time(when), "j M Y, H:i")
