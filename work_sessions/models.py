"""work_sessions."""

from django.db import models
from django.utils.translation import gettext_lazy as _

from database.columns import ExactTextField, UtcNow
from records.models import CheckedJSON, LongText, Record, hidden_index, review_checks
from records.validation import check_text


class WorkSession(Record):
    """One stretch of an agent's work. `session_id` is the agent's own name for it."""

    id = models.AutoField(primary_key=True)
    session_id = ExactTextField(_("session"), max_length=255, unique=True, validators=[check_text])
    started_at = models.DateTimeField(_("started"), db_default=UtcNow())
    ended_at = models.DateTimeField(_("ended"), null=True, blank=True)
    summary = LongText(_("summary"), null=True, blank=True)
    context = CheckedJSON(_("context"), null=True, blank=True)

    class Meta:
        db_table = "work_sessions"
        ordering = ["-id"]
        verbose_name = _("session")
        verbose_name_plural = _("sessions")
        constraints = review_checks("work_sessions")
        indexes = [
            hidden_index("sessions"),
            models.Index(fields=["project", "started_at"], name="sessions_project_started"),
            models.Index(fields=["project", "started_at", "id"], name="sessions_project_sort"),
        ]

    @property
    def heading(self) -> str:
        return self.session_id
