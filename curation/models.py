"""What the curation desk keeps beside the records: pairs that it suggests, and filters that people keep."""

from django.conf import settings
from django.db import models
from django.db.models import Q
from django.utils.translation import gettext_lazy as _

from database.columns import ChoiceField, ExactCharField, NodeIdField, UtcNow
from projects.models import Project


class Sort(models.TextChoices):
    DUPLICATE = "duplicate", _("likely duplicates")
    CONFLICT = "conflict", _("may contradict")


class Verdict(models.TextChoices):
    DUPLICATES = "duplicates", _("duplicates")
    CONTRADICTS = "contradicts", _("contradicts")
    SUPERSEDES = "supersedes", _("supersedes")
    UNRELATED = "unrelated", _("unrelated")


class SuggestedPair(models.Model):
    """Two records that a person should look at side by side, kept once (`first` < `second`).

    The worker keeps the suggestion; a verdict stays for ever, so that the pair is not suggested again.
    `is_open`: no verdict, and both ends active when they were last looked at.
    """

    project = models.ForeignKey(Project, on_delete=models.PROTECT, related_name="+")
    sort = ChoiceField(choices=Sort.choices)
    kind = ExactCharField(max_length=24)
    first = NodeIdField()
    second = NodeIdField()
    score = models.FloatField()
    cosine = models.FloatField(null=True)
    words = models.FloatField(null=True)
    why = models.JSONField(default=list)
    is_open = models.BooleanField(default=True)
    verdict = ExactCharField(max_length=24, choices=Verdict.choices, null=True)
    settled_by = models.ForeignKey(
        settings.AUTH_USER_MODEL, null=True, on_delete=models.SET_NULL, related_name="+"
    )
    settled_at = models.DateTimeField(null=True)
    suggested_at = models.DateTimeField(db_default=UtcNow())

    class Meta:
        db_table = "suggested_pairs"
        ordering = ["-score", "id"]
        constraints = [
            models.UniqueConstraint(fields=["first", "second", "sort"], name="suggested_pairs_ends"),
            models.CheckConstraint(condition=Q(sort__in=Sort.values), name="suggested_pairs_sort"),
            models.CheckConstraint(
                condition=Q(verdict=None) | Q(verdict__in=Verdict.values), name="suggested_pairs_verdict"
            ),
            models.CheckConstraint(condition=~Q(first=models.F("second")), name="suggested_pairs_two"),
        ]
        indexes = [
            models.Index(fields=["project", "sort", "is_open", "score", "id"], name="suggested_pairs_queue"),
            models.Index(fields=["second", "first"], name="suggested_pairs_second"),
        ]

    def __str__(self) -> str:
        return f"{self.first} {self.sort} {self.second}"


class BulkJob(models.Model):
    """One act on many records, done in steps that each stand: what is wanted, how far it is, and what could not be.

    `wanted` is [node id, version] of each, `refused` [node id, why]; `act` is the id of the act in the history. It holds
    no text of a record.
    """

    project = models.ForeignKey(Project, on_delete=models.CASCADE, related_name="+")
    user = models.ForeignKey(settings.AUTH_USER_MODEL, on_delete=models.CASCADE, related_name="+")
    act = ExactCharField(max_length=32, unique=True)
    verb = ExactCharField(max_length=24)
    reason = models.TextField(blank=True, default="")
    back = models.TextField(blank=True, default="")
    wanted = models.JSONField(default=list)
    done = models.IntegerField(default=0)
    updated = models.IntegerField(default=0)
    refused = models.JSONField(default=list)
    started_at = models.DateTimeField(db_default=UtcNow())
    finished_at = models.DateTimeField(null=True)

    class Meta:
        db_table = "bulk_jobs"
        ordering = ["-id"]

    def __str__(self) -> str:
        return f"{self.verb} {self.done}/{len(self.wanted)}"


class SavedFilter(models.Model):
    """A line of filters that a person keeps, of one page: in the rail, as a feed, in the daily digest.

    `page` is the URL name of the page, `query` its query string. The feed's address holds a secret; only its digest
    is kept.
    """

    project = models.ForeignKey(Project, on_delete=models.CASCADE, related_name="+")
    user = models.ForeignKey(settings.AUTH_USER_MODEL, on_delete=models.CASCADE, related_name="saved_filters")
    name = models.CharField(_("name"), max_length=100)
    page = ExactCharField(max_length=100)
    query = models.TextField(_("filter"), blank=True, default="")
    in_digest = models.BooleanField(_("in the daily digest"), default=False)
    feed_digest = ExactCharField(max_length=64, null=True, unique=True)
    created_at = models.DateTimeField(db_default=UtcNow())

    class Meta:
        db_table = "saved_filters"
        ordering = ["name", "id"]
        verbose_name = _("saved filter")
        verbose_name_plural = _("saved filters")
        constraints = [models.UniqueConstraint(fields=["user", "project", "name"], name="saved_filters_name")]

    def __str__(self) -> str:
        return self.name
