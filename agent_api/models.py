"""What the MCP door offers, and how often each token used it."""

from django.db import models
from django.db.models import Q
from django.utils.translation import gettext_lazy as _

from database.columns import ChoiceField, ExactCharField, UtcNow
from projects.models import AgentToken


class EntryKind(models.TextChoices):
    TOOL = "tool", _("tool")
    RESOURCE = "resource", _("resource")


class CatalogueEntry(models.Model):
    """A tool or a resource. Kept to what the code offers by `agent_api.actions.sync_catalogue`, after each migrate."""

    kind = ChoiceField(choices=EntryKind.choices)
    name = ExactCharField(max_length=64)
    title = models.CharField(max_length=100)
    description = models.TextField()
    is_write = models.BooleanField(default=False)
    is_offered = models.BooleanField(default=True)

    class Meta:
        db_table = "mcp_catalogue"
        ordering = ["kind", "id"]
        constraints = [
            models.UniqueConstraint(fields=["kind", "name"], name="mcp_catalogue_kind_name"),
            models.CheckConstraint(condition=Q(kind__in=EntryKind.values), name="mcp_catalogue_kind"),
        ]

    def __str__(self) -> str:
        return self.name


class CatalogueUse(models.Model):
    """How often a token called an entry, and how often it was refused or failed."""

    entry = models.ForeignKey(CatalogueEntry, on_delete=models.CASCADE, related_name="uses")
    token = models.ForeignKey(AgentToken, on_delete=models.CASCADE, related_name="+")
    calls = models.PositiveIntegerField(default=0)
    errors = models.PositiveIntegerField(default=0)
    last_at = models.DateTimeField(db_default=UtcNow())

    class Meta:
        db_table = "mcp_catalogue_uses"
        ordering = ["id"]
        constraints = [
            models.UniqueConstraint(fields=["token", "entry"], name="mcp_catalogue_uses_token_entry")
        ]

    def __str__(self) -> str:
        return f"{self.entry_id} {self.calls}"
