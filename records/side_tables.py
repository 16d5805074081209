"""What is kept beside records, by their node ids: what they ask of people, their tags, who read them, what is left of
the erased; and what the doors and the sweep remember. All of it is imported from records.models."""

from django.conf import settings
from django.db import models
from django.db.models import Q
from django.utils.translation import gettext_lazy as _

from database.columns import ExactCharField, ExactTextField, NodeIdField, UtcNow
from projects.models import AgentToken, Project
from records.guard import GuardedManager


class Attention(models.Model):
    """What a record asks of people, kept beside it so that a queue of any length is one index range.

    `standing` is `waiting` (present, unreviewed or quarantined), `settled` (active and approved) or `hidden`;
    `risk` 0 to 100 orders what waits, with its causes in `why` (-1: settled and past, superseded for one); `touched_at` is when somebody last wrote, confirmed,
    used or read it: what is stale is settled and untouched. Derived: always computable from the record again.
    """

    class Standing(models.TextChoices):
        WAITING = "waiting", _("waiting")
        SETTLED = "settled", _("settled")
        HIDDEN = "hidden", _("hidden")

    node_id = NodeIdField(unique=True)
    kind = ExactCharField(max_length=24)
    project_id = models.IntegerField(null=True)
    standing = ExactCharField(max_length=24, choices=Standing.choices)
    risk = models.IntegerField(default=0)
    why = models.JSONField(default=list)
    arrived_at = models.DateTimeField()
    touched_at = models.DateTimeField()
    read_count = models.IntegerField(default=0)
    last_read_at = models.DateTimeField(null=True)

    class Meta:
        db_table = "attention"
        ordering = ["id"]
        constraints = [
            models.CheckConstraint(
                condition=Q(standing__in=["waiting", "settled", "hidden"]), name="attention_standing"
            )
        ]
        indexes = [
            models.Index(fields=["project_id", "standing", "risk", "id"], name="attention_risk"),
            models.Index(fields=["project_id", "standing", "arrived_at", "id"], name="attention_arrived"),
            models.Index(fields=["project_id", "standing", "touched_at", "id"], name="attention_touched"),
        ]

    def __str__(self) -> str:
        return f"{self.node_id} {self.standing}"


class Erasure(models.Model):
    """What is left of a record whose text was erased for good: who did it, when and why. Undeletable."""

    node_id = NodeIdField(unique=True)
    kind = ExactCharField(max_length=24)
    project = models.ForeignKey(Project, null=True, on_delete=models.PROTECT, related_name="+")
    user = models.ForeignKey(settings.AUTH_USER_MODEL, null=True, on_delete=models.SET_NULL, related_name="+")
    actor_name = ExactTextField(max_length=255)
    reason = models.TextField()
    erased_at = models.DateTimeField(db_default=UtcNow())

    objects = GuardedManager()

    class Meta:
        db_table = "erasures"
        ordering = ["-id"]

    def __str__(self) -> str:
        return f"{self.node_id} erased"


class RecordTag(models.Model):
    """A mirror of the `tags` columns that an index can answer."""

    project_id = models.IntegerField(null=True)
    node_id = NodeIdField()
    kind = ExactCharField(max_length=24)
    tag = ExactTextField(max_length=100)

    class Meta:
        db_table = "record_tags"
        ordering = ["id"]
        constraints = [models.UniqueConstraint(fields=["node_id", "tag"], name="record_tags_node_tag")]
        indexes = [models.Index(fields=["project_id", "kind", "tag", "node_id"], name="record_tags_tag")]

    def __str__(self) -> str:
        return f"{self.node_id} #{self.tag}"


class Read(models.Model):
    """A record answered to an agent: what it later acted on, when a bad memory must be traced."""

    node_id = NodeIdField()
    project_id = models.IntegerField(null=True)
    token = models.ForeignKey(AgentToken, null=True, on_delete=models.SET_NULL, related_name="+")
    agent_name = ExactTextField(max_length=255)
    session = ExactTextField(max_length=255, blank=True, default="")
    run = ExactTextField(max_length=255, blank=True, default="")
    door = ExactCharField(max_length=40)
    request_id = ExactCharField(max_length=64, blank=True, default="")
    read_at = models.DateTimeField(db_default=UtcNow())

    class Meta:
        db_table = "reads"
        ordering = ["-id"]
        indexes = [
            models.Index(fields=["node_id", "read_at"], name="reads_node"),
            models.Index(fields=["read_at"], name="reads_time"),
            models.Index(fields=["project_id", "read_at"], name="reads_project"),
            models.Index(fields=["run"], name="reads_run"),
        ]

    def __str__(self) -> str:
        return f"{self.agent_name} read {self.node_id}"


class IdempotencyKey(models.Model):
    """The first answer to a token's keyed write, kept in the write's own transaction."""

    token = models.ForeignKey(AgentToken, on_delete=models.CASCADE, related_name="+")
    key_digest = ExactCharField(max_length=64)
    request_digest = ExactCharField(max_length=64)
    status = models.IntegerField(null=True)
    answer = models.JSONField(null=True)
    headers = models.JSONField(null=True)
    created_at = models.DateTimeField(db_default=UtcNow())

    class Meta:
        db_table = "idempotency_keys"
        ordering = ["id"]
        constraints = [models.UniqueConstraint(fields=["token", "key_digest"], name="idempotency_token_key")]
        indexes = [models.Index(fields=["created_at"], name="idempotency_created")]

    def __str__(self) -> str:
        return self.key_digest[:12]


class SweepWatermark(models.Model):
    """How far the sweep has read each table of plain-SQL writers."""

    kind = ExactCharField(max_length=24, unique=True)
    read_to = models.DateTimeField(null=True)
    missing_checked_at = models.DateTimeField(null=True)

    class Meta:
        db_table = "sweep_watermarks"
        ordering = ["kind"]

    def __str__(self) -> str:
        return self.kind
