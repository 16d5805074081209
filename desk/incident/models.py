"""The alerts that people pasted, kept for some days so that an address can be passed on."""

from django.conf import settings
from django.db import models

from database.columns import ExactCharField, ExactTextField, UtcNow
from projects.models import Project
from records.models import LongText


class Alert(models.Model):
    """One pasted alert, without its secrets. The same text asked again in a project is the same row, kept anew.

    `key` is its name in an address; `digest` of agent and text; `secrets` the kinds of secrets that were taken out.
    """

    key = ExactCharField(max_length=16, unique=True)
    project = models.ForeignKey(Project, on_delete=models.CASCADE, related_name="+")
    digest = ExactCharField(max_length=64)
    text = LongText()
    agent = ExactTextField(max_length=255, blank=True, default="")
    secrets = models.JSONField(default=list)
    asked_by = models.ForeignKey(
        settings.AUTH_USER_MODEL, null=True, on_delete=models.SET_NULL, related_name="+"
    )
    asked_at = models.DateTimeField(db_default=UtcNow())

    class Meta:
        db_table = "incident_alerts"
        ordering = ["-id"]
        constraints = [
            models.UniqueConstraint(fields=["project", "digest"], name="incident_alerts_project_digest")
        ]
        indexes = [
            models.Index(fields=["asked_at"], name="incident_alerts_asked"),
            models.Index(fields=["project", "asked_at", "id"], name="incident_alerts_project"),
        ]

    def __str__(self) -> str:
        return self.key
