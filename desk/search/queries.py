"""What the project really has, for the completion of the search box."""

from __future__ import annotations

from typing import Any

from django.db.models import IntegerField, QuerySet
from django.db.models.functions import Cast, Substr

from projects.models import Project
from records.kinds import Kind
from records.models import RecordTag

SHOWN = 12


def tags_beginning(kind: Kind, typed: str, project: Project) -> QuerySet[Any, Any] | list[str]:
    """Of active memories alone: what a quarantined one brought is offered to nobody."""
    if "tags" not in {field.name for field in kind.model._meta.concrete_fields}:
        return []
    key = Substr("node_id", len(kind.prefix) + 2)
    tags = RecordTag.objects.filter(project_id=project.pk, kind=kind.name, tag__startswith=typed)
    tags = tags.annotate(key=Cast(key, IntegerField()) if kind.integer_key else key)
    active = kind.model.objects.active().filter(project=project)
    tags = tags.filter(key__in=active.values("pk"))
    return tags.order_by("tag").values_list("tag", flat=True).distinct()[:SHOWN]


def values_beginning(model: Any, column: str, typed: str, project: Project) -> QuerySet[Any, Any] | list[str]:
    """Of one column of a kind's active memories; none where the kind has no such column."""
    if column not in {field.name for field in model._meta.concrete_fields}:
        return []
    rows = model.objects.active().filter(project=project, **{f"{column}__startswith": typed})
    return rows.exclude(**{column: ""}).order_by(column).values_list(column, flat=True).distinct()[:SHOWN]
