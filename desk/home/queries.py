"""What the overview counts: each number is that of a list which a link opens. Capped, and kept until the history moves."""

from __future__ import annotations

import hashlib
from collections import Counter
from collections.abc import Callable
from dataclasses import dataclass
from datetime import date, datetime, timedelta
from typing import Any, TypeVar

from django.core.cache import cache
from django.db import connection
from django.db.models import OuterRef, Q, Subquery
from django.utils import timezone

from curation.inbox.queues import counts_by_queue
from desk.home.models import Visit
from desk.timeline.sources import CONFIDENCE
from patterns.kind import PATTERN
from patterns.models import Evidence, Pattern
from projects.models import Project, User
from records.filter_fields import start_of_day, within_days
from records.kinds import parse_node_id
from records.models import ProjectionMark, Revision
from records.paging import COUNT_EXACT_TO, capped_counts
from records.queries import newest_revision
from runs.models import Run, RunStatus

KEPT_SECONDS = 30.0
FAILING_SHOWN = MOVERS_SHOWN = 5
STEPS_LOOKED_AT = 2_000
LEAST_MOVE = 0.005  # what two decimals show
# Looking again within this time is the same visit: a reload must not hide what has just been shown.
SAME_VISIT = timedelta(minutes=30)
FIRST_LOOK = timedelta(days=7)
Answer = TypeVar("Answer")


@dataclass(frozen=True)
class Since:
    """From where on changes are new to somebody: all rows of the history after that number."""

    revision: int
    at: datetime
    is_first: bool = False


@dataclass(frozen=True)
class Changes:
    """How many rows of the history came by (kind, verb); `cut`: only the newest COUNT_EXACT_TO are counted."""

    counts: dict[tuple[str, str], int]
    cut: bool = False

    @property
    def total(self) -> int:
        return sum(self.counts.values())


@dataclass(frozen=True)
class Failing:
    """An agent's runs that started on these days: failed ones, and all; both capped."""

    agent: str
    failed: int
    runs: int


@dataclass(frozen=True)
class Mover:
    """A pattern's confidence at the start of the week (or when it was first written in it), and now."""

    pattern: Pattern
    before: float
    steps: int
    is_new: bool

    @property
    def now(self) -> float:
        return float(self.pattern.confidence_score)

    @property
    def moved(self) -> float:
        return self.now - self.before


@dataclass(frozen=True)
class Movers:
    """Those that moved most. `looked_at`: of how many steps, where there were more (0: of all)."""

    movers: list[Mover]
    looked_at: int = 0


@dataclass(frozen=True)
class Projected:
    """Records of a project whose vector or node is not what was written last, and those given up; capped."""

    waiting: int
    given_up: int


def since_last_visit(user: User, project: Project, newest: int, now: datetime) -> Since:
    """What a look would say, without one: nothing moves."""
    visit = Visit.objects.filter(user=user, project=project).first()
    if visit is None:
        return first_look(project, newest, now)
    if visit.seen_at < now - SAME_VISIT:
        return Since(visit.seen_revision, visit.seen_at)
    return Since(visit.since_revision, visit.since_at)


def first_look(project: Project, newest: int, now: datetime) -> Since:
    """Whoever never looked is shown the last week."""
    at = now - FIRST_LOOK
    rows = Revision.objects.filter(project=project, created_at__gte=at).order_by("created_at", "pk")
    oldest = rows.values_list("pk", flat=True).first()
    return Since(newest if oldest is None else oldest - 1, at, is_first=True)


def changes_after(project: Project, revision: int) -> Changes:
    """What was done after that row of the history; one statement, within one index."""
    rows = Revision.objects.filter(project=project, pk__gt=revision).order_by("-pk")
    sql, values = rows.values("kind", "verb")[: COUNT_EXACT_TO + 1].query.sql_with_params()
    with connection.cursor() as cursor:
        cursor.execute(f"SELECT kind, verb, COUNT(*) FROM ({sql}) AS came GROUP BY kind, verb", values)
        counts = {(kind, verb): count for kind, verb, count in cursor.fetchall()}
    return Changes(counts, sum(counts.values()) > COUNT_EXACT_TO)


