"""The findings of each record, kept beside it: of the text as it is now, and never a change of it."""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Iterable, Sequence
from typing import Any

from django.db import models
from django.utils import timezone

from database.columns import ExactCharField, NodeIdField, UtcNow
from records.hygiene.findings import FieldFinding, findings_by_field, secrets_by_field, without_secrets

IDS_A_QUERY = 500
Found = dict[str, list[FieldFinding]]


class RecordFinding(models.Model):
    """One code in one column of a record: what stands there first, and how often."""

    node_id = NodeIdField()
    kind = ExactCharField(max_length=24)
    project_id = models.IntegerField(null=True)
    code = ExactCharField(max_length=40)
    field = ExactCharField(max_length=64)
    excerpt = models.TextField()
    times = models.IntegerField(default=1)
    found_at = models.DateTimeField(db_default=UtcNow())

    class Meta:
        app_label = "records"
        db_table = "record_findings"
        ordering = ["id"]
        constraints = [
            models.UniqueConstraint(
                fields=["node_id", "code", "field"], name="record_findings_node_code_field"
            )
        ]
        indexes = [
            models.Index(fields=["project_id", "kind", "code", "node_id"], name="record_findings_code")
        ]

    def __str__(self) -> str:
        return f"{self.node_id} {self.code}"


def texts_of(record: Any) -> list[tuple[str, Any]]:
    """(column, value) of everything that a writer puts into words: text and JSON."""
    return [(name, value) for name in text_columns(type(record)) if (value := getattr(record, name))]


_columns: dict[Any, tuple[str, ...]] = {}


def text_columns(model: Any) -> tuple[str, ...]:
    if model not in _columns:
        _columns[model] = tuple(
            column.name
            for column in model.versioned_fields()
            if column.editable
            and not column.choices
            and isinstance(column, models.CharField | models.TextField | models.JSONField)
        )
    return _columns[model]


def look_at(record: Any, *, past_the_door: bool = False) -> list[FieldFinding]:
    """What is found in the record's text. Where it came `past_the_door` (plain SQL, a restored file): secrets, too."""
    fields = texts_of(record)
    if not past_the_door:
        return findings_by_field(fields)
    return [*findings_by_field(without_secrets(fields)), *secrets_by_field(fields)]


def keep(records: Sequence[Any], found: Found, *, new: bool = False) -> None:
    """Replace what is kept of these records by what was found now. Call inside the transaction of their write."""
    from records.kinds import kind_of  # the registry knows the models, of which this is one

    now = timezone.now()
    if not new:
        forget([record.node_id for record in records])
    rows = [
        RecordFinding(
            node_id=record.node_id,
            kind=kind_of(record).name,
            project_id=record.project_id,
            code=finding.code,
            field=finding.field,
            excerpt=finding.excerpt,
            times=finding.times,
            found_at=now,
        )
        for record in records
        for finding in found.get(record.node_id, ())
    ]
    if rows:
        RecordFinding.objects.bulk_create(rows, batch_size=IDS_A_QUERY)


def forget(node_ids: Iterable[str]) -> None:
    RecordFinding.objects.filter(node_id__in=list(node_ids)).delete()


def findings_of(node_ids: Iterable[str]) -> Found:
    """What is kept of these records, in the order in which it was found. One query."""
    found: Found = defaultdict(list)
    rows = RecordFinding.objects.filter(node_id__in=list(node_ids)).order_by("id")
    for node_id, code, field, excerpt, times in rows.values_list(
        "node_id", "code", "field", "excerpt", "times"
    ):
        found[node_id].append(FieldFinding(code, field, excerpt, times))
    return dict(found)
