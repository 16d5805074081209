"""Every write to runs and run memories."""

from __future__ import annotations

import re
from collections.abc import Mapping, Sequence
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


def record_run(
    *, actor: Actor, project: Project | None, agent_name: str, reason: str = "", **fields: Any
) -> Run:
    rows = [{"agent_name": agent_name, **checks.only(fields, (*EDITABLE, "id"))}]
    run: Run = verbs.create(RUN, rows, actor=actor, project=project, reason=reason)[0]
    return run


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
def write_run(
    *,
    actor: Actor,
    project: Project,
    agent_name: str,
    id: str = "",
    summary: str | None = None,
    reason: str = "",
    **fields: Any,
) -> tuple[Run, str]:
    """A run, begun or as a whole, with its summary as a run memory; and what became of it.

    With an `id` it may be sent again: the same once more is "unchanged", other content is refused.
    """
    id = _hex_id(id) if id else ""
    if not id:
        run = record_run(actor=actor, project=project, agent_name=agent_name, reason=reason, **fields)
    else:
        sent = {"agent_name": agent_name, **checks.only(fields, EDITABLE)}
        kept = _run_of(project, id)
        if kept is not None:
            return _same_again(kept, sent), UNCHANGED
        try:
            run = record_run(
                actor=actor, project=project, agent_name=agent_name, reason=reason, id=id, **fields
            )
        except InvalidInput as refusal:
            kept = _run_of(project, id) if "__all__" in refusal.errors else None
            if kept is None:  # else a twin was first
                raise
            return _same_again(kept, sent), UNCHANGED
    if summary is not None:
        remember(actor=actor, project=project, agent_name=run.agent_name, summary=summary, run=run)
    return run, CREATED


def _hex_id(id: str) -> str:
    if not RUN_ID.fullmatch(id):
        raise InvalidInput({"id": [_("Must be a UUID, with or without its hyphens.")]})
    return id.replace("-", "").lower()


def _run_of(project: Project, id: str) -> Run | None:
    kept = Run.objects.select_related("project").filter(pk=id).first()
    if kept is not None and kept.project_id != project.pk:
        raise InvalidInput({"id": [_("This id cannot be used; give the run another one.")]})
    return kept


def _same_again(kept: Run, sent: Mapping[str, Any]) -> Run:
    """The run, if what is sent is what its first write said; whatever was added to it since."""
    first = Revision.objects.filter(node_id=kept.node_id, version=1).values_list("after", flat=True).first()
    image = first or image_of(kept)
    differing = sorted(
        name
        for name, value in checks.as_kept(RUN, sent).items()
        if Run._meta.get_field(name).to_python(image.get(name)) != value  # type: ignore[union-attr]
    )
    if differing:
        raise Refused(
            _("There is a run of this id already, with another %s; change it by its own address.")
            % ", ".join(differing),
            kept.node_id,
        )
    return kept


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
    """One summary of a run, found again by "have we seen this before?"."""
    if run is not None and run.project_id != (project.pk if project else None):
        raise InvalidInput({"run": [_("The run is in another project.")]})
    rows = [{"agent_name": agent_name, "summary": summary, "source_run_fk": run, "tags": tags}]
    return verbs.create(MEMORY, rows, actor=actor, project=project, reason=reason)[0]


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
