"""Every write to runs and run memories."""

from __future__ import annotations

import re
from collections.abc import Iterable, Mapping, Sequence
from datetime import timedelta
from typing import Any

from django.core.exceptions import ValidationError
from django.utils import timezone
from django.utils.translation import gettext as _

from database.transactions import transactional
from projects.access import Capability
from projects.models import Project
from records import checks, verbs
from records.actor import Actor
from records.checks import Reason
from records.errors import InvalidInput, Refused, TooLarge
from records.hygiene.secrets import redact, redact_json
from records.images import image_of
from records.models import Revision
from records.validation import check_json
from runs.kind import MEMORY, RUN
from runs.models import CacheEntry, Memory, Run, RunStatus

EDITABLE = RUN.editable
FINISHED = ("ended_at", "outcome", "token_cost", "escalated_to_human", "confidence", "tags")
MEMORY_EDITABLE = MEMORY.editable
ENDED = tuple(str(status) for status in RunStatus if status != RunStatus.RUNNING)
RUN_ID = re.compile(r"[0-9a-f]{32}|[0-9a-f]{8}(?:-[0-9a-f]{4}){3}-[0-9a-f]{12}", re.ASCII | re.IGNORECASE)
CACHE_TTL, CACHE_TTL_MOST = 24 * 3600, 72 * 3600  # seconds
CREATED, UNCHANGED = "created", "unchanged"


def record_runs(
    *, actor: Actor, project: Project | None, rows: Sequence[Mapping[str, Any]], reason: Reason = ""
) -> list[Run]:
    """Each row with its `agent_name`, and perhaps an `id`."""
    prepared = [checks.only(row, ("id", "agent_name", *EDITABLE)) for row in rows]
    return verbs.create(RUN, prepared, actor=actor, project=project, reason=reason)


def record_run(
    *, actor: Actor, project: Project | None, agent_name: str, reason: str = "", **fields: Any
) -> Run:
    rows = [{**fields, "agent_name": agent_name}]
    return record_runs(actor=actor, project=project, rows=rows, reason=reason)[0]


def edit_run(
    *,
    actor: Actor,
    run: Run,
    changes: Mapping[str, Any],
    reason: str = "",
    expected_version: int | None = None,
) -> Run:
    changes = checks.only(changes, EDITABLE, run.node_id)
    return verbs.update([run], changes, actor=actor, reason=reason, expected_version=expected_version).record


@transactional
def write_runs(
    *, actor: Actor, project: Project, rows: Sequence[Mapping[str, Any]], reason: Reason = ""
) -> list[tuple[Run, str]]:
    """Runs, begun or as a whole, each with its `summary` as a run memory; and what became of each.

    With an `id` (each another) a run may be sent again: the same once more is "unchanged", other content is refused.
    """
    sent = [{name: value for name, value in row.items() if name not in ("id", "summary")} for row in rows]
    ids = [hex_id(row["id"]) if row.get("id") else "" for row in rows]
    for run, id in zip(sent, ids, strict=True):
        if id:
            run["id"] = id
    reasons = checks.each_reason(reason, len(rows))
    kept = _runs_of(project, ids)
    while True:
        _refuse_other_content(kept, sent)
        new = [place for place, id in enumerate(ids) if id not in kept]
        try:
            made = record_runs(
                actor=actor,
                project=project,
                rows=[sent[place] for place in new],
                reason=[reasons[place] for place in new],
            )
            break
        except InvalidInput as refusal:
            known = len(kept)
            if "__all__" in refusal.errors:
                kept = _runs_of(project, ids)
            if len(kept) == known:  # else a twin was first
                raise
    created = dict(zip(new, made, strict=True))
    remember_all(
        actor=actor,
        project=project,
        rows=[
            {"agent_name": run.agent_name, "summary": rows[place]["summary"], "run": run}
            for place, run in created.items()
            if rows[place].get("summary") is not None
        ],
    )
    return [
        (created[place], CREATED) if place in created else (kept[id], UNCHANGED)
        for place, id in enumerate(ids)
    ]


def hex_id(id: str) -> str:
    """A run's id as it is kept, of how a UUID may be written. Raises InvalidInput."""
    if not RUN_ID.fullmatch(id):
        raise InvalidInput({"id": [_("Must be a UUID, with or without its hyphens.")]})
    return id.replace("-", "").lower()


def _runs_of(project: Project, ids: Iterable[str]) -> dict[str, Run]:
    """Those of these ids that are there, by id."""
    asked = list(filter(None, ids))
    rows = Run.objects.select_related("project").filter(pk__in=asked) if asked else ()
    kept = {run.pk: run for run in rows}
    if any(run.project_id != project.pk for run in kept.values()):
        raise InvalidInput({"id": [_("This id cannot be used; give the run another one.")]})
    return kept


def _refuse_other_content(kept: Mapping[str, Run], sent: Iterable[Mapping[str, Any]]) -> None:
    """Whoever sends a run again sends what its first write said; whatever was added to it since."""
    if not kept:
        return
    firsts = Revision.objects.filter(node_id__in=[run.node_id for run in kept.values()], version=1)
    images = dict(firsts.order_by().values_list("node_id", "after"))
    for row in sent:
        run = kept.get(row.get("id", ""))
        if run is None:
            continue
        image = images.get(run.node_id) or image_of(run)
        differing = sorted(
            name
            for name, value in checks.as_kept(RUN, row).items()
            if name != "id" and Run._meta.get_field(name).to_python(image.get(name)) != value  # type: ignore[union-attr]
        )
        if differing:
            raise Refused(
                _("There is a run of this id already, with another %s; change it by its own address.")
                % ", ".join(differing),
                run.node_id,
            )


