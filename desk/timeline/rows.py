"""View-models of the time line: events under the day on which they happened, in the reader's zone."""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import dataclass, field
from datetime import date, datetime
from typing import Any

from django.utils.translation import gettext as _
from django.utils.translation import gettext_lazy

from desk.timeline.queries import Event
from records.kinds import kind_named, kind_of, parse_node_id
from records.models import Revision
from records.pages.history import VERBS
from records.pages.rows import record_url, title_of
from records.times import shown_time

SAID = {
    "decision": gettext_lazy("decided"),
    "outcome": gettext_lazy("followed"),
    "run": gettext_lazy("ran"),
    "session": gettext_lazy("session began"),
}


@dataclass
class EventRow:
    """One line: at what time (None: the day is all that is known), what happened, to which record, who did it."""

    time: datetime | None
    kind: str
    said: str
    title: str
    url: str
    node_id: str
    actor: str
    status: str | None
    status_label: str
    reason: str


@dataclass
class DayRows:
    day: date
    events: list[EventRow] = field(default_factory=list)

    @property
    def query(self) -> str:
        return self.day.isoformat()


def days_of_events(events: Iterable[Event]) -> list[DayRows]:
    days: list[DayRows] = []
    for event in events:
        day = shown_time(event.when).date()
        if not days or days[-1].day != day:
            days.append(DayRows(day))
        days[-1].events.append(event_row(event))
    return days


def event_row(event: Event) -> EventRow:
    record, act = event.record, event.act
    kind = kind_of(record) if record is not None else _kind_of(event)
    status = kind.status_of(record) if record is not None and act is None else None
    return EventRow(
        time=None if event.is_day else shown_time(event.when),
        kind=kind.name,
        said=_act_said(act) if act is not None else str(SAID[event.what]),
        title=_title(record),
        url=record_url(record) if record is not None else "",
        node_id=event.node_id,
        actor=_actor(record, act),
        status=status,
        status_label=kind.status_label_of(record) if status else "",
        reason=act.reason if act is not None else "",
    )


def _kind_of(event: Event) -> Any:
    parsed = parse_node_id(event.node_id)
    return parsed[0] if parsed is not None else kind_named(event.act.kind if event.act else event.what)


def _title(record: Any) -> str:
    if record is None:
        return ""
    about = getattr(record, "decision_title", "")  # of an outcome
    return f"{title_of(record)}: {about}" if about else title_of(record)


def _actor(record: Any, act: Revision | None) -> str:
    if act is not None:
        return act.actor_name
    return getattr(record, "agent_name", None) or getattr(record, "source_name", None) or ""


def _act_said(act: Revision) -> str:
    said = str(VERBS.get(act.verb, act.verb))
    after = (act.detail or {}).get("confidence_after")
    return f"{said} ({_('confidence')} {after:.2f})" if isinstance(after, int | float) else said
