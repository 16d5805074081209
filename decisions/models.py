"""architecture_decisions and outcomes."""

from django.core.validators import MaxValueValidator, MinValueValidator, RegexValidator
from django.db import models
from django.db.models import Q
from django.utils.translation import gettext_lazy as _

from database.columns import ChoiceField, ExactCharField, UtcNow
from records.models import CheckedJSON, LongText, Record, hidden_index, review_checks
from records.validation import check_text


class Status(models.TextChoices):
    ACCEPTED = "accepted", _("accepted")
    PENDING = "pending", _("pending")
    REJECTED = "rejected", _("rejected")
    SUPERSEDED = "superseded", _("superseded")
    DEPRECATED = "deprecated", _("deprecated")


class Precision(models.TextChoices):
    """A date that a person wrote names a day wherever it is read; an agent's is an instant."""

    INSTANT = "instant", _("instant")
    DAY = "day", _("day")


class Decision(Record):
    counters = ("sort_at",)

    id = models.AutoField(primary_key=True)
    title = models.CharField(_("title"), max_length=255, validators=[check_text])
    decision = LongText(_("decision"))
    rationale = LongText(_("rationale"), null=True, blank=True)
    alternatives_considered = LongText(_("alternatives considered"), null=True, blank=True)
    status = ChoiceField(_("status"), choices=Status.choices, default=Status.ACCEPTED)
    status_written = models.CharField(
        _("status as written"), max_length=255, null=True, blank=True, editable=False
    )
    decided_at = models.DateTimeField(_("decided"), null=True, blank=True, db_default=UtcNow())
    decided_precision = ChoiceField(choices=Precision.choices, default=Precision.INSTANT, editable=False)
    # What lists are sorted by: `decided_at`, or when the row was made. Not a generated column: MySQL computes those
    # before the default of a column that the writer left out.
    sort_at = models.DateTimeField(db_default=UtcNow(), editable=False)
    # Of a decision that was read from a document: where and how it was found there, and that text whole.
    origin = CheckedJSON(_("origin"), null=True, blank=True, editable=False)
    source_text = LongText(_("original document"), null=True, blank=True, editable=False)

    class Meta:
        db_table = "architecture_decisions"
        ordering = ["-id"]
        verbose_name = _("decision")
        verbose_name_plural = _("decisions")
        constraints = [
            *review_checks("architecture_decisions"),
            models.CheckConstraint(
                condition=Q(status__in=Status.values), name="architecture_decisions_status"
            ),
            models.CheckConstraint(
                condition=Q(decided_precision__in=Precision.values), name="architecture_decisions_precision"
            ),
        ]
        indexes = [
            hidden_index("decisions"),
            models.Index(fields=["project", "decided_at"], name="decisions_project_decided"),
            models.Index(fields=["status"], name="decisions_status"),
            models.Index(fields=["project", "sort_at", "id"], name="decisions_project_sort"),
            models.Index(
                fields=["project", "review_state", "sort_at", "id"], name="decisions_project_review"
            ),
            models.Index(fields=["project", "status", "sort_at", "id"], name="decisions_project_status"),
        ]

    @property
    def heading(self) -> str:
        return self.title


OUTCOME_TYPES = [
    ("success", _("success")),
    ("outage", _("outage")),
    ("regression", _("regression")),
    ("failure", _("failure")),
    ("cost", _("cost")),
    ("performance", _("performance")),
    ("security", _("security")),
    ("reversal", _("reversal")),
]


class Outcome(Record):
    """What followed a decision; its foreign key is the graph's LEADS_TO. `type` is open: agents name new ones."""

    id = models.AutoField(primary_key=True)
    decision = models.ForeignKey(Decision, on_delete=models.PROTECT, related_name="outcomes")
    type = ExactCharField(
        _("type"),
        max_length=50,
        validators=[RegexValidator(r"\A[a-z][a-z0-9_-]*\Z", _("Lower-case letters, digits, - and _."))],
    )
    success_rate = models.FloatField(
        _("success rate"), null=True, blank=True, validators=[MinValueValidator(0), MaxValueValidator(1)]
    )
    note = LongText(_("note"), null=True, blank=True)
    occurred_at = models.DateTimeField(_("when"), db_default=UtcNow())

    class Meta:
        db_table = "outcomes"
        ordering = ["-id"]
        verbose_name = _("outcome")
        verbose_name_plural = _("outcomes")
        constraints = [
            *review_checks("outcomes"),
            models.CheckConstraint(
                condition=Q(success_rate=None) | Q(success_rate__gte=0, success_rate__lte=1),
                name="outcomes_success_rate",
            ),
        ]
        indexes = [
            hidden_index("outcomes"),
            models.Index(fields=["project", "occurred_at", "id"], name="outcomes_project_occurred"),
            models.Index(fields=["project", "type", "occurred_at"], name="outcomes_project_type"),
        ]

    @property
    def heading(self) -> str:
        rate = f" {self.success_rate:.2f}" if self.success_rate is not None else ""
        return f"{self.type}{rate}"

    @property
    def decision_title(self) -> str:
        """Of the decision that it followed; empty where plain SQL put that behind another project's wall."""
        return self.decision.title if self.decision.project_id == self.project_id else ""