def append_tool_calls(
    *, actor: Actor, run: Run, calls: Sequence[Mapping[str, Any]], **options: Any
) -> verbs.Outcome:
    """Add calls after those that are there, under the row's lock: of two at once none is lost."""
    added = [dict(call) for call in calls]
    return verbs.update(
        [run],
        lambda locked: {"tool_calls": [*_calls_in(locked), *added]},
        actor=actor,
        verb="append_tool_calls",
        **options,
    )


def _calls_in(run: Run) -> list[Any]:
    """Plain SQL may have written one call without its list."""
    if run.tool_calls is None:
        return []
    return list(run.tool_calls) if isinstance(run.tool_calls, list) else [run.tool_calls]


@transactional
def finish_run(
    *,
    actor: Actor,
    run: Run,
    status: str,
    summary: str | None = None,
    reason: str = "",
    expected_version: int | None = None,
    **fields: Any,
) -> verbs.Outcome:
    """How a run ended: status, outcome, cost; its summary as a run memory. Sent again, it changes nothing."""
    if status not in ENDED:
        raise InvalidInput({"status": [_("Must be one of: %s.") % ", ".join(ENDED)]}, run.node_id)
    given = checks.only(fields, FINISHED, run.node_id)

    def changes(locked: Run) -> dict[str, Any]:
        if locked.status != RunStatus.RUNNING and locked.status != status:
            raise Refused(
                _("This run has ended as %s already; change it by its own address.") % locked.status,
                locked.node_id,
            )
        ended = locked.ended_at or timezone.now()
        return {"status": status, "ended_at": ended, **given}

    outcome = verbs.update(
        [run], changes, actor=actor, verb="finish", reason=reason, expected_version=expected_version
    )
    finished = outcome.record
    if summary is not None and not _is_remembered(finished, summary):
        remember(
            actor=actor,
            project=finished.project,
            agent_name=finished.agent_name,
            summary=summary,
            run=finished,
        )
        outcome.updated, outcome.unchanged = [finished], []
    return outcome


def _is_remembered(run: Run, summary: str) -> bool:
    kept = redact(summary)[0]
    return any(memory.summary == kept for memory in Memory.objects.filter(source_run_fk=run))


def remember_all(
    *, actor: Actor, project: Project | None, rows: Sequence[Mapping[str, Any]], reason: Reason = ""
) -> list[Memory]:
    """Summaries of runs, found again by "have we seen this before?": each row with `agent_name`, `summary` and, perhaps,
    the `run` and `tags`."""
    if any(row["run"].project_id != (project.pk if project else None) for row in rows if row.get("run")):
        raise InvalidInput({"run": [_("The run is in another project.")]})
    prepared = [
        {
            "agent_name": row["agent_name"],
            "summary": row["summary"],
            "source_run_fk": row.get("run"),
            "tags": row.get("tags"),
        }
        for row in rows
    ]
    return verbs.create(MEMORY, prepared, actor=actor, project=project, reason=reason)


def remember(
    *,
    actor: Actor,
    project: Project | None,
    agent_name: str,
    summary: str,
    run: Run | None = None,
    tags: Sequence[str] | None = None,
    reason: str = "",
) -> Memory:
    rows = [{"agent_name": agent_name, "summary": summary, "run": run, "tags": tags}]
    return remember_all(actor=actor, project=project, rows=rows, reason=reason)[0]


def edit_memory(
    *,
    actor: Actor,
    memory: Memory,
    changes: Mapping[str, Any],
    reason: str = "",
    expected_version: int | None = None,
) -> Memory:
    changes = checks.only(changes, MEMORY_EDITABLE, memory.node_id)
    return verbs.update(
        [memory], changes, actor=actor, reason=reason, expected_version=expected_version
    ).record


@transactional
def set_cache(
    *, actor: Actor, project: Project, key: str, value: Any, ttl: int = CACHE_TTL
) -> tuple[CacheEntry, str]:
    """Keep a value for `ttl` seconds from now (at most CACHE_TTL_MOST); and whether it is new or replaces another."""
    actor.require(project.pk, Capability.WRITE)
    if not 1 <= ttl <= CACHE_TTL_MOST:
        raise InvalidInput({"ttl": [_("Must be 1 to %s seconds (72 hours).") % f"{CACHE_TTL_MOST:,}"]})
    now = timezone.now()
    entry = CacheEntry(
        project=project,
        key=key,
        value=redact_json(value)[0],
        expires_at=now + timedelta(seconds=ttl),
        updated_at=now,
    )
    checks.validate(entry, ["key"])
    _check_value(entry.value)
    before = CacheEntry.objects.filter(project=project, key=key).values_list("expires_at", flat=True).first()
    kept, _made = CacheEntry.objects.update_or_create(
        project=project,
        key=key,
        defaults={"value": entry.value, "expires_at": entry.expires_at, "updated_at": now},
    )
    return kept, CREATED if before is None or before <= now else "updated"


def _check_value(value: Any) -> None:
    """By hand, as Django takes an empty list or text for no value at all."""
    try:
        check_json(value)
    except ValidationError as error:
        raise (TooLarge if error.code == "too_large" else InvalidInput)({"value": error.messages}) from error


def delete_cache(*, actor: Actor, entry: CacheEntry) -> None:
    actor.require(entry.project_id, Capability.WRITE)
    CacheEntry.objects.filter(pk=entry.pk).delete()
