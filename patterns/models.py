"""code_patterns, and the evidence that their confidence is computed from."""

from django.core.validators import MaxValueValidator, MinValueValidator
from django.db import models
from django.db.models import Q
from django.utils.translation import gettext_lazy as _

from database.columns import ChoiceField, ExactTextField, NodeIdField, RowChangedField, UtcNow
from patterns.confidence import posterior_mean
from records.counted import CountedEvent
from records.guard import GuardedManager
from records.models import LongText, Record, hidden_index, review_checks
from records.validation import check_text

PRIOR_WEIGHT = 4.0


class Pattern(Record):
    """A way of doing things that agents learned.

    `confidence_score` is the mean of a Beta posterior: the prior's mean and weight (pseudo-votes), and the votes since.
    """

    counters = (
        "usage_count",
        "worked_count",
        "failed_count",
        "worked_faded",
        "failed_faded",
        "confidence_score",
        "updated_at",
    )

    id = models.AutoField(primary_key=True)
    category = models.CharField(_("category"), max_length=50, validators=[check_text])
    name = models.CharField(_("name"), max_length=255, validators=[check_text])
    description = LongText(_("description"), null=True, blank=True)
    code_example = LongText(_("code example"), null=True, blank=True)
    language = models.CharField(_("language"), max_length=50, null=True, blank=True, validators=[check_text])
    confidence_score = models.FloatField(
        _("confidence"),
        default=0.5,
        db_default=0.5,
        editable=False,
        validators=[MinValueValidator(0), MaxValueValidator(1)],
    )
    prior_confidence = models.FloatField(
        _("prior"),
        default=0.5,
        db_default=0.5,
        editable=False,
        validators=[MinValueValidator(0), MaxValueValidator(1)],
    )
    prior_weight = models.FloatField(
        _("prior's weight"), default=PRIOR_WEIGHT, db_default=PRIOR_WEIGHT, editable=False
    )
    worked_count = models.IntegerField(_("worked"), default=0, db_default=0, editable=False)
    failed_count = models.IntegerField(_("failed"), default=0, db_default=0, editable=False)
    # What time has taken away of these votes (patterns.fading); NULL: nothing.
    worked_faded = models.FloatField(null=True, editable=False)
    failed_faded = models.FloatField(null=True, editable=False)
    usage_count = models.IntegerField(_("used"), default=0, db_default=0, editable=False)
    updated_at = RowChangedField(_("updated"))

    class Meta:
        db_table = "code_patterns"
        ordering = ["-id"]
        verbose_name = _("pattern")
        verbose_name_plural = _("patterns")
        constraints = [
            *review_checks("code_patterns"),
            models.CheckConstraint(
                condition=Q(confidence_score__gte=0, confidence_score__lte=1), name="code_patterns_confidence"
            ),
            models.CheckConstraint(
                condition=Q(prior_confidence__gte=0, prior_confidence__lte=1, prior_weight__gt=0),
                name="code_patterns_prior",
            ),
            models.CheckConstraint(
                condition=Q(usage_count__gte=0, worked_count__gte=0, failed_count__gte=0),
                name="code_patterns_counts",
            ),
        ]
        indexes = [
            hidden_index("patterns"),
            models.Index(fields=["project", "category"], name="patterns_project_category"),
            models.Index(fields=["confidence_score"], name="patterns_confidence"),
            models.Index(fields=["project", "confidence_score", "id"], name="patterns_project_confidence"),
            models.Index(fields=["project", "usage_count", "id"], name="patterns_project_usage"),
            models.Index(fields=["project", "created_at", "id"], name="patterns_project_created"),
        ]

    @property
    def heading(self) -> str:
        return self.name

    @property
    def votes(self) -> tuple[float, float]:
        """(worked, failed) as they count now: less what has faded. One that was taken back may have faded before."""
        return (
            max(0.0, self.worked_count - (self.worked_faded or 0.0)),
            max(0.0, self.failed_count - (self.failed_faded or 0.0)),
        )

    @property
    def all_votes(self) -> float:
        """What the confidence stands on: the prior's pseudo-votes and the others."""
        return self.prior_weight + sum(self.votes)

    @property
    def posterior(self) -> float:
        """The confidence that follows from prior and votes."""
        return posterior_mean(self.prior_confidence, self.prior_weight, *self.votes)


class Cause(models.TextChoices):
    START = "start", _("first written")
    ADJUSTED = "adjusted", _("adjusted by a person")
    SQL = "sql", _("written by SQL")
    WORKED = "worked", _("it worked")
    FAILED = "failed", _("it failed")
    DECAY = "decay", _("faded unused")


class Evidence(CountedEvent):
    """One step of a pattern's confidence: what moved it, who said so, and where it stood after."""

    pattern = models.ForeignKey(Pattern, on_delete=models.PROTECT, related_name="evidence")
    cause = ChoiceField(choices=Cause.choices)
    confidence_after = models.FloatField()
    # The prior's pseudo-votes and those that counted; NULL of steps of before this was kept.
    votes_after = models.FloatField(null=True)
    note = LongText(null=True, blank=True)
    actor_name = ExactTextField(max_length=255)
    source_session = ExactTextField(max_length=255, null=True)
    source_run = NodeIdField(null=True)
    created_at = models.DateTimeField(db_default=UtcNow())

    objects = GuardedManager()

    class Meta:
        db_table = "pattern_evidence"
        ordering = ["-id"]
        constraints = [
            models.CheckConstraint(condition=Q(cause__in=Cause.values), name="pattern_evidence_cause")
        ]

    def __str__(self) -> str:
        return f"{self.cause} {self.confidence_after:.2f}"
