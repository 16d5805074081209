"""Every read of pitfalls and their encounters."""

from __future__ import annotations

from collections.abc import Collection, Sequence

from django.db.models import QuerySet

from pitfalls.models import Encounter, Pitfall, Severity


def pitfalls_before_implementing(
    project_id: int, category: str, severities: Sequence[str] = (Severity.CRITICAL, Severity.HIGH)
) -> QuerySet[Pitfall]:
    """Active pitfalls of a category at these severities, most often met first."""
    return (
        Pitfall.objects.active()
        .filter(project_id=project_id, category=category, severity__in=severities)
        .order_by("-encountered_count", "-id")
    )


def severe_pitfalls(project_id: int, categories: Collection[str], limit: int) -> list[Pitfall]:
    """The critical and high ones of these categories, critical first, then the most often met."""
    found: list[Pitfall] = []
    for severity in (Severity.CRITICAL, Severity.HIGH):
        rows = Pitfall.objects.active().filter(
            project_id=project_id, category__in=categories, severity=severity
        )
        found += rows.order_by("-encountered_count", "-id")[: limit - len(found)]
    return found


def encounters_of(pitfall: Pitfall, limit: int = 50) -> list[Encounter]:
    """When it was met, newest first."""
    return list(Encounter.objects.filter(pitfall=pitfall).order_by("-id")[:limit])
