"""pitfalls, and each time one was met."""

from django.db import models
from django.db.models import Q
from django.utils.translation import gettext_lazy as _

from database.columns import ChoiceField, ExactTextField, NodeIdField, UtcNow
from records.counted import CountedEvent
from records.guard import GuardedManager
from records.models import LongText, Record, hidden_index, review_checks
from records.validation import check_text


class Severity(models.TextChoices):
    CRITICAL = "critical", _("critical")
    HIGH = "high", _("high")
    MEDIUM = "medium", _("medium")
    LOW = "low", _("low")


class Pitfall(Record):
    counters = ("encountered_count",)

    id = models.AutoField(primary_key=True)
    category = models.CharField(_("category"), max_length=50, validators=[check_text])
    title = models.CharField(_("title"), max_length=255, validators=[check_text])
    description = LongText(_("description"), null=True, blank=True)
    how_to_avoid = LongText(_("how to avoid it"), null=True, blank=True)
    severity = ChoiceField(_("severity"), choices=Severity.choices, default=Severity.MEDIUM)
    encountered_count = models.IntegerField(_("times met"), default=1, db_default=1, editable=False)

    class Meta:
        db_table = "pitfalls"
        ordering = ["-id"]
        verbose_name = _("pitfall")
        verbose_name_plural = _("pitfalls")
        constraints = [
            *review_checks("pitfalls"),
            models.CheckConstraint(condition=Q(severity__in=Severity.values), name="pitfalls_severity"),
            models.CheckConstraint(condition=Q(encountered_count__gte=0), name="pitfalls_count"),
        ]
        indexes = [
            hidden_index("pitfalls"),
            models.Index(fields=["project", "severity"], name="pitfalls_project_severity"),
            models.Index(fields=["project", "category", "severity"], name="pitfalls_project_category"),
            models.Index(fields=["project", "encountered_count", "id"], name="pitfalls_project_met"),
            models.Index(fields=["project", "created_at", "id"], name="pitfalls_project_created"),
        ]

    @property
    def heading(self) -> str:
        return self.title


class Encounter(CountedEvent):
    """The pitfall was met again: by whom, in which session or run."""

    pitfall = models.ForeignKey(Pitfall, on_delete=models.PROTECT, related_name="encounters")
    note = LongText(null=True, blank=True)
    actor_name = ExactTextField(max_length=255)
    source_session = ExactTextField(max_length=255, null=True)
    source_run = NodeIdField(null=True)
    created_at = models.DateTimeField(db_default=UtcNow())

    objects = GuardedManager()

    class Meta:
        db_table = "pitfall_encounters"
        ordering = ["-id"]

    def __str__(self) -> str:
        return f"{self.pitfall_id} {self.created_at:%F}"
