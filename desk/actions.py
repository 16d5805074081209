"""Writes across kinds: relations between any two records."""

from __future__ import annotations

from typing import Any

from django.utils.translation import gettext as _

from database.transactions import transactional
from decisions.actions import supersede
from decisions.models import Decision
from records import links
from records.actor import Actor
from records.errors import Refused
from records.models import Link, Relation
from records.queries import records_by_node_id


@transactional
def link_records(
    *, actor: Actor, source: Any, relation: str, target: Any, reason: str = ""
) -> tuple[Link, str]:
    """The relation, and whether it is new. A decision that is superseded gets its status with the link."""
    known = links.link_between(source.node_id, relation, target.node_id)
    if relation == Relation.SUPERSEDES and isinstance(source, Decision) and isinstance(target, Decision):
        supersede(actor=actor, decision=target, by=source, reason=reason)
    made = links.link(source, relation, target, actor=actor, reason=reason)
    return made, "created" if known is None else "unchanged"


def unlink_records(*, actor: Actor, made: Link, reason: str = "") -> None:
    """Take a relation back. A status that was set with it stays: it is said by its own verb."""
    ends = records_by_node_id([made.source, made.target], [made.project_id])
    if len(ends) < 2:
        raise Refused(_("One end of this link is gone, so nobody's history could tell of it."))
    links.unlink(made, ends[made.source], ends[made.target], actor=actor, reason=reason)
