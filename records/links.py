"""Explicit relations between records: asserted by an agent or a person, kept once, in both histories."""

from __future__ import annotations

from collections.abc import Collection, Mapping
from typing import Any

from django.db import IntegrityError
from django.db.models import Case, Q, QuerySet, When
from django.utils import timezone
from django.utils.translation import gettext as _

from database.transactions import transactional
from projects.access import Capability
from projects.models import Project
from records import attention, marks
from records.actor import Actor
from records.checks import checked_reason
from records.errors import InvalidInput, Refused
from records.guard import writing
from records.images import plain
from records.kinds import kind_of
from records.models import Link, Relation, Revision
from records.queries import erased_among, records_by_node_id, survivor_of
from records.revisions import event_of, note_event

# What a reader must know first.
TELLING: dict[str, int] = {Relation.CONTRADICTS: 0, Relation.SUPERSEDES: 1}
SYMMETRICAL = (Relation.CONTRADICTS, Relation.RELATES_TO)


@transactional
def link(source: Any, relation: str, target: Any, *, actor: Actor, reason: str = "") -> Link:
    """Assert a relation; of a record that was merged away, its survivor's. Once said it stays once: saying it again (or, where symmetrical, reversed) changes nothing."""
    reason = checked_reason(reason)
    source, target = _live_ends(source, target)
    if relation not in Relation.values:
        raise InvalidInput(
            {"relation": [_("Must be one of: %s.") % ", ".join(Relation.values)]}, source.node_id
        )
    if source.node_id == target.node_id:
        raise Refused(_("A record cannot be linked to itself."), source.node_id)
    if source.project_id != target.project_id:
        raise Refused(_("Both records must be in the same project."), source.node_id)
    actor.require(source.project_id, Capability.WRITE)
    refuse_erased_ends(source.node_id, target.node_id)
    first, second = source, target
    if relation in SYMMETRICAL and source.node_id > target.node_id:
        first, second = target, source
    kept = link_between(first.node_id, relation, second.node_id)
    if kept:
        return kept
    if relation not in SYMMETRICAL:
        # One at a time, so that two opposite ones said at once cannot close a circle that neither sees.
        Project.objects.select_for_update().get(pk=source.project_id)
    if relation not in SYMMETRICAL and leads_to(second.node_id, relation, first.node_id):
        raise Refused(
            _("%(target)s already %(relation)s %(source)s: the two cannot both be so.")
            % {"target": second.node_id, "relation": Relation(relation).label, "source": first.node_id},
            source.node_id,
        )
    with writing():
        try:
            made = Link.objects.create(
                project_id=source.project_id,
                relation=relation,
                source=first.node_id,
                target=second.node_id,
                note=reason.strip() or None,
                source_kind=actor.source_kind,
                source_name=actor.name,
                created_at=timezone.now(),
            )
        except IntegrityError as error:
            raise Refused(
                _("Somebody is linking these two right now; look again."), source.node_id
            ) from error
    _tell_both(first, second, "link", relation, actor, reason)
    return made


def _live_ends(source: Any, target: Any) -> tuple[Any, Any]:
    """Each, or what it was merged into; held, so that no merge runs between this and the link."""
    live = {end.node_id: _held(end) for end in sorted((source, target), key=lambda end: end.node_id)}
    return live[source.node_id], live[target.node_id]


def refuse_erased_ends(source: str, target: str) -> None:
    """Raises Refused: of what was erased nothing new is said."""
    if erased := erased_among([source, target]):
        raise Refused(_("It was erased for good: nothing can be linked to it."), min(erased))


def _held(record: Any) -> Any:
    while True:
        record = survivor_of(record)
        rows = kind_of(record).model.objects.select_for_update().filter(pk=record.pk)
        merged_into = rows.values_list("merged_into", flat=True).first()
        if not merged_into or merged_into == record.merged_into:  # live, or led to nothing that is there
            return record
        record.merged_into = merged_into


