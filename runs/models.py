"""agent_runs, the key/values of their payloads, agent_memory and agent_cache."""

import textwrap
from textwrap import shorten

from django.core.validators import MaxValueValidator, MinValueValidator
from django.db import models
from django.db.models import Q
from django.utils.translation import gettext_lazy as _

from database.columns import ChoiceField, ExactCharField, ExactTextField, HexIdField, UtcNow
from projects.models import Project
from records.models import CheckedJSON, LongText, Record, hidden_index, review_checks
from records.validation import check_text
from runs.figures import RunFigures as RunFigures  # a table of this app
from runs.figures import RunSummary as RunSummary  # a table of this app


class RunStatus(models.TextChoices):
    RUNNING = "running", _("running")
    SUCCEEDED = "succeeded", _("succeeded")
    FAILED = "failed", _("failed")
    CANCELLED = "cancelled", _("cancelled")


def _first_words(payload: object) -> str:
    values = payload.values() if isinstance(payload, dict) else [payload]
    return next((shorten(value, 80, placeholder="…") for value in values if isinstance(value, str)), "")


class Run(Record):
    """One agent run. `project` may be NULL: a plain-SQL writer names none, and an operator assigns it."""

    id = HexIdField(primary_key=True)
    project = models.ForeignKey(  # type: ignore[assignment]
        Project, null=True, on_delete=models.PROTECT, verbose_name=_("project"), related_name="+"
    )
    agent_name = ExactTextField(_("agent"), max_length=255, validators=[check_text])
    agent_version = ExactTextField(
        _("version"), max_length=50, null=True, blank=True, validators=[check_text]
    )
    trigger_type = ExactTextField(
        _("trigger"), max_length=100, null=True, blank=True, validators=[check_text]
    )
    trigger_payload = CheckedJSON(_("trigger payload"), null=True, blank=True)
    started_at = models.DateTimeField(_("started"), db_default=UtcNow())
    ended_at = models.DateTimeField(_("ended"), null=True, blank=True)
    status = ChoiceField(_("status"), choices=RunStatus.choices, default=RunStatus.RUNNING)
    outcome = CheckedJSON(_("outcome"), null=True, blank=True)
    tool_calls = CheckedJSON(_("tool calls"), null=True, blank=True)
    token_cost = models.IntegerField(
        _("token cost"), null=True, blank=True, validators=[MinValueValidator(0)]
    )
    escalated_to_human = models.BooleanField(_("escalated"), default=False, db_default=False)
    confidence = models.DecimalField(
        _("confidence"), max_digits=3, decimal_places=2, null=True, blank=True,
        validators=[MinValueValidator(0), MaxValueValidator(1)],
    )  # fmt: skip

    class Meta:
        db_table = "agent_runs"
        ordering = ["-started_at"]
        verbose_name = _("run")
        verbose_name_plural = _("runs")
        constraints = [
            *review_checks("agent_runs"),
            models.CheckConstraint(condition=Q(status__in=RunStatus.values), name="agent_runs_status"),
            models.CheckConstraint(
                condition=Q(confidence=None) | Q(confidence__gte=0, confidence__lte=1),
                name="agent_runs_confidence",
            ),
            models.CheckConstraint(
                condition=Q(token_cost=None) | Q(token_cost__gte=0), name="agent_runs_token_cost"
            ),
        ]
        indexes = [
            hidden_index("runs"),
            # By fields, not by expressions: MariaDB is given no expression index.
            models.Index(fields=["agent_name", "-started_at"], name="runs_agent_started"),
            models.Index(fields=["project", "started_at", "id"], name="runs_project_started"),
            models.Index(fields=["project", "status", "started_at"], name="runs_project_status"),
            models.Index(fields=["project", "agent_name", "started_at", "id"], name="runs_project_agent"),
            models.Index(
                fields=["project", "agent_version", "started_at", "id"], name="runs_project_version"
            ),
            models.Index(fields=["project", "trigger_type", "started_at", "id"], name="runs_project_trigger"),
            models.Index(
                fields=["project", "escalated_to_human", "started_at", "id"], name="runs_project_escalated"
            ),
        ]

    @property
    def heading(self) -> str:
        """What set it off, in the payload's own first words: what an alert or a task calls itself."""
        said = _first_words(self.trigger_payload) or self.agent_name
        return " · ".join(filter(None, [self.trigger_type, said]))


class PayloadValue(models.Model):
    """One leaf of a run's trigger payload, so that `host=db-2` is an index look-up. `digest` is of the whole value."""

    run = models.ForeignKey(Run, on_delete=models.CASCADE, related_name="payload_values")
    project_id = models.IntegerField(null=True)
    path = ExactTextField(max_length=255)
    value = models.CharField(max_length=255)
    digest = ExactCharField(max_length=64)

    class Meta:
        db_table = "run_payload_values"
        ordering = ["id"]
        indexes = [models.Index(fields=["project_id", "path", "digest", "run"], name="payload_path_value")]

    def __str__(self) -> str:
        return f"{self.path}={self.value}"


class Memory(Record):
    """One summary of a run and its embedding (384 floats as JSON, as its writer gave them)."""

    id = HexIdField(primary_key=True)
    project = models.ForeignKey(  # type: ignore[assignment]
        Project, null=True, on_delete=models.PROTECT, verbose_name=_("project"), related_name="+"
    )
    agent_name = ExactTextField(_("agent"), max_length=255, validators=[check_text])
    summary = LongText(_("summary"))
    embedding = CheckedJSON(null=True, blank=True, editable=False)
    embedding_model = ExactTextField(max_length=255, null=True, blank=True, editable=False)
    source_run_fk = models.ForeignKey(
        Run,
        null=True,
        blank=True,
        on_delete=models.SET_NULL,
        db_column="source_run_id",
        related_name="memories",
    )

    class Meta:
        db_table = "agent_memory"
        ordering = ["-created_at"]
        verbose_name = _("run memory")
        verbose_name_plural = _("run memories")
        constraints = review_checks("agent_memory")
        indexes = [
            hidden_index("memory"),
            models.Index(fields=["project", "created_at", "id"], name="memory_project_created"),
        ]

    @property
    def heading(self) -> str:
        line = next(iter(self.summary.strip().splitlines()), "")
        return textwrap.shorten(line, 120, placeholder="…") or self.agent_name


class CacheEntry(models.Model):
    """Hot state of an agent, with a time to live."""

    project = models.ForeignKey(Project, on_delete=models.CASCADE, related_name="+")
    key = ExactTextField(max_length=255)
    value = CheckedJSON(null=True)
    expires_at = models.DateTimeField()
    updated_at = models.DateTimeField(db_default=UtcNow())

    class Meta:
        db_table = "agent_cache"
        ordering = ["id"]
        constraints = [models.UniqueConstraint(fields=["project", "key"], name="agent_cache_project_key")]
        indexes = [models.Index(fields=["expires_at"], name="agent_cache_expires")]

    def __str__(self) -> str:
        return self.key
