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
from records.side_tables import Attention as Attention
from records.side_tables import Erasure as Erasure
from records.side_tables import IdempotencyKey as IdempotencyKey
from records.side_tables import Read as Read
from records.side_tables import RecordTag as RecordTag
from records.side_tables import SweepWatermark as SweepWatermark
from records.validation import check_json, check_tags, check_text


class ReviewState(models.TextChoices):
    UNREVIEWED = "unreviewed", _("unreviewed")
    APPROVED = "approved", _("approved")
    REJECTED = "rejected", _("rejected")
    QUARANTINED = "quarantined", _("quarantined")


HIDDEN_STATES = (ReviewState.REJECTED, ReviewState.QUARANTINED)
PRESENT = Q(archived_at=None, merged_into=None)
ACTIVE = PRESENT & ~Q(review_state__in=HIDDEN_STATES)
# The same turned round, as ranges of `hidden_index`: where little is hidden, little is read to count it.
ABSENT = Q(archived_at__isnull=False) | Q(archived_at=None, merged_into__isnull=False)
HIDDEN = ABSENT | (PRESENT & Q(review_state__in=HIDDEN_STATES))


class RecordQuerySet(GuardedQuerySet):
    def active(self) -> RecordQuerySet:
        """What is shown and recalled unless asked otherwise: not archived, merged, rejected or quarantined."""
        return self.filter(ACTIVE)

    def hidden(self) -> RecordQuerySet:
        return self.filter(HIDDEN)


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
    # Whether its text was erased for good; known of a record that a verb has locked.
    erased: bool = False

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


def hidden_index(prefix: str) -> models.Index:
    """Each kind's table repeats it, too: what `hidden` reads."""
    return models.Index(
        fields=["project", "archived_at", "merged_into", "review_state"], name=f"{prefix}_hidden"
    )


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
    # One act's rows have one id, however many records it touched; NULL before acts had ids.
    act = ExactCharField(max_length=32, null=True)
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
            # Any mix of the history's filters is answered within this one, without a look at a row.
            models.Index(
                fields=[
                    "project",
                    "id",
                    "act",
                    "channel",
                    "kind",
                    "verb",
                    "token",
                    "actor_name",
                    "created_at",
                ],
                name="revisions_filters",
            ),
            models.Index(fields=["project", "created_at", "id"], name="revisions_time"),
            # One sort of act by time: a time line reads each from its own index range.
            models.Index(fields=["project", "verb", "created_at", "id"], name="revisions_verb"),
            models.Index(fields=["session", "id"], name="revisions_session"),
            models.Index(fields=["run", "id"], name="revisions_run"),
            # An act is counted by verb and record within its index.
            models.Index(fields=["act", "id", "project", "verb", "node_id"], name="revisions_act"),
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
    # The row is there without its text (records.erasing): to the worker it is gone, to the sweep it is known.
    erased = models.BooleanField(default=False, db_default=False)
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
            # Beside what is due, since when and of which project: each page asks while thousands wait.
            models.Index(fields=["dead", "next_try_at", "wanted_at", "project_id"], name="marks_due"),
            models.Index(fields=["kind", "id"], name="marks_kind"),
            # Those that failed before are looked for each round, among any number that did not.
            models.Index(fields=["attempts", "dead", "next_try_at"], name="marks_tried"),
            models.Index(fields=["text_hash", "project_id"], name="marks_text"),
        ]

    def __str__(self) -> str:
        return f"{self.node_id} {self.projected_version}/{self.wanted_version}"
