"""Asking the projection again, by a person: for records that were given up, and for any that look wrong."""

from __future__ import annotations

from collections.abc import Iterable

from django.db.models import Q
from django.utils import timezone

from database.transactions import transactional
from projects.access import Capability
from records import marks
from records.actor import Actor
from records.acts import current_act
from records.checks import checked_reason
from records.guard import writing
from records.models import ProjectionMark, Revision

CHUNK = 500


def retry_dead(*, actor: Actor, node_ids: Iterable[str] | None = None, reason: str = "") -> int:
    """Try again what was given up: these, or all in the projects that the actor manages. How many were.

    One that is not given up any more is left alone.
    """
    reason = checked_reason(reason)
    dead = ProjectionMark.objects.filter(managed_by(actor), dead=True)
    if node_ids is not None:
        dead = dead.filter(node_id__in=list(node_ids))
    asked, after = 0, 0
    while keys := list(dead.filter(pk__gt=after).order_by("pk").values_list("pk", flat=True)[:CHUNK]):
        after = keys[-1]
        asked += _ask(Q(pk__in=keys, dead=True), actor, "retry_projection", reason)
    return asked


def project_again(node_id: str, *, actor: Actor, reason: str = "") -> bool:
    """Embed and show it anew, whatever the mark says. False where there is no such record in the actor's projects."""
    reason = checked_reason(reason)
    return bool(_ask(managed_by(actor) & Q(node_id=node_id), actor, "project_again", reason))


def managed_by(actor: Actor) -> Q:
    """The marks of the projects that the actor manages; of none, too, for an operator."""
    access = actor.access
    return Q() if access.everywhere else Q(project_id__in=access.project_ids(Capability.MANAGE))


@transactional
def _ask(wanted: Q, actor: Actor, verb: str, reason: str) -> int:
    found = list(ProjectionMark.objects.select_for_update().filter(wanted).order_by("pk"))
    marks.want_again([mark.node_id for mark in found])
    now = timezone.now()
    with writing():
        Revision.objects.bulk_create(
            [
                Revision(
                    node_id=mark.node_id, kind=mark.kind, project_id=mark.project_id, verb=verb, channel=actor.channel,
                    user=actor.user, token=actor.token, actor_name=actor.name, request_id=actor.request_id,
                    act=current_act(), reason=reason, detail={"error": mark.error} if mark.error else {}, created_at=now,
                )
                for mark in found
            ]
        )  # fmt: skip
    return len(found)