def link_duplicates(first: Mapping[str, str], *, actor: Actor) -> None:
    """New records, each to the older one that says the same. Nothing refers to a new record: no circle can close."""
    ends = records_by_node_id({*first, *first.values()})
    now = timezone.now()
    made, told = [], []
    for node_id, older in first.items():
        made.append(
            Link(
                project_id=ends[node_id].project_id, relation=Relation.DUPLICATE_OF, source=node_id, target=older,
                source_kind=actor.source_kind, source_name=actor.name, created_at=now,
            )
        )  # fmt: skip
        detail = {"relation": Relation.DUPLICATE_OF, "source": node_id, "target": older}
        told += [event_of(ends[end], "link", actor=actor, detail=detail) for end in (node_id, older)]
    with writing():
        Link.objects.bulk_create(made)
        Revision.objects.bulk_create(told)
    marks.want_projected({*first.values()} - {*first})


def link_between(source: str, relation: str, target: str) -> Link | None:
    """The link between two node ids as it is kept; of a symmetrical relation in either order."""
    if relation in SYMMETRICAL and source > target:
        source, target = target, source
    return Link.objects.filter(source=source, relation=relation, target=target).first()


def links_in(
    project_ids: Collection[int], node_id: str = "", relations: Collection[str] = ()
) -> QuerySet[Link]:
    """The links of these projects; of one record, where it is named."""
    links = Link.objects.filter(project_id__in=project_ids)
    if node_id:
        links = links.filter(Q(source=node_id) | Q(target=node_id))
    return links.filter(relation__in=relations) if relations else links


@transactional
def unlink(made: Link, source: Any, target: Any, *, actor: Actor, reason: str = "") -> None:
    """Take a relation back; both histories keep that it was there."""
    reason = checked_reason(reason)
    actor.require(made.project_id, Capability.WRITE)
    with writing():
        taken_back, _kinds = Link.objects.filter(pk=made.pk).delete()
    if taken_back:  # else somebody was first, and said so
        _tell_both(source, target, "unlink", made.relation, actor, reason, beside=said_beside(made))


def said_beside(made: Link) -> dict[str, Any]:
    """What a link says beside its ends, as a history keeps it: what is needed to give it back."""
    return {
        "note": made.note, "source_kind": made.source_kind, "source_name": made.source_name,
        "created_at": plain(made.created_at),
    }  # fmt: skip


def _tell_both(
    source: Any,
    target: Any,
    verb: str,
    relation: str,
    actor: Actor,
    reason: str,
    beside: Mapping[str, Any] | None = None,
) -> None:
    detail = {
        "relation": relation, "source": source.node_id, "target": target.node_id, **({"beside": beside} if beside else {}),
    }  # fmt: skip
    for record in (source, target):
        note_event(record, verb, actor=actor, reason=reason, detail=detail)
    marks.want_again([source.node_id, target.node_id])
    if relation in attention.ASKING:
        attention.look_again({source.node_id, target.node_id})


def leads_to(start: str, relation: str, end: str) -> bool:
    """True when the relation leads from one node to the other, directly or through others. One query a step."""
    frontier, seen = {start}, {start}
    while frontier:
        targets = Link.objects.filter(relation=relation, source__in=frontier).values_list("target", flat=True)
        frontier = set(targets) - seen
        if end in frontier:
            return True
        seen |= frontier
    return False


def links_of(node_ids: list[str], relations: list[str] | None = None, limit: int | None = None) -> list[Link]:
    """Links that touch any of the nodes, in either direction; with a limit, the contradicting and superseding first."""
    links = Link.objects.filter(Q(source__in=node_ids) | Q(target__in=node_ids))
    if relations is not None:
        links = links.filter(relation__in=relations)
    if limit is None:
        return list(links)
    found = list(links.order_by("id")[:limit])
    if len(found) == limit:  # perhaps not those that tell most
        telling = Case(
            *(When(relation=relation, then=place) for relation, place in TELLING.items()),
            default=len(TELLING),
        )
        found = list(links.order_by(telling, "id")[:limit])
    return sorted(found, key=lambda made: TELLING.get(made.relation, len(TELLING)))
