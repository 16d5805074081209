"""What the shared floors know of sessions."""

from django.utils.translation import gettext_lazy as _

from records.kinds import Kind, register
from work_sessions.filters import SessionFilterSet
from work_sessions.models import WorkSession

SESSION = register(
    Kind(
        name="session",
        sections="work_sessions/_session.html",
        repeats_are_duplicates=False,
        filterset=SessionFilterSet,
        prefix="ses",
        label=_("session"),
        label_plural=_("sessions"),
        pack_section="session",
        model=WorkSession,
        url_name="work_sessions:detail",
        list_url_name="work_sessions:list",
        summary_of=lambda session: session.summary or "",
        body_of=lambda session: session.summary or "",
        graph_label="Session",
        headed=("session_id", "ended_at"),
        when="started_at",
        editable=("started_at", "ended_at", "summary", "context", "tags"),
        status_of=lambda session: "ended" if session.ended_at else "open",
    )
)
