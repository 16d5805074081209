"""What all kinds share: the abstract Record, and the tables that refer to any kind by its node id."""

from __future__ import annotations

from typing import Any, ClassVar

from django.conf import settings
from django.db import models
from django.db.models import Q
from django.db.models.fields.json import KeyTransform
from django.urls import reverse
from django.utils.translation import gettext_lazy as _

from database.columns import (
    ChoiceField,
    ExactCharField,
    ExactTextField,
    NodeIdField,
    RowChangedField,
    UtcNow,
)
from projects.models import AgentToken, Project
from records.actor import Channel, SourceKind
from records.foreign_json import read_json
from records.guard import GuardedManager, GuardedModel, GuardedQuerySet
from records.hygiene.kept import RecordFinding as RecordFinding  # a table of this app
from records.leases import Lease as Lease  # a table of this app
from records.validation import check_json, check_tags, check_text


class ReviewState(models.TextChoices):
    UNREVIEWED = "unreviewed", _("unreviewed")
    APPROVED = "approved", _("approved")
    REJECTED = "rejected", _("rejected")
    QUARANTINED = "quarantined", _("quarantined")


HIDDEN_STATES = (ReviewState.REJECTED, ReviewState.QUARANTINED)
PRESENT = Q(archived_at=None, merged_into=None)
ACTIVE = PRESENT & ~Q(review_state__in=HIDDEN_STATES)


class RecordQuerySet(GuardedQuerySet):
    def active(self) -> RecordQuerySet:
        """What is shown and recalled unless asked otherwise: not archived, merged, rejected or quarantined."""
        return self.filter(ACTIVE)

    def hidden(self) -> RecordQuerySet:
        return self.exclude(ACTIVE)


RecordManager = models.Manager.from_queryset(RecordQuerySet)


class LongText(models.TextField):
    """Text of up to 1 MiB, checked before it reaches the database. NULL is the one empty value where optional."""

    default_validators = [check_text]


class CheckedJSON(models.JSONField):
    def validate(self, value: Any, model_instance: Any) -> None:
        check_json(value)  # before Django's own trial encoding, which a deep value would overflow
        super().validate(value, model_instance)

    def from_db_value(self, value: Any, expression: Any, connection: Any) -> Any:
        if not isinstance(value, str) or isinstance(expression, KeyTransform):
            return super().from_db_value(value, expression, connection)  # type: ignore[misc]
        return read_json(value)


class Record(GuardedModel):
    """One memory. Kinds add their columns; everything beyond those is nullable or has a database default."""

    # Set by the registry (records.kinds) when the kind registers itself.
    prefix: ClassVar[str] = ""
    counters: ClassVar[tuple[str, ...]] = ()
    # Of a record that a verb has just written: what it knows of it (records.arriving.Written).
    written: Any = None

    project = models.ForeignKey(
        Project, on_delete=models.PROTECT, verbose_name=_("project"), related_name="+"
    )
    tags = CheckedJSON(_("tags"), null=True, blank=True, validators=[check_tags])
    review_state = ChoiceField(_("review state"), choices=ReviewState.choices, default=ReviewState.UNREVIEWED)
    reviewed_at = models.DateTimeField(_("reviewed"), null=True, editable=False)
    reviewed_by = models.ForeignKey(
        settings.AUTH_USER_MODEL, null=True, editable=False, on_delete=models.SET_NULL, related_name="+"
    )
    source_kind = ChoiceField(_("source"), choices=SourceKind.choices, default=SourceKind.SQL, editable=False)
    source_name = ExactTextField(_("by"), max_length=255, null=True, editable=False)
    source_session = ExactTextField(_("session"), max_length=255, null=True, editable=False)
    source_run = NodeIdField(_("run"), null=True, editable=False)
    trust = models.FloatField(_("trust"), default=0.5, db_default=0.5, editable=False)
    version = models.IntegerField(default=1, db_default=1, editable=False)
    archived_at = models.DateTimeField(_("archived"), null=True, editable=False)
    merged_into = NodeIdField(null=True, editable=False)
    created_at = models.DateTimeField(_("created"), db_default=UtcNow(), editable=False)
    row_changed_at = RowChangedField(db_index=True)

    objects = RecordManager()

    class Meta:
        abstract = True

    def __str__(self) -> str:
        return f"{self.node_id} {self.heading}"

    @property
    def node_id(self) -> str:
        return f"{self.prefix}_{self.pk}"

    @property
    def heading(self) -> str:
        """The one line that names the record to a person."""
        raise NotImplementedError

    @property
    def is_active(self) -> bool:
        return (
            self.archived_at is None and self.merged_into is None and self.review_state not in HIDDEN_STATES
        )

    def get_absolute_url(self) -> str:
        return reverse("records:node", args=[self.node_id])

    @classmethod
    def versioned_fields(cls) -> list[models.Field[Any, Any]]:
        """What a revision keeps: every column but the key, the version itself, counters and the row's clock."""
        skipped = {"id", "version", "row_changed_at", *cls.counters}
        return [
            field for field in cls._meta.concrete_fields if field.name not in skipped and not field.generated
        ]


def review_checks(table: str) -> list[models.BaseConstraint]:
    """The constraints each kind's table repeats, since an abstract Meta that is extended is easy to forget."""
    return [
        models.CheckConstraint(
            condition=Q(review_state__in=ReviewState.values), name=f"{table}_review_state"
        ),
        models.CheckConstraint(condition=Q(source_kind__in=SourceKind.values), name=f"{table}_source_kind"),
        models.CheckConstraint(condition=Q(trust__gte=0, trust__lte=1), name=f"{table}_trust"),
    ]


