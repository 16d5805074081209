"""View-models of the overview."""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import dataclass
from datetime import datetime
from textwrap import shorten

from django.db.models import Count
from django.urls import reverse

from desk.counts import counts_by_kind
from desk.queries import failed_runs, latest_changes, open_contradictions
from projects.models import Project
from records.kinds import all_kinds, kind_named
from records.models import ReviewState
from records.pages.history import VERBS
from records.pages.rows import Row, record_url, row_of, rows_of


@dataclass(frozen=True)
class Waiting:
    kind: str
    label: str
    count: str
    url: str


def waiting_of(project: Project) -> list[Waiting]:
    """Kinds with unreviewed records, each with its list of just those."""
    rows = []
    for counted in counts_by_kind(project).values():
        if counted.waiting:
            kind = counted.kind
            url = f"{reverse(kind.list_url_name, args=[project.slug])}?review=unreviewed"
            label = kind.label if counted.waiting == 1 else kind.label_plural
            rows.append(Waiting(kind.name, str(label), counted.waiting_label, url))
    return rows


def waiting_total(projects: Iterable[Project]) -> dict[int, int]:
    """Unreviewed records by project id; one query a kind."""
    total: dict[int, int] = {}
    for kind in all_kinds():
        rows = kind.model.objects.active().filter(project__in=projects, review_state=ReviewState.UNREVIEWED)  # type: ignore[attr-defined]
        for project_id, count in rows.order_by().values_list("project_id").annotate(count=Count("pk")):
            total[project_id] = total.get(project_id, 0) + count
    return total


@dataclass(frozen=True)
class ContradictionRow:
    one: Row
    other: Row
    note: str | None


def contradictions_of(project: Project) -> list[ContradictionRow]:
    """The side that nobody has vetted first: it is the one to decide about."""
    rows = []
    for found in open_contradictions(project):
        pair = sorted(
            [found.one, found.other], key=lambda record: record.review_state != ReviewState.UNREVIEWED
        )
        rows.append(ContradictionRow(row_of(pair[0]), row_of(pair[1]), found.note))
    return rows


@dataclass(frozen=True)
class Change:
    verb: str
    actor: str
    channel: str
    when: datetime
    reason: str
    node_id: str
    kind: str
    title: str
    url: str


def failed_rows(project: Project) -> list[Row]:
    """Failed runs, newest first."""
    return rows_of(failed_runs(project))


def changes_of(project: Project) -> list[Change]:
    """The latest acts, with the records that they touched; one that is gone keeps its name alone."""
    acts, records = latest_changes(project)
    rows = []
    for act in acts:
        record = records.get(act.node_id)
        rows.append(
            Change(
                verb=str(VERBS.get(act.verb, act.verb)),
                actor=act.actor_name,
                channel=act.get_channel_display(),
                when=act.created_at,
                reason=act.reason,
                node_id=act.node_id,
                kind=kind_named(act.kind).name,
                title=shorten(record.heading, 72, placeholder="…") if record else "",
                url=record_url(record) if record else "",
            )
        )
    return rows
