"""What the compare page and the panes of the two queues show."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any
from urllib.parse import urlencode

from django.http import HttpRequest
from django.urls import reverse
from django.utils.translation import gettext as _

from curation.models import SuggestedPair, Verdict
from curation.pairs.compare import Comparison, comparison_of, older_first
from curation.pairs.queries import Cluster, pairs_between
from curation.pairs.wording import whys_of
from projects.models import Project
from records.kinds import kind_of
from records.links import links_of
from records.models import Link, Relation
from records.pages.rows import reversed_label


@dataclass(frozen=True)
class Settled:
    """What somebody has said of the two already, in words."""

    text: str
    by: str
    when: Any


def compare_context(request: HttpRequest, one: Any, other: Any, **more: Any) -> dict[str, Any]:
    """For templates/pairs/_compare.html, the older record first."""
    older, newer = older_first(one, other)
    kept = pairs_between(one.node_id, other.node_id)
    why = next((row for row in kept if row.is_open), kept[0] if kept else None)
    project = request.project  # type: ignore[attr-defined]
    return {
        "older": older,
        "newer": newer,
        "compared": comparison_of(older, newer),
        "why": whys_of(why.why) if why is not None else [],
        "settled": _settled(kept),
        "relations": _relations(older.node_id, newer.node_id),
        "may_settle": older.is_active and newer.is_active,
        "merge_url": merge_url(project, [older, newer]),
        "settle_url": reverse("pairs:settle", args=[project.slug]),
        **more,
    }


def merge_url(project: Project, records: list[Any]) -> str:
    """The merge page with all of them chosen: into the one that weighs most. Empty for records of several kinds."""
    if len({kind_of(record).name for record in records}) > 1 or len(records) < 2:
        return ""
    into, *others = heaviest_first(records)
    query = [("into", into.node_id), *(("from", record.node_id) for record in others)]
    return f"{reverse('merging:page', args=[project.slug])}?{urlencode(query)}"


def heaviest_first(records: list[Any]) -> list[Any]:
    """Approved before unreviewed, more trusted before less, then the older: what the others are merged into."""
    return sorted(
        records, key=lambda record: (record.review_state != "approved", -record.trust, record.created_at)
    )


@dataclass(frozen=True)
class Member:
    """One record of a cluster beside the one that the others are compared with."""

    record: Any
    compared: Comparison
    compare_url: str


def cluster_context(project: Project, cluster: Cluster, records: list[Any]) -> dict[str, Any]:
    """For templates/pairs/_cluster.html: each of the others beside the one that weighs most."""
    into, *others = heaviest_first(records)
    address = reverse("pairs:compare", args=[project.slug])
    return {
        "cluster": cluster,
        "into": into,
        "members": [
            Member(
                other,
                comparison_of(into, other),
                f"{address}?{urlencode({'a': into.node_id, 'b': other.node_id})}",
            )
            for other in others
        ],
        "merge_url": merge_url(project, records),
        "keep_url": reverse("pairs:keep_apart", args=[project.slug]),
    }


def _settled(kept: list[SuggestedPair]) -> Settled | None:
    row = next((row for row in kept if row.verdict), None)
    if row is None or row.verdict is None:
        return None
    by = row.settled_by.get_username() if row.settled_by else _("somebody")
    return Settled(str(Verdict(row.verdict).label), by, row.settled_at)


def _relations(older: str, newer: str) -> list[str]:
    """What is asserted between the two, from the older one's side."""
    between = [link for link in links_of([older], limit=200) if {link.source, link.target} == {older, newer}]
    return [_worded(link, older, newer) for link in between]


def _worded(link: Link, older: str, newer: str) -> str:
    relation = Relation(link.relation)
    label = relation.label if link.source == older else reversed_label(relation)
    return f"{older} {label} {newer}"
