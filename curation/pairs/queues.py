"""The two queues of pairs in the inbox: what may contradict, and what is likely the same."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import replace
from typing import Any

from django.http import HttpRequest
from django.utils.translation import gettext as _t
from django.utils.translation import gettext_lazy as _
from django.utils.translation import ngettext

from curation.inbox.asked import Asked
from curation.inbox.queues import Entry, Listing, Pane, Queue, register
from curation.models import Sort, SuggestedPair
from curation.pairs.candidates import ends
from curation.pairs.compare import older_first
from curation.pairs.pages import cluster_context, compare_context
from curation.pairs.queries import (
    Cluster,
    active_of,
    cluster_of,
    clusters_page,
    open_count,
    open_pairs,
    pairs_page,
)
from curation.pairs.wording import whys_of
from projects.models import Project
from records.errors import InvalidInput
from records.kinds import parse_node_id
from records.pages.rows import row_of
from records.paging import Page
from records.queries import records_in

BETWEEN = "-"


def key_of(pair: SuggestedPair) -> str:
    return f"{pair.first}{BETWEEN}{pair.second}"


def ends_of(key: str) -> tuple[str, str] | None:
    """The two node ids that an entry's key names; None for anything else."""
    one, _between, other = key.partition(BETWEEN)
    return ends(one, other) if one != other and parse_node_id(one) and parse_node_id(other) else None


def _conflicts(asked: Asked) -> Listing:
    problems = _problems(asked)
    page = _page(lambda: pairs_page(asked.project, Sort.CONFLICT, asked.cursor), problems)
    records = active_of(
        (node_id for pair in page.items for node_id in (pair.first, pair.second)), asked.project
    )
    entries = [
        _entry(pair, records, [pair.first, pair.second])
        for pair in page.items
        if pair.first in records and pair.second in records
    ]
    return _listing(asked, Sort.CONFLICT, entries, page, problems)


def _duplicates(asked: Asked) -> Listing:
    problems, clusters = _problems(asked), list[Cluster]()

    def read() -> Page:
        found, page = clusters_page(asked.project, asked.cursor)
        clusters.extend(found)
        return page

    page = _page(read, problems)
    records = active_of((node_id for cluster in clusters for node_id in cluster.members), asked.project)
    entries = []
    for cluster in clusters:
        members = [node_id for node_id in cluster.members if node_id in records]
        if len(members) > 1:
            entries.append(_entry(cluster.pair, records, members))
    return _listing(asked, Sort.DUPLICATE, entries, page, problems)


def _newest(asked: Asked, sort: str, most: int) -> Listing:
    """The pairs that were suggested last, each by itself."""
    problems = _problems(asked)
    if problems:
        return Listing([], problems=problems)
    found = list(open_pairs(asked.project, sort).order_by("-suggested_at", "-pk")[:most])
    records = active_of((node_id for pair in found for node_id in (pair.first, pair.second)), asked.project)
    entries = [
        replace(_entry(pair, records, [pair.first, pair.second]), arrived=pair.suggested_at)
        for pair in found
        if pair.first in records and pair.second in records
    ]
    return Listing(entries, count=open_count(asked.project, sort))


def _problems(asked: Asked) -> dict[str, list[str]]:
    problems = {name: [_t("There is no such filter.")] for name in asked.filters}
    if asked.sort:
        problems["sort"] = [_t("There is no other order here.")]
    return problems


def _page(read: Any, problems: dict[str, list[str]]) -> Page:
    if not problems:
        try:
            return read()  # type: ignore[no-any-return]
        except InvalidInput as error:
            problems |= error.errors
    return Page([], None, None)


def _entry(pair: SuggestedPair, records: dict[str, Any], members: Sequence[str]) -> Entry:
    """The two of the pair that names the entry; where one of them is hidden meanwhile, others of its cluster."""
    named = [node_id for node_id in (pair.first, pair.second) if node_id in records]
    first, second = [*named, *(node_id for node_id in members if node_id not in named)][:2]
    older, newer = older_first(records[first], records[second])
    whys = whys_of(pair.why)
    if len(members) > 2:
        whys = [(_t("%s records") % len(members), True), *whys]
    return Entry(key_of(pair), row_of(older), whys, other=row_of(newer))


def _listing(
    asked: Asked, sort: str, entries: list[Entry], page: Page, problems: dict[str, list[str]]
) -> Listing:
    count = 0 if problems else open_count(asked.project, sort)
    return Listing(
        entries=entries,
        count=count,
        noun=ngettext("pair", "pairs", count),
        next_cursor=page.next_cursor,
        previous_cursor=page.previous_cursor,
        problems=problems,
    )


def _conflict_pane(request: HttpRequest, asked: Asked) -> Pane | None:
    pair = ends_of(asked.selected)
    if pair is None:
        return None
    rows = open_pairs(asked.project, Sort.CONFLICT)
    if not rows.filter(first=pair[0], second=pair[1]).exists():
        return None
    return _pair_pane(request, asked, _whole(pair, asked.project))


def _pair_pane(request: HttpRequest, asked: Asked, records: Sequence[Any]) -> Pane | None:
    if len(records) < 2:
        return None
    context = compare_context(request, *records, settle_url=asked.url("pairs:settle"), in_queue=True)
    return Pane("pairs/_pane.html", context)


def _duplicates_pane(request: HttpRequest, asked: Asked) -> Pane | None:
    pair = ends_of(asked.selected)
    cluster = cluster_of(asked.project, *pair) if pair else None
    if cluster is None:
        return None
    records = _whole(cluster.members, asked.project)
    if len(records) < 3:
        return _pair_pane(request, asked, records)
    context = cluster_context(asked.project, cluster, records)
    return Pane("pairs/_cluster.html", {**context, "keep_url": asked.url("pairs:keep_apart")})


def _whole(node_ids: Sequence[str], project: Project) -> list[Any]:
    """Those that are active, with their long texts, in the order given."""
    found = records_in(project, node_ids)
    return [found[node_id] for node_id in node_ids if node_id in found and found[node_id].is_active]


CONFLICTS = register(
    Queue(
        key="conflicts",
        label=_("Conflicts"),
        order=10,
        counted=lambda project: [open_pairs(project, Sort.CONFLICT)],
        listing=_conflicts,
        keys=lambda asked: [entry.key for entry in _conflicts(asked).entries],
        newest=lambda asked, most: _newest(asked, Sort.CONFLICT, most),
        pane=_conflict_pane,
        empty=(
            _("Nothing contradicts"),
            _("No two memories are said to contradict, and none that are alike disagree."),
        ),
    )
)
DUPLICATES = register(
    Queue(
        key="duplicates",
        label=_("Duplicates"),
        order=20,
        counted=lambda project: [open_pairs(project, Sort.DUPLICATE)],
        listing=_duplicates,
        keys=lambda asked: [entry.key for entry in _duplicates(asked).entries],
        newest=lambda asked, most: _newest(asked, Sort.DUPLICATE, most),
        pane=_duplicates_pane,
        empty=(
            _("Nothing is said twice"),
            _("No two memories say nearly the same. What agents write again arrives here."),
        ),
    )
)