def queue_counts(project: Project) -> dict[str, int]:
    """By the key of each of the inbox's queues, in their order."""
    return _kept("queues", project, (), lambda: counts_by_queue(project))


def failing_agents(project: Project, first: date) -> list[Failing]:
    """Whose runs failed since that day, most failures first. Two statements."""
    return _kept("failing", project, (first,), lambda: _failing(project, first))


def _failing(project: Project, first: date) -> list[Failing]:
    runs = Run.objects.active().filter(within_days("started_at", first, None), project=project)
    failed = runs.filter(status=RunStatus.FAILED).exclude(agent_name="").order_by()
    names = Counter(failed.values_list("agent_name", flat=True)[: COUNT_EXACT_TO + 1])
    most = sorted(names.items(), key=lambda pair: (-pair[1], pair[0]))[:FAILING_SHOWN]
    counted = capped_counts([runs.filter(agent_name=agent) for agent, _count in most])
    return [Failing(agent, count, all_runs) for (agent, count), all_runs in zip(most, counted, strict=True)]


def confidence_movers(project: Project, first: date) -> Movers:
    """Active patterns by how far their confidence moved since that day, as the history says.

    One statement a sort of step, and one for the patterns."""
    return _kept("movers", project, (first,), lambda: _movers(project, first))


def _movers(project: Project, first: date) -> Movers:
    steps: Counter[str] = Counter()
    is_cut = False
    within = within_days("created_at", first, None)
    for verb in CONFIDENCE:  # one range of the index each
        rows = Revision.objects.filter(within, project=project, verb=verb).order_by("-created_at", "-pk")
        newest = list(rows.values_list("node_id", flat=True)[: STEPS_LOOKED_AT + 1])
        is_cut |= len(newest) > STEPS_LOOKED_AT
        steps.update(newest[:STEPS_LOOKED_AT])
    keys = [parsed[1] for node_id in steps if (parsed := parse_node_id(node_id)) and parsed[0] is PATTERN]
    found = [
        Mover(pattern, pattern.before, steps[pattern.node_id], pattern.is_new)
        for pattern in _with_confidence_before(project, keys, first)
        if pattern.before is not None
    ]
    moved = [mover for mover in found if abs(mover.moved) >= LEAST_MOVE]
    moved.sort(key=lambda mover: (-abs(mover.moved), mover.pattern.pk))
    return Movers(moved[:MOVERS_SHOWN], steps.total() if is_cut else 0)


def _with_confidence_before(project: Project, keys: list[int], first: date) -> list[Any]:
    """`before`: after the last step before that day; of a pattern that is younger, after its first one (`is_new`)."""
    start = start_of_day(first)
    counting = Evidence.objects.filter(
        Q(taken_back_at=None) | Q(taken_back_at__gte=start), pattern=OuterRef("pk")
    )
    last = counting.filter(created_at__lt=start).order_by("-pk").values("confidence_after")[:1]
    begun = counting.order_by("pk").values("confidence_after")[:1]
    rows = Pattern.objects.active().filter(project=project, pk__in=keys).defer("description", "code_example")
    patterns = list(rows.annotate(at_start=Subquery(last), at_first=Subquery(begun)))
    for pattern in patterns:
        pattern.is_new = pattern.at_start is None
        pattern.before = pattern.at_first if pattern.is_new else pattern.at_start
        pattern.project = project
    return patterns


def projected(project: Project) -> Projected:
    """Two index ranges that are empty when all is well."""
    marks = ProjectionMark.objects.filter(project_id=project.pk)
    waiting, given_up = capped_counts(
        [marks.filter(dead=False, next_try_at__isnull=False), marks.filter(dead=True)]
    )
    return Projected(waiting, given_up)


def _kept(name: str, project: Project, asked: tuple[Any, ...], ask: Callable[[], Answer]) -> Answer:
    """Until the project's history moves, half a minute at most."""
    zone = timezone.get_current_timezone_name()
    known = repr([name, project.pk, newest_revision(project.pk), zone, asked]).encode()
    key = f"home.{hashlib.sha256(known).hexdigest()}"
    kept: Answer | None = cache.get(key)
    if kept is None:
        kept = ask()
        cache.set(key, kept, KEPT_SECONDS)
    return kept
