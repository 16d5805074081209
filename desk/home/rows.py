"""View-models of the overview: numbers with the lists that they count."""

from __future__ import annotations

from dataclasses import dataclass
from datetime import date, datetime
from typing import Any
from urllib.parse import urlencode

from django.urls import reverse
from django.utils.translation import gettext as _

from curation.inbox.queues import all_queues
from desk.home.queries import Changes, Failing, Mover, Movers, Projected, Since
from desk.timeline.sources import CONFIDENCE
from projects.models import Project
from records.kinds import Kind, all_kinds
from records.pages.history import VERBS
from records.pages.rows import record_url, title_of
from records.paging import COUNT_EXACT_TO, count_label

NEW = "create"


@dataclass(frozen=True)
class CountRow:
    """A number, what it counts, and the list of just those. `kind` colours it."""

    number: str
    label: str
    url: str
    kind: str = ""
    is_empty: bool = False


@dataclass(frozen=True)
class SinceRow:
    at: datetime
    is_first: bool
    total: CountRow
    rows: list[CountRow]
    cut: bool


@dataclass(frozen=True)
class FailingRow:
    agent: str
    failed: CountRow
    runs: CountRow


@dataclass(frozen=True)
class MoverRow:
    node_id: str
    title: str
    url: str
    before: float
    now: float
    moved: str
    rose: bool
    is_new: bool
    steps: CountRow


@dataclass(frozen=True)
class MoversRow:
    movers: list[MoverRow]
    url: str
    looked_at: int


def since_row(project: Project, since: Since, changes: Changes) -> SinceRow:
    """New records by kind first, then what else was done, most often first."""
    path = reverse("history:list", args=[project.slug])

    def row(count: int, label: str, **asked: str) -> CountRow:
        number = f"{count:,}+" if changes.cut else f"{count:,}"
        query = urlencode({"since": since.revision, **asked})
        return CountRow(number, label, f"{path}?{query}", asked.get("kind", ""))

    new = [
        row(count, _new(kind, count), kind=kind.name, verb=NEW)
        for kind in all_kinds()
        if (count := changes.counts.get((kind.name, NEW), 0))
    ]
    others: dict[str, int] = {}
    for (_kind, verb), count in changes.counts.items():
        if verb != NEW and verb in VERBS:
            others[verb] = others.get(verb, 0) + count
    done = [
        row(count, str(VERBS[verb]), verb=verb)
        for verb, count in sorted(others.items(), key=lambda pair: (-pair[1], pair[0]))
    ]
    total = min(changes.total, COUNT_EXACT_TO) if changes.cut else changes.total
    return SinceRow(
        since.at,
        since.is_first,
        row(total, _("change") if total == 1 else _("changes")),
        new + done,
        changes.cut,
    )


def _new(kind: Kind, count: int) -> str:
    return _("new %s") % (kind.label if count == 1 else kind.label_plural)


def queue_rows(project: Project, counts: dict[str, int]) -> list[CountRow]:
    path = reverse("inbox:page", args=[project.slug])
    return [
        CountRow(
            count_label(counts[queue.key]),
            str(queue.label),
            f"{path}?{urlencode({'queue': queue.key})}",
            is_empty=not counts[queue.key],
        )
        for queue in all_queues()
        if queue.key in counts
    ]


def failing_rows(project: Project, failing: list[Failing], first: date) -> list[FailingRow]:
    path = reverse("runs:list", args=[project.slug])

    def row(count: int, agent: str, label: str, **asked: str) -> CountRow:
        query = urlencode({"agent": agent, "started_after": first.isoformat(), **asked})
        return CountRow(count_label(count), label, f"{path}?{query}")

    return [
        FailingRow(
            one.agent,
            row(one.failed, one.agent, _("failed"), status="failed"),
            row(one.runs, one.agent, _("runs") if one.runs != 1 else _("run")),
        )
        for one in failing
    ]


def movers_row(project: Project, movers: Movers, first: date) -> MoversRow:
    path = reverse("timeline:page", args=[project.slug])
    query = urlencode({"what": "confidence", "when": f">={first.isoformat()}"})
    return MoversRow(
        [_mover(project, one, first) for one in movers.movers], f"{path}?{query}", movers.looked_at
    )


def _mover(project: Project, one: Mover, first: date) -> MoverRow:
    asked: list[tuple[str, Any]] = [("record", one.pattern.node_id), ("when", f">={first.isoformat()}")]
    query = urlencode([*asked, *(("verb", verb) for verb in CONFIDENCE)])
    steps = CountRow(
        f"{one.steps:,}",
        _("step") if one.steps == 1 else _("steps"),
        f"{reverse('history:list', args=[project.slug])}?{query}",
    )
    return MoverRow(
        one.pattern.node_id, title_of(one.pattern), record_url(one.pattern), one.before, one.now,
        f"{one.moved:+.2f}".replace("-", "−"), one.moved > 0, one.is_new, steps,
    )  # fmt: skip


def projected_rows(projected: Projected, health_url: str) -> list[CountRow]:
    """For those who may see the health of the desk, where each of these is named; nothing where all is well."""
    rows = []
    if projected.given_up:
        rows.append(
            CountRow(
                count_label(projected.given_up), _("given up, each with its error"), f"{health_url}#given-up"
            )
        )
    if projected.waiting:
        rows.append(CountRow(count_label(projected.waiting), _("not in it yet"), f"{health_url}#queue-title"))
    return rows