class Revision(GuardedModel):
    """One act in a record's history. With a version: the whole after-image; without: an event beside it
    (a link, evidence, an encounter), whose facts are in `detail`. Undeletable."""

    node_id = NodeIdField()
    kind = ExactCharField(max_length=24)
    project = models.ForeignKey(Project, null=True, on_delete=models.PROTECT, related_name="+")
    version = models.IntegerField(null=True)
    verb = ExactCharField(max_length=40)
    channel = ChoiceField(choices=Channel.choices, default=Channel.COMMAND)
    user = models.ForeignKey(settings.AUTH_USER_MODEL, null=True, on_delete=models.SET_NULL, related_name="+")
    token = models.ForeignKey(AgentToken, null=True, on_delete=models.SET_NULL, related_name="+")
    actor_name = ExactTextField(max_length=255)
    session = ExactTextField(max_length=255, blank=True, default="")
    run = ExactTextField(max_length=255, blank=True, default="")
    request_id = ExactCharField(max_length=64, blank=True, default="")
    reason = models.TextField(blank=True, default="")
    after = models.JSONField(null=True)
    changed = models.JSONField(default=list)
    detail = models.JSONField(null=True)
    created_at = models.DateTimeField(db_default=UtcNow())

    objects = GuardedManager()

    class Meta:
        db_table = "revisions"
        ordering = ["-id"]
        constraints = [models.UniqueConstraint(fields=["node_id", "version"], name="revisions_node_version")]
        indexes = [
            models.Index(fields=["node_id", "id"], name="revisions_node"),
            models.Index(fields=["project", "id"], name="revisions_project"),
            models.Index(fields=["session", "id"], name="revisions_session"),
        ]

    def __str__(self) -> str:
        return f"{self.node_id} {self.verb}"


class Relation(models.TextChoices):
    """Explicit relations. SIMILAR_TO is computed and LEADS_TO is an outcome's foreign key: neither is a link."""

    CONTRADICTS = "CONTRADICTS", _("contradicts")
    SUPERSEDES = "SUPERSEDES", _("supersedes")
    RELATES_TO = "RELATES_TO", _("relates to")
    DUPLICATE_OF = "DUPLICATE_OF", _("duplicates")


class Link(GuardedModel):
    """An explicit relation between two records of one project; symmetrical ones are kept once."""

    project = models.ForeignKey(Project, on_delete=models.PROTECT, related_name="+")
    relation = ChoiceField(choices=Relation.choices)
    source = NodeIdField()
    target = NodeIdField()
    note = LongText(null=True, blank=True)
    source_kind = ChoiceField(choices=SourceKind.choices, default=SourceKind.SQL)
    source_name = ExactTextField(max_length=255, null=True)
    created_at = models.DateTimeField(db_default=UtcNow())

    objects = GuardedManager()

    class Meta:
        db_table = "links"
        ordering = ["id"]
        constraints = [
            models.UniqueConstraint(
                fields=["source", "relation", "target"], name="links_source_relation_target"
            ),
            models.CheckConstraint(condition=Q(relation__in=Relation.values), name="links_relation"),
            models.CheckConstraint(condition=~Q(source=models.F("target")), name="links_not_itself"),
        ]
        indexes = [models.Index(fields=["target", "relation", "source"], name="links_target")]

    def __str__(self) -> str:
        return f"{self.source} {self.relation} {self.target}"


class ProjectionMark(models.Model):
    """What the world should show of a record, and what the embeddings and the graph do show.

    `wanted_version` is the mark's own count: it also moves for a link, which changes no version of the record.
    `next_try_at` is NULL when there is nothing to do. A deleted record keeps its mark as a tombstone (`gone`).
    """

    node_id = NodeIdField(unique=True)
    kind = ExactCharField(max_length=24)
    project_id = models.IntegerField(null=True)
    wanted_version = models.IntegerField(default=1)
    embedded_version = models.IntegerField(default=0)
    projected_version = models.IntegerField(default=0)
    wanted_at = models.DateTimeField(db_default=UtcNow())
    gone = models.BooleanField(default=False)
    seen_digest = ExactCharField(max_length=64, blank=True, default="")
    seen_changed_at = models.DateTimeField(null=True)
    # Of the text, to find its like by; NULL: not looked at yet, empty: of a kind whose repetitions are no duplicates.
    text_hash = ExactCharField(max_length=32, null=True)
    searchable_at = models.DateTimeField(null=True)  # when the newest words and vectors were in place
    lease_token = ExactCharField(max_length=32, null=True)
    lease_until = models.DateTimeField(null=True)
    attempts = models.IntegerField(default=0)
    next_try_at = models.DateTimeField(null=True)
    dead = models.BooleanField(default=False)
    error = models.TextField(null=True)

    class Meta:
        db_table = "projection_marks"
        ordering = ["id"]
        indexes = [
            models.Index(fields=["dead", "next_try_at"], name="marks_due"),
            models.Index(fields=["kind", "id"], name="marks_kind"),
            # Those that failed before are looked for each round, among any number that did not.
            models.Index(fields=["attempts", "dead", "next_try_at"], name="marks_tried"),
            models.Index(fields=["text_hash", "project_id"], name="marks_text"),
        ]

    def __str__(self) -> str:
        return f"{self.node_id} {self.projected_version}/{self.wanted_version}"


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
