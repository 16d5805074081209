"""View-models of the overview."""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import dataclass
from textwrap import shorten

from django.db.models import Count
from django.urls import reverse

from desk.counts import counts_by_kind
from desk.queries import failed_runs, latest_changes, open_contradictions
from projects.models import Project
from records.kinds import all_kinds
from records.models import ReviewState
from records.pages.history import Act, act_of
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


def failed_rows(project: Project) -> list[Row]:
    """Failed runs, newest first."""
    return rows_of(failed_runs(project))


@dataclass(frozen=True)
class Change:
    """An act and the record that it touched; of one that is gone title and url are empty."""

    act: Act
    kind: str
    title: str
    url: str


def changes_of(project: Project) -> list[Change]:
    """The latest acts, in the words of the history."""
    revisions, records = latest_changes(project)
    rows = []
    for revision in revisions:
        record = records.get(revision.node_id)
        rows.append(
            Change(
                act=act_of(revision, None),
                kind=revision.kind,
                title=shorten(record.heading, 72, placeholder="…") if record else "",
                url=record_url(record) if record else "",
            )
        )
    return rows
