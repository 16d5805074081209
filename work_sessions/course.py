"""The course of a session: what it wrote and touched, what followed from it, how it ended; and the session before it."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from datetime import datetime
from typing import Any

from django.db.models import Q

from records.kinds import kind_named, parse_node_id
from records.models import Revision
from records.queries import records_by_node_id
from work_sessions.models import WorkSession

ACTS_SHOWN = 100
OUTCOMES_SHOWN = 30
BEGAN, ENDED, FOLLOWED = "began", "ended", "followed"


@dataclass(frozen=True)
class Event:
    """`what` is a verb of the history, or one of BEGAN, ENDED and FOLLOWED (an outcome of what the session decided).
    `record` is None where it is not active, or gone: its name alone is told."""

    what: str
    when: datetime
    node_id: str
    record: Any = None
    act: Revision | None = None


@dataclass(frozen=True)
class Course:
    """In the order of time. `more`: acts beyond those, in the history."""

    events: Sequence[Event]
    more: bool = False


def session_before(session: WorkSession) -> WorkSession | None:
    """The active session that the same agent began last before this one, in the project; along the index of time."""
    if not session.source_name:
        return None
    earlier = Q(started_at__lt=session.started_at) | Q(started_at=session.started_at, pk__lt=session.pk)
    rows = WorkSession.objects.active().filter(
        earlier,
        project_id=session.project_id,
        source_name=session.source_name,
        started_at__lte=session.started_at,
    )
    found: WorkSession | None = rows.defer("summary").order_by("-started_at", "-pk").first()
    if found is not None:
        found.project = session.project
    return found


def course_of(session: WorkSession) -> Course:
    """A bounded number of statements: the first ACTS_SHOWN acts done in it, its own acts, its records, a kind each."""
    acts = _acts_in(session)
    more, acts = len(acts) > ACTS_SHOWN, acts[:ACTS_SHOWN]
    own = _acts_of(session)
    outcomes = _outcomes(session, {act.node_id for act in acts})
    named = {act.node_id for act in acts} - {session.node_id}
    records = {
        node_id: record
        for node_id, record in records_by_node_id(named, [session.project_id], brief=True).items()
        if record.is_active
    }
    for record in records.values():
        record.project = session.project
    events = [Event(BEGAN, session.started_at, session.node_id)]
    events += [Event(act.verb, act.created_at, act.node_id, records.get(act.node_id), act) for act in acts]
    events += [Event(act.verb, act.created_at, act.node_id, session, act) for act in own]
    events += [Event(FOLLOWED, outcome.occurred_at, outcome.node_id, outcome) for outcome in outcomes]
    if session.ended_at is not None and not any(act.verb == "end" for act in own):
        events.append(Event(ENDED, session.ended_at, session.node_id))
    first, *others = events
    return Course([first, *sorted(others, key=lambda event: event.when)], more)


def _acts_in(session: WorkSession) -> list[Revision]:
    """Of other records: what was done under the session's name."""
    if not session.session_id:  # plain SQL may leave it empty, as is the session of most acts
        return []
    rows = Revision.objects.filter(session=session.session_id, project_id=session.project_id)
    rows = rows.exclude(node_id=session.node_id).defer("after").order_by("pk")
    return list(rows[: ACTS_SHOWN + 1])


def _acts_of(session: WorkSession) -> list[Revision]:
    """What was done to the session itself, but that it was written; the newest of very much."""
    rows = Revision.objects.filter(node_id=session.node_id).exclude(version=1).defer("after")
    return list(rows.order_by("-pk")[:ACTS_SHOWN])[::-1]


def _outcomes(session: WorkSession, touched: set[str]) -> list[Any]:
    """Outcomes of the decisions touched that were recorded elsewhere, the first of very many."""
    decision, outcome = kind_named("decision"), kind_named("outcome")
    parsed = (parse_node_id(node_id) for node_id in touched)
    keys = sorted(key for kind, key in filter(None, parsed) if kind is decision)
    if not keys:
        return []
    rows = outcome.model.objects.active().filter(project_id=session.project_id, decision__in=keys)  # type: ignore[attr-defined]
    rows = rows.select_related("project", *outcome.select).order_by("occurred_at", "pk")[:OUTCOMES_SHOWN]
    return [record for record in rows if record.node_id not in touched and record.occurred_at is not None]
