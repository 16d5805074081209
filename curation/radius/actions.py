"""Put the radius, or a part of it, in quarantine: one act of the history, which one undo takes back."""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Sequence

from django.db.models import QuerySet
from django.utils.translation import gettext as _

from curation.inbox.actions import act_on_many
from curation.radius.queries import (
    FOLLOWED,
    TOUCHED,
    Written,
    derived_from,
    named_by_columns,
    written_by,
)
from projects.models import Project
from records.actor import Actor
from records.acts import one_act
from records.checks import require_reason
from records.errors import InvalidInput
from records.models import Revision
from records.queries import records_by_node_id
from records.verbs import Outcome

MOST = 10_000


def quarantine(
    node_ids: Iterable[str], project: Project, *, actor: Actor, reason: str
) -> tuple[Outcome, str]:
    """These records of the project, as one act; those hidden already stay as they are. Returns what became of them and
    the act's id. Raises InvalidInput without a reason."""
    require_reason(reason)
    records = records_by_node_id(node_ids, [project.pk], brief=True).values()
    active = [record for record in records if record.is_active]
    with one_act() as act:
        outcome = act_on_many(active, "quarantine", actor=actor, reason=reason, expected_versions={})
    outcome.unchanged += [record for record in records if not record.is_active]
    return outcome, act


def whole_radius(
    rows: QuerySet[Revision], project: Project, *, run: str = "", session: str = ""
) -> list[str]:
    """What the origin wrote or changed, and what derives from that, over all parts. Raises InvalidInput where that is
    more than MOST, or more than can be read: never a part of it for the whole."""
    node_ids: dict[str, None] = {}
    for written in _parts(rows, project, run, session):
        since = {each.node_id: each.since for each in written if each.how != TOUCHED}
        derived, is_cut = derived_from(since, project, MOST)
        node_ids |= dict.fromkeys(since) | {each.node_id: None for each in derived if each.how in FOLLOWED}
        if is_cut or len(node_ids) > MOST:
            said = _("More than %s records: narrow the filters, for instance by day.") % f"{MOST:,}"
            raise InvalidInput({"__all__": [said]})
    return list(node_ids)


def _parts(rows: QuerySet[Revision], project: Project, run: str, session: str) -> Iterator[Sequence[Written]]:
    after: int | None = None
    while True:
        written, after = written_by(rows, after)
        yield written
        if after is None:
            break
    if run or session:
        yield from named_by_columns(project, run, session, rows)
