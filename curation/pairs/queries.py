"""Every read of suggested pairs."""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from typing import Any

from django.db.models import QuerySet
from django.utils.translation import gettext_lazy as _

from curation.models import Sort as Queue
from curation.models import SuggestedPair
from curation.pairs.candidates import Ends, ends
from projects.models import Project
from records.paging import Page, Sort, capped_count, paginate
from records.queries import records_in

BY_SCORE = Sort("score", _("likeliest first"), "score")
PAGE = 50
# A cluster is read from one of its pairs outwards: so many steps, so many records.
STEPS = 4
MOST_MEMBERS = 20
MOST_PAIRS = 2_000


@dataclass(frozen=True)
class Cluster:
    """Records that are connected by open pairs: the best of those pairs names it."""

    pair: SuggestedPair
    members: Sequence[str]
    pairs: Sequence[SuggestedPair]
    is_whole: bool


def open_pairs(project: Project, sort: str) -> QuerySet[SuggestedPair]:
    return SuggestedPair.objects.filter(project=project, sort=sort, is_open=True)


def open_count(project: Project, sort: str) -> int:
    """Capped; one range of the queue's index."""
    return capped_count(open_pairs(project, sort))


def pairs_page(project: Project, sort: str, cursor: str | None) -> Page:
    """Best first. Raises InvalidInput for a cursor of another list."""
    return paginate(open_pairs(project, sort), BY_SCORE, cursor, PAGE)


def pairs_between(one: str, other: str) -> list[SuggestedPair]:
    """What is kept of two records, of both sorts, settled or not."""
    first, second = ends(one, other)
    return list(SuggestedPair.objects.filter(first=first, second=second).order_by("id"))


def clusters_page(project: Project, cursor: str | None) -> tuple[list[Cluster], Page]:
    """The clusters whose best pair lies on this page of pairs: each cluster stands on one page, once."""
    page = pairs_page(project, Queue.DUPLICATE, cursor)
    graph, is_whole = _around(project, page.items)
    beside = _beside(graph)
    clusters, taken = [], set[str]()
    for pair in page.items:
        if pair.first in taken:
            continue
        cluster = _cluster(pair, graph, beside, is_whole)
        taken.update(cluster.members)
        if cluster.pair.pk == pair.pk:
            clusters.append(cluster)
    return clusters, page


def cluster_of(project: Project, one: str, other: str) -> Cluster | None:
    """The cluster that an open pair of likely duplicates belongs to."""
    first, second = ends(one, other)
    pair = open_pairs(project, Queue.DUPLICATE).filter(first=first, second=second).first()
    if pair is None:
        return None
    graph, is_whole = _around(project, [pair])
    return _cluster(pair, graph, _beside(graph), is_whole)


def active_of(node_ids: Iterable[str], project: Project) -> dict[str, Any]:
    """Those of the records that are active now, whatever the worker knows of it; brief. One query a kind."""
    records = records_in(project, node_ids, brief=True)
    return {node_id: record for node_id, record in records.items() if record.is_active}


def _around(project: Project, pairs: Sequence[SuggestedPair]) -> tuple[dict[Ends, SuggestedPair], bool]:
    """These pairs and the open ones connected with them, the likeliest first and of their ends and score alone: STEPS
    queries and MOST_PAIRS of them at most, whether one cluster is asked for or a page of them; and whether that was all."""
    graph = {(pair.first, pair.second): pair for pair in pairs}
    known, is_whole = set[str](), True
    frontier = {node_id for pair in graph for node_id in pair}
    for _step in range(STEPS):
        if not frontier:
            break
        rows = open_pairs(project, Queue.DUPLICATE).only("first", "second", "score").order_by()
        # Each by its own index.
        both = rows.filter(first__in=frontier).union(rows.filter(second__in=frontier))
        room = max(0, MOST_PAIRS - len(graph))
        found = list(both.order_by("-score", "id")[: room + 1])
        is_whole = is_whole and len(found) <= room
        graph = {(row.first, row.second): row for row in found[:room]} | graph
        known |= frontier
        frontier = {node_id for pair in graph for node_id in pair} - known
    return graph, is_whole


def _beside(graph: Iterable[Ends]) -> dict[str, set[str]]:
    beside: dict[str, set[str]] = defaultdict(set)
    for first, second in graph:
        beside[first].add(second)
        beside[second].add(first)
    return beside


def _cluster(
    pair: SuggestedPair, graph: dict[Ends, SuggestedPair], beside: dict[str, set[str]], is_whole: bool
) -> Cluster:
    members, frontier = {pair.first, pair.second}, [pair.first, pair.second]
    while frontier:
        further = sorted(beside[frontier.pop(0)] - members)
        room = MOST_MEMBERS - len(members)
        is_whole = is_whole and len(further) <= room
        members.update(further[:room])
        frontier += further[:room]
    inside = [row for ids, row in graph.items() if members.issuperset(ids)]
    best = min(inside, key=lambda row: (-row.score, -row.pk))
    return Cluster(best, sorted(members), inside, is_whole)
