"""When a person last looked at a project's overview, so that it can say what changed meanwhile."""

from __future__ import annotations

from django.db import models

from database.columns import UtcNow
from projects.models import Project, User


class Visit(models.Model):
    """Of one person to one project. `seen_*`: the newest history row, and the time, of the last look; `since_*`: those
    of the last look of the visit before."""

    user = models.ForeignKey(User, on_delete=models.CASCADE, related_name="+")
    project = models.ForeignKey(Project, on_delete=models.CASCADE, related_name="+")
    seen_revision = models.BigIntegerField()
    seen_at = models.DateTimeField(db_default=UtcNow())
    since_revision = models.BigIntegerField()
    since_at = models.DateTimeField(db_default=UtcNow())

    class Meta:
        db_table = "visits"
        ordering = ["id"]
        constraints = [models.UniqueConstraint(fields=["user", "project"], name="visits_user_project")]

    def __str__(self) -> str:
        return f"{self.user_id} in {self.project_id}"
