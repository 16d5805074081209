"""Every read of patterns; their evidence is read in patterns.evidence."""

from __future__ import annotations

from collections.abc import Collection

from django.db.models import QuerySet

from patterns.models import Pattern

TRUSTED = 0.80


def patterns_above(project_id: int, confidence: float, usage: int = 0) -> QuerySet[Pattern]:
    """Active patterns of at least this confidence and use, most used first."""
    return (
        Pattern.objects.active()
        .filter(project_id=project_id, confidence_score__gte=confidence, usage_count__gte=usage)
        .order_by("-usage_count", "-confidence_score", "-id")
    )


def trusted_patterns(project_id: int, categories: Collection[str], limit: int) -> list[Pattern]:
    """Of these categories those of a confidence that an agent may rely on, the most used first."""
    return list(patterns_above(project_id, TRUSTED).filter(category__in=categories)[:limit])
