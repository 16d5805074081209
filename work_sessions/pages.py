"""View-models of a session's page."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from datetime import datetime
from typing import Any
from urllib.parse import urlencode

from django.urls import reverse
from django.utils.translation import gettext_lazy

from records.kinds import kind_named, kind_of, parse_node_id
from records.pages.history import VERBS
from records.pages.json_tree import Before, Difference, difference
from records.pages.rows import record_url, title_of
from work_sessions.course import BEGAN, ENDED, FOLLOWED, Event, course_of, session_before
from work_sessions.models import WorkSession
from work_sessions.queries import Activity, activity_in

SAID = {BEGAN: gettext_lazy("began"), ENDED: gettext_lazy("ended"), FOLLOWED: gettext_lazy("followed")}


@dataclass(frozen=True)
class EventRow:
    """`kind` colours it; `title` is empty where the record is hidden or gone; `own`: of the session itself."""

    when: datetime
    said: str
    kind: str
    node_id: str
    title: str
    url: str
    actor: str
    reason: str
    status: str | None
    status_label: str
    own: bool


@dataclass(frozen=True)
class Compared:
    """The context of the session before: where it is, what differs, what the tree is compared with."""

    title: str
    node_id: str
    url: str
    before: Before
    difference: Difference


def session_context(session: WorkSession) -> dict[str, Any]:
    """What templates/work_sessions/detail.html shows beside any record's own context."""
    course, activity = course_of(session), activity_in(session)
    asked = urlencode({"session": session.session_id})
    slug = session.project.slug
    return {
        "events": [_row(event, session) for event in course.events],
        "more_events": course.more,
        "history_url": f"{reverse('history:list', args=[slug])}?{asked}" if session.session_id else "",
        "timeline_url": f"{reverse('timeline:page', args=[slug])}?{asked}" if session.session_id else "",
        "activity": activity,
        "wrote": wrote_words(activity),
        "compared": compared_with_before(session),
    }


def wrote_words(activity: Activity) -> str:
    """`3 decisions, 1 pattern`; empty where it wrote nothing."""
    counted: Mapping[str, int] = activity.written
    kinds = ((kind_named(name), count) for name, count in counted.items())
    return ", ".join(f"{count:,} {kind.label if count == 1 else kind.label_plural}" for kind, count in kinds)


def compared_with_before(session: WorkSession) -> Compared | None:
    """None for an agent's first session, and where neither has a context."""
    before = session_before(session)
    if before is None or (before.context is None and session.context is None):
        return None
    return Compared(
        title_of(before),
        before.node_id,
        record_url(before),
        Before(before.context),
        difference(session.context, before.context),
    )


def _row(event: Event, session: WorkSession) -> EventRow:
    own = event.node_id == session.node_id
    parsed = parse_node_id(event.node_id)
    kind = kind_of(event.record) if event.record is not None else parsed[0] if parsed else None
    shown = event.record if not own else None
    status = kind.status_of(shown) if kind is not None and shown is not None and event.act is None else None
    is_told = own or shown is not None
    return EventRow(
        when=event.when,
        said=_said(event.what),
        kind=kind.name if kind is not None else "",
        node_id=event.node_id,
        title=title_of(shown) if shown is not None else "",
        url=record_url(shown) if shown is not None else "",
        actor=_actor(event),
        reason=event.act.reason if event.act is not None and is_told else "",
        status=status,
        status_label=kind.status_label_of(shown) if kind is not None and status else "",
        own=own,
    )


def _said(what: str) -> str:
    said: dict[str, Any] = {**VERBS, **SAID}
    return str(said.get(what, what))


def _actor(event: Event) -> str:
    if event.act is not None:
        return event.act.actor_name
    return getattr(event.record, "source_name", None) or "" if event.record is not None else ""
