"""Every read of pitfalls and their encounters."""

from __future__ import annotations

from collections.abc import Sequence

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


def encounters_of(pitfall: Pitfall, limit: int = 50) -> list[Encounter]:
    """When it was met, newest first."""
    return list(Encounter.objects.filter(pitfall=pitfall).order_by("-id")[:limit])
