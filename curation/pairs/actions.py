"""What a person says of two records, once for ever: the relation, the pair and both histories in one act."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from datetime import datetime
from types import MappingProxyType
from typing import Any

from django.db import IntegrityError, transaction
from django.utils import timezone
from django.utils.translation import gettext as _

from curation.models import Sort, SuggestedPair, Verdict
from curation.pairs.candidates import Ends, ends
from curation.pairs.keeping import keep_pairs
from database.transactions import transactional
from decisions.actions import supersede
from decisions.models import Decision
from projects.access import Capability
from projects.models import User
from records.actor import Actor
from records.acts import one_act
from records.changes import Outcome
from records.checks import checked_reason
from records.errors import Conflict, InvalidInput, Refused
from records.images import plain
from records.kinds import kind_of
from records.links import link, link_between, unlink
from records.models import Relation
from records.queries import records_by_node_id
from records.revisions import note_event
from records.undo_step import UNDO, Step
from records.verbs import lock, taking_in_sql

SETTLE = "settle"
# What a verdict makes untrue of what somebody asserted.
DENIED: Mapping[str, tuple[str, ...]] = {
    Verdict.UNRELATED: (Relation.CONTRADICTS, Relation.DUPLICATE_OF),
    Verdict.CONTRADICTS: (Relation.DUPLICATE_OF,),
    Verdict.DUPLICATES: (Relation.CONTRADICTS,),
    Verdict.SUPERSEDES: (),
}


def settle(
    one: Any,
    other: Any,
    verdict: str,
    *,
    actor: Actor,
    reason: str = "",
    expected_versions: Mapping[str, int] | None = None,
) -> Ends:
    """Say what `one` is to `other`: it contradicts, supersedes or duplicates it, or has nothing to do with it.

    The pair is never suggested again. Conflict where one of them was changed since the page was drawn
    (`expected_versions`, by node id); Refused where one is not active, or the relation would close a circle.
    """
    reason = checked_reason(reason)
    if verdict not in Verdict.values:
        raise InvalidInput({"verdict": [_("Must be one of: %s.") % ", ".join(Verdict.values)]}, one.node_id)
    if one.node_id == other.node_id:
        raise Refused(_("A record cannot be compared with itself."), one.node_id)
    if one.project_id is None or one.project_id != other.project_id:
        raise Refused(_("Both records must be in the same project."), one.node_id)
    actor.require(one.project_id, Capability.REVIEW)
    with one_act():
        return _settle(one, other, verdict, actor, reason, expected_versions or {})


def settle_pairs(pairs: Sequence[SuggestedPair], verdict: str, *, actor: Actor, reason: str = "") -> None:
    """The same of each of these open pairs, as one act of the history."""
    with one_act():
        _settle_pairs(pairs, verdict, actor, reason)


@transactional
def _settle_pairs(pairs: Sequence[SuggestedPair], verdict: str, actor: Actor, reason: str) -> None:
    records = records_by_node_id({node_id for pair in pairs for node_id in (pair.first, pair.second)})
    for pair in pairs:
        if pair.first in records and pair.second in records:
            settle(records[pair.first], records[pair.second], verdict, actor=actor, reason=reason)


@taking_in_sql
@transactional
def _settle(
    one: Any, other: Any, verdict: str, actor: Actor, reason: str, expected: Mapping[str, int]
) -> Ends:
    one, other = _locked(one, other, expected)
    _relate(one, other, verdict, actor, reason)
    pair = ends(one.node_id, other.node_id)
    rows = list(SuggestedPair.objects.select_for_update().filter(first=pair[0], second=pair[1]))
    before = {row.sort: row.verdict for row in rows}
    if before and all(kept == verdict for kept in before.values()) and verdict == Verdict.UNRELATED:
        return pair  # said already
    keep_verdict(one, other, dict.fromkeys(_sorts(one, other), verdict), actor)
    detail = {
        "verdict": verdict, "source": one.node_id, "target": other.node_id, "before": before,
        "settled": {row.sort: [row.settled_by_id, plain(row.settled_at)] for row in rows if row.verdict},
    }  # fmt: skip
    for record in (one, other):
        note_event(record, SETTLE, actor=actor, reason=reason, detail=detail)
    return pair


def keep_verdict(
    one: Any,
    other: Any,
    verdicts: Mapping[str, str | None],
    actor: Actor,
    settled: Mapping[str, Sequence[Any]] = MappingProxyType({}),
) -> None:
    """Write what is said of the pair, for each sort; None takes a verdict back. `settled`: by whom and when, of one that
    is given back. Inside a transaction."""
    first, second = ends(one.node_id, other.node_id)
    for sort, verdict in sorted(verdicts.items()):
        user, when = actor.user, timezone.now()
        if sort in settled:
            user_id, told = settled[sort]
            user, when = User.objects.filter(pk=user_id or 0).first(), datetime.fromisoformat(told)
        said = {
            "verdict": verdict,
            "settled_by": user if verdict else None,
            "settled_at": when if verdict else None,
            "is_open": verdict is None and one.is_active and other.is_active,
        }
        rows = SuggestedPair.objects.filter(first=first, second=second, sort=sort)
        if rows.update(**said) or verdict is None:
            continue
        new = SuggestedPair(
            project_id=one.project_id, kind=kind_of(one).name, sort=sort, first=first, second=second, score=0.0, **said
        )  # fmt: skip
        try:
            with transaction.atomic():
                new.save(force_insert=True)
        except IntegrityError:  # the worker has suggested it just now
            rows.update(**said)


def _sorts(one: Any, other: Any) -> list[str]:
    """A verdict is about the two, whichever queue they were in; records of two kinds are no duplicates anyway."""
    return list(Sort.values) if kind_of(one) is kind_of(other) else [Sort.CONFLICT]


def _locked(one: Any, other: Any, expected: Mapping[str, int]) -> tuple[Any, Any]:
    found: dict[str, Any] = {}
    kinds = {kind.name: kind for kind in (kind_of(one), kind_of(other))}
    for _name, kind in sorted(kinds.items()):
        keys = [record.pk for record in (one, other) if kind_of(record) is kind]
        found |= {record.node_id: record for record in lock(kind, keys)}
    for record in (one, other):
        now = found.get(record.node_id)
        if now is None or not now.is_active:
            raise Refused(
                _("%s is not active any more: there is nothing to decide about it.") % record.node_id,
                record.node_id,
            )
        version = expected.get(record.node_id)
        if version is not None and now.version != version:
            raise Conflict(now, version)
    return found[one.node_id], found[other.node_id]


def _relate(one: Any, other: Any, verdict: str, actor: Actor, reason: str) -> None:
    for relation in DENIED[Verdict(verdict)]:
        for source, target in ((one, other), (other, one)):
            made = link_between(source.node_id, relation, target.node_id)
            if made is not None:
                unlink(made, source, target, actor=actor, reason=reason)
    if verdict == Verdict.CONTRADICTS:
        link(one, Relation.CONTRADICTS, other, actor=actor, reason=reason)
    elif verdict == Verdict.DUPLICATES:
        link(one, Relation.DUPLICATE_OF, other, actor=actor, reason=reason)
    elif verdict == Verdict.SUPERSEDES:
        if isinstance(one, Decision) and isinstance(other, Decision):
            supersede(actor=actor, decision=other, by=one, reason=reason)
        else:
            link(one, Relation.SUPERSEDES, other, actor=actor, reason=reason)


def undo_settle(step: Step, *, actor: Actor, reason: str) -> Outcome:
    """A verdict is taken back, or given again; then the pair is judged anew. Refused where another was given since."""
    detail = step.detail
    found = records_by_node_id([detail["source"], detail["target"]])
    if (
        len(found) < 2 or not {"verdict", "before"} <= detail.keys()
    ):  # of an erased record the ids alone are kept
        raise Refused(_("One of the two records is not there any more."), step.node_id)
    one, other = found[detail["source"]], found[detail["target"]]
    actor.require(one.project_id, Capability.REVIEW)
    first, second = ends(one.node_id, other.node_id)
    rows = SuggestedPair.objects.select_for_update().filter(first=first, second=second)
    kept = {row.sort: row.verdict for row in rows}
    expected = detail["before"] if not step.back else dict.fromkeys(_sorts(one, other), detail["verdict"])
    if any(kept.get(sort) != expected.get(sort) for sort in {*kept, *expected}):
        raise Refused(_("Something else was said of the two since."), step.node_id)
    if step.back:
        given_back = {sort: detail["before"].get(sort) for sort in kept}
        keep_verdict(one, other, given_back, actor, detail.get("settled", {}))
        rows.exclude(sort__in=detail["before"]).delete()  # there for the verdict alone
    else:
        keep_verdict(one, other, dict.fromkeys(_sorts(one, other), detail["verdict"]), actor)
    said = {
        name: detail[name] for name in ("verdict", "source", "target", "before", "settled") if name in detail
    }
    for record in (one, other):
        note_event(record, UNDO, actor=actor, reason=reason, detail={**step.said(), **said})
    keep_pairs([first, second])
    return Outcome(updated=[one, other])
