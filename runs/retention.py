"""Runs and cache entries that a policy no longer keeps. Runs are kept for ever unless KEEP_RUNS_DAYS says otherwise."""

from __future__ import annotations

from datetime import datetime

from django.db.models import Exists, OuterRef, Q, QuerySet, Value
from django.db.models.functions import Concat
from django.utils import timezone

from database.transactions import transactional
from projects.models import Project
from records import marks, verbs
from records.actor import Actor
from records.acts import current_act
from records.guard import writing
from records.models import Link, RecordTag, Revision
from records.retention import Policy, add_policy, delete_oldest
from runs.kind import RUN
from runs.models import CacheEntry, Memory, Run

# A run is a row with its payload values, its history and its traces in the graph: fewer of them at a time.
RUNS_AT_ONCE = 200


def purge_runs(before: datetime, limit: int) -> int:
    """Runs that began before that, oldest first, project by project; those that somebody linked are kept."""
    limit = min(limit, RUNS_AT_ONCE)
    for project_id in [*Project.objects.values_list("pk", flat=True), None]:
        place = {"project_id": project_id} if project_id else {"project": None}
        rows = Run.objects.filter(started_at__lt=before, **place).filter(~Exists(_links()))
        keys = list(rows.order_by("started_at", "pk").values_list("pk", flat=True)[:limit])
        if keys:
            _purge(keys, before)
            return len(keys)
    return 0


def _links() -> QuerySet[Link]:
    node_id = Concat(Value(f"{RUN.prefix}_"), OuterRef("pk"))
    return Link.objects.filter(Q(source=node_id) | Q(target=node_id))


@transactional
def _purge(keys: list[str], before: datetime) -> None:
    """The rows and what they said, in the history too. That they were, and who did what to them when, stays."""
    by = Actor.command("retention")
    runs = list(Run.objects.select_for_update().filter(pk__in=keys, started_at__lt=before).order_by("pk"))
    node_ids = [run.node_id for run in runs]
    memories = list(Memory.objects.filter(source_run_fk__in=runs))
    verbs.update(
        memories,
        {"source_run_fk": None},
        actor=by,
        verb="edit",
        reason="Its run was purged.",
        merged_too=True,
    )
    with writing():
        Revision.objects.filter(node_id__in=node_ids).update(after=None)
        Revision.objects.bulk_create(
            [
                Revision(
                    node_id=run.node_id, kind=RUN.name, project_id=run.project_id, verb="purge", channel=by.channel,
                    actor_name=by.name, act=current_act(), created_at=timezone.now(), detail={"started_before": before.isoformat()},
                )
                for run in runs
            ]
        )  # fmt: skip
        Run.objects.filter(pk__in=[run.pk for run in runs]).delete()
    RecordTag.objects.filter(node_id__in=node_ids).delete()
    marks.entomb(node_ids)


add_policy(Policy("runs", "KEEP_RUNS_DAYS", purge_runs))
add_policy(
    Policy(
        "cache",
        "KEEP_CACHE_DAYS",
        lambda before, limit: delete_oldest(CacheEntry.objects.all(), "expires_at", before, limit),
    )
)
