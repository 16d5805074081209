"""One act on many records: started with what is wanted, done in steps that each stand, reported record by record."""

from __future__ import annotations

import time
from collections.abc import Iterable, Mapping, Sequence
from itertools import islice
from typing import Any

from django.utils import timezone
from django.utils.translation import gettext as _

from curation.inbox.actions import VERBS, act_on_many
from curation.models import BulkJob
from database.transactions import one_unit, transactional
from projects.models import Project
from records.actor import Actor
from records.acts import new_act_id
from records.checks import checked_reason, require_reason
from records.errors import InvalidInput
from records.kinds import group_by_kind, kind_named, parse_node_id
from records.queries import records_by_node_id

MOST = 50_000
CHUNK = 500
SMALL = 200  # done at once, without a page of progress


def start_job(
    *,
    actor: Actor,
    project: Project,
    verb: str,
    wanted: Mapping[str, int | None],
    reason: str = "",
    back: str = "",
) -> BulkJob:
    """Keep what is to be done to which records; nothing is done yet. `wanted`: node id -> the version that was shown
    (None: as it is now). Raises InvalidInput."""
    reason = checked_reason(reason)
    if verb not in VERBS:
        raise InvalidInput({"verb": [_("Must be one of: %s.") % ", ".join(VERBS)]})
    if verb == "reject":
        require_reason(reason)
    if not wanted:
        raise InvalidInput({"__all__": [_("Nothing is selected.")]})
    if len(wanted) > MOST:
        raise InvalidInput({"__all__": [_("More than %s records: narrow the filter.") % f"{MOST:,}"]})
    assert actor.user is not None
    versions = versions_of([node_id for node_id, version in wanted.items() if version is None], project)
    # In the order in which rows are locked everywhere: kind by kind, key by key.
    pairs = sorted(
        (_place(node_id), [node_id, version or versions.get(node_id)]) for node_id, version in wanted.items()
    )
    return BulkJob.objects.create(
        project=project,
        user=actor.user,
        act=new_act_id(),
        verb=verb,
        reason=reason,
        back=back,
        wanted=[pair for _place_of, pair in pairs],
        started_at=timezone.now(),
    )


def job_of(project: Project, job_id: int) -> BulkJob | None:
    """With who started it."""
    job = BulkJob.objects.filter(pk=job_id, project=project).select_related("user").first()
    if job is not None:
        job.project = project
    return job


def run_job(job: BulkJob, *, actor: Actor, seconds: float) -> BulkJob:
    """Go on for about so long. The job as it is then."""
    until = time.monotonic() + seconds
    with one_unit(job.act):
        while job.finished_at is None:
            job = _step(job.pk, actor)
            if time.monotonic() >= until:
                break
    return job


@transactional
def _step(job_id: int, actor: Actor) -> BulkJob:
    """The next records and how far it is, together: what stands is never asked for again."""
    job = BulkJob.objects.select_for_update().get(pk=job_id)
    chunk = job.wanted[job.done : job.done + CHUNK]
    if chunk:
        updated, refused = _act(job, chunk, actor)
        job.updated += updated
        job.refused += refused
        job.done += len(chunk)
    if job.done >= len(job.wanted) and job.finished_at is None:
        job.finished_at = timezone.now()
    job.save(update_fields=["done", "updated", "refused", "finished_at"])
    return job


def _act(job: BulkJob, chunk: Sequence[Any], actor: Actor) -> tuple[int, list[list[str]]]:
    records = records_by_node_id([node_id for node_id, _version in chunk], [job.project_id], brief=True)
    refused = [
        [node_id, _("It is not there any more.")] for node_id, _version in chunk if node_id not in records
    ]
    versions = {node_id: version for node_id, version in chunk if version is not None}
    there = list(records.values())
    outcome = act_on_many(there, job.verb, actor=actor, reason=job.reason, expected_versions=versions)
    refused += [[record.node_id, _("It was so already.")] for record in outcome.unchanged]
    refused += [[node_id, str(error)] for node_id, error in outcome.refused]
    return len(outcome.updated), refused


def versions_of(node_ids: Iterable[str], project: Project) -> dict[str, int]:
    """Of those in the project; one query a kind and some hundred records."""
    found: dict[str, int] = {}
    for name, keys in group_by_kind(node_ids).items():
        kind, left = kind_named(name), iter(keys)
        while some := list(islice(left, CHUNK)):
            rows = kind.model._default_manager.filter(project=project, pk__in=some).order_by()
            found |= {kind.node_id(key): version for key, version in rows.values_list("pk", "version")}
    return found


def _place(node_id: str) -> tuple[str, int, str]:
    parsed = parse_node_id(node_id)
    if parsed is None:
        return "", 0, node_id
    kind, key = parsed
    return (kind.name, key, "") if kind.integer_key else (kind.name, 0, key)
