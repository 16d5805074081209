"""A look at the overview moves the visit that it belongs to."""

from __future__ import annotations

from datetime import datetime

from django.db.models import F

from desk.home.models import Visit
from desk.home.queries import SAME_VISIT, Since, first_look, since_last_visit
from projects.models import Project, User


def arrive(user: User, project: Project, newest: int, now: datetime) -> Since:
    """Somebody looks at the overview: since when things are new to them. A look after a pause begins a new visit."""
    own = Visit.objects.filter(user=user, project=project)
    looked = {"seen_revision": newest, "seen_at": now}
    begun = own.filter(seen_at__lt=now - SAME_VISIT)
    # In this order: MySQL gives a column its new value before it reads it for the next one.
    if not begun.update(
        since_revision=F("seen_revision"), since_at=F("seen_at"), **looked
    ) and not own.update(**looked):
        first = first_look(project, newest, now)
        row = Visit(user=user, project=project, since_revision=first.revision, since_at=first.at, **looked)
        Visit.objects.bulk_create([row], ignore_conflicts=True)  # two looks at once
        return first
    return since_last_visit(user, project, newest, now)
