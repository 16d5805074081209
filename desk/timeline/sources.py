"""What a timeline is made of: each source is one index range of one table, read newest first.

Where a table has no instant but a day (a decision's date as a person wrote it), the event stands at the start of that
day in the reader's zone: a written day is that day wherever it is read.
"""

from __future__ import annotations

from collections.abc import Callable, Collection
from dataclasses import dataclass, field
from datetime import UTC, date, datetime, time, timedelta
from typing import Any

from django.db.models import Q, QuerySet

from curation.history.belief import REVIEWS
from decisions.models import Decision, Outcome, Precision
from projects.models import Project
from records.filter_fields import start_of_day, within_days
from records.kinds import Kind, kind_named, parse_node_id
from records.models import Revision
from records.times import shown_time
from runs.models import Run
from work_sessions.models import WorkSession

MOST_OF_A_SESSION = 2_000
CONFIDENCE = ("worked", "failed", "adjust_confidence", "decay")
MET = ("met_again",)


@dataclass(frozen=True)
class Place:
    """Where a page ends: the event's time, its source's number, and its own column and key there."""

    when: datetime
    source: int
    value: datetime
    key: Any


@dataclass(frozen=True)
class Wanted:
    """What is filtered by. `written` are the node ids that the session wrote, where one is named."""

    project: Project
    first: date | None = None
    last: date | None = None
    by: str = ""
    record: str = ""
    session: str = ""
    written: frozenset[str] = field(default_factory=frozenset)


@dataclass(frozen=True)
class Source:
    """`what` names the events in a filter; `column` is the time that they are ordered by, `actor` who did it."""

    what: str
    column: str
    actor: str
    rows: Callable[[Project], QuerySet[Any]]
    kind: str = ""  # of a record; "" for rows of the history
    days: bool = False

    def read(
        self, wanted: Wanted, number: int, after: Place | None, size: int
    ) -> list[tuple[datetime, datetime, Any]]:
        """(when, column, key) of `size` events beyond the place, newest first; one statement at most."""
        narrowed = self._narrowed(wanted)
        if narrowed is None:
            return []
        rows = self.rows(wanted.project).filter(narrowed, self._within(wanted.first, wanted.last))
        if wanted.by:
            rows = rows.filter(**{self.actor: wanted.by})
        if after is not None:
            rows = rows.filter(self._beyond(number, after))
        found = rows.order_by(f"-{self.column}", "-pk").values_list(self.column, "pk")[:size]
        return [(self._when(value), value, key) for value, key in found]

    def _when(self, value: datetime) -> datetime:
        return start_of_day(value.astimezone(UTC).date()) if self.days else value

    def _within(self, first: date | None, last: date | None) -> Q:
        if not self.days:
            return within_days(self.column, first, last)
        bounds = Q()
        if first is not None:
            bounds &= Q(**{f"{self.column}__gte": midnight(first)})
        if last is not None:
            bounds &= self._before_day(last + timedelta(days=1))
        return bounds

    def _before_day(self, day: date) -> Q:
        return Q(**{f"{self.column}__lt": midnight(day)})

    def _beyond(self, number: int, after: Place) -> Q:
        """Older than the place; of the same time, what comes later in the order of sources and keys."""
        if number == after.source:
            value = after.value
            older = Q(**{f"{self.column}__lt": value}) | Q(**{self.column: value, "pk__lt": after.key})
            return older & Q(**{f"{self.column}__lte": value})  # lets the servers start the range there
        includes_same_time = number > after.source
        if not self.days:
            return Q(**{f"{self.column}__{'lte' if includes_same_time else 'lt'}": after.when})
        day = shown_time(after.when).date()
        if includes_same_time or start_of_day(day) < after.when:
            return self._before_day(day + timedelta(days=1)) if day < date.max else Q()
        return self._before_day(day)

    def _narrowed(self, wanted: Wanted) -> Q | None:
        """To one record or one session; None where this source has nothing of it."""
        narrowed = Q()
        if wanted.record:
            found = self._of_record(wanted.record)
            if found is None:
                return None
            narrowed &= found
        if wanted.session:
            found = self._of_session(wanted)
            if found is None:
                return None
            narrowed &= found
        return narrowed

    def _of_record(self, node_id: str) -> Q | None:
        if not self.kind:
            return Q(node_id=node_id)
        parsed = parse_node_id(node_id)
        if parsed is None:
            return None
        kind, key = parsed
        if self.kind == "outcome" and kind.name == "decision":
            return Q(decision_id=key)  # what followed it is of its time line
        return Q(pk=key) if kind.name == self.kind else None

    def _of_session(self, wanted: Wanted) -> Q | None:
        if not self.kind:
            return Q(session=wanted.session)
        own = Q(session_id=wanted.session) if self.kind == "session" else None
        keys = keys_of(wanted.written, kind_named(self.kind))
        if not keys:
            return own
        return Q(pk__in=keys) if own is None else own | Q(pk__in=keys)


def keys_of(node_ids: Collection[str], kind: Kind) -> list[Any]:
    parsed = (parse_node_id(node_id) for node_id in node_ids)
    return sorted(each[1] for each in parsed if each is not None and each[0] is kind)


def midnight(day: date) -> datetime:
    return datetime.combine(day, time.min, tzinfo=UTC)


def written_in_session(project: Project, session: str) -> frozenset[str]:
    """What was written in a session, by the history's index of sessions; the newest of very much."""
    rows = Revision.objects.filter(session=session, project_id=project.pk, version=1).order_by("-id")
    return frozenset(rows.values_list("node_id", flat=True)[:MOST_OF_A_SESSION])


def _decisions(precision: str) -> Callable[[Project], QuerySet[Any]]:
    return lambda project: Decision.objects.active().filter(
        project=project, decided_precision=precision, decided_at__isnull=False
    )


def _acts(verb: str) -> Callable[[Project], QuerySet[Any]]:
    return lambda project: Revision.objects.filter(project=project, verb=verb)


# In this order where several happened at one time.
SOURCES: tuple[Source, ...] = (
    *(
        Source(what, "created_at", "actor_name", _acts(verb))
        for what, verbs in (("review", REVIEWS), ("confidence", CONFIDENCE), ("met", MET))
        for verb in verbs
    ),
    Source("outcome", "occurred_at", "source_name", lambda project: Outcome.objects.active().filter(project=project), "outcome"),
    Source("run", "started_at", "agent_name", lambda project: Run.objects.active().filter(project=project), "run"),
    Source("session", "started_at", "source_name", lambda project: WorkSession.objects.active().filter(project=project), "session"),
    Source("decision", "sort_at", "source_name", _decisions(Precision.INSTANT), "decision"),
    Source("decision", "sort_at", "source_name", _decisions(Precision.DAY), "decision", days=True),
)  # fmt: skip
