"""What each record asks of people, kept beside it in the transaction of whatever writes: one upsert an act.

A record that waits has a risk, 0 to 100, the sum of named causes; one that is settled has one where something newer than
its last confirmation speaks against it. All of it can be computed from the record again (`look_again`).
"""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Collection, Iterable, Mapping, Sequence
from copy import copy
from dataclasses import asdict, dataclass
from datetime import datetime
from typing import Any

from django.db import connection
from django.db.models import Case, F, Max, Q, Value, When
from django.utils import timezone

from database.transactions import transactional
from records.hygiene.kept import RecordFinding
from records.kinds import Kind, all_kinds, kind_of
from records.models import Attention, Link, ProjectionMark, Relation, ReviewState, Revision
from records.queries import records_by_node_id

WAITING, SETTLED, HIDDEN = Attention.Standing.values
IDS_A_QUERY = 500
MOST_RISK = 100
PAST = -1  # the risk of a settled one of which nothing is asked any more
ASKING = (Relation.CONTRADICTS, Relation.DUPLICATE_OF)
KEPT = ["kind", "project_id", "standing", "risk", "why", "arrived_at", "touched_at"]
# How often it was told to agents -> points.
SERVED = ((100, 20), (10, 12), (1, 6))
LOW_TRUST = ((0.3, 20), (0.5, 10))  # below


@dataclass(frozen=True, slots=True)
class Cause:
    """Why a record asks for somebody: a code that the desk words, its points, and what it is about (a node id, a code)."""

    code: str
    points: int
    about: str = ""


Causes = dict[str, list[Cause]]


def standing_of(record: Any) -> str:
    if record.archived_at is not None or record.merged_into is not None:
        return HIDDEN
    if record.review_state in (ReviewState.UNREVIEWED, ReviewState.QUARANTINED):
        return WAITING
    return SETTLED if record.review_state == ReviewState.APPROVED else HIDDEN


def keep_new(records: Sequence[Any]) -> None:
    """After an insert: nothing refers to a new record yet, and what its text holds has just been looked at."""
    causes: Causes = {record.node_id: _of_the_record(record) for record in records}
    for record in records:
        written = record.written
        if written is not None and standing_of(record) == WAITING:
            found = dict.fromkeys(finding.code for finding in written.findings or ())
            causes[record.node_id] += [*map(_finding, found), *map(_repeats, written.duplicate_of)]
    _upsert(records, causes, None)
    _look_at_led_to(records)


def keep_changed(records: Sequence[Any], befores: Mapping[Any, Mapping[str, Any]]) -> None:
    """After an update; `befores` are the images before it, by key."""
    now = timezone.now()
    # What was confirmed by this very act has nothing newer against it.
    asking = [record for record in records if not _confirmed_now(record, befores.get(record.pk, {}))]
    _upsert(records, _causes_of(asking), now)
    ends = [record for record in records if _held(record, befores.get(record.pk, {})) != holds(record)]
    if ends:
        node_ids = [record.node_id for record in ends]
        look_again(_contradicted_by(node_ids) - {record.node_id for record in records})
    _look_at_led_to(records, befores)


def look_around(node_ids: Collection[str], led_to: Iterable[str | None] = ()) -> None:
    """After records were erased, deleted or written by plain SQL: what others ask on their account. `led_to`: what an
    outcome among them follows, and followed before."""
    touching = Q(source__in=node_ids) | Q(target__in=node_ids)
    ends = Link.objects.filter(touching, relation__in=ASKING).order_by().values_list("source", "target")
    around = {end for pair in ends for end in pair} | {node_id for node_id in led_to if node_id}
    look_again(around - {*node_ids})


@transactional
def look_again(node_ids: Collection[str]) -> int:
    """Compute it anew from the records as they are. Returns how many of them there are."""
    kept, ordered = 0, sorted(node_ids)
    for start in range(0, len(ordered), IDS_A_QUERY):
        some = ordered[start : start + IDS_A_QUERY]
        # Locked before the record is read: whoever changes that now writes its own row here after us.
        list(Attention.objects.select_for_update().filter(node_id__in=some).order_by("node_id").values("id"))
        records = list(records_by_node_id(some, brief=True).values())
        _upsert(records, _causes_of(records), None, keep_touched=True)
        kept += len(records)
    return kept


def touch(node_ids: Iterable[str]) -> None:
    """They were used: a vote, an encounter. Call inside the transaction of that act."""
    Attention.objects.filter(node_id__in=list(node_ids)).update(touched_at=timezone.now())


def forget(node_ids: Iterable[str]) -> None:
    """The rows are gone."""
    Attention.objects.filter(node_id__in=list(node_ids)).delete()


def count_reads(times: Mapping[str, int], last: datetime) -> None:
    """These records were told to agents so many times. Call inside a transaction."""
    by_times: dict[int, list[str]] = defaultdict(list)
    for node_id, count in sorted(times.items()):
        by_times[count].append(node_id)
    later = Case(When(touched_at__lt=last, then=Value(last)), default=F("touched_at"))
    for count, node_ids in sorted(by_times.items()):
        rows = Attention.objects.filter(node_id__in=node_ids)
        rows.update(read_count=F("read_count") + count, last_read_at=last, touched_at=later)
    waiting = Attention.objects.filter(node_id__in=list(times), standing=WAITING).order_by()
    risen = [
        node_id
        for node_id, count in waiting.values_list("node_id", "read_count")
        if _served_points(count) != _served_points(count - times[node_id])
    ]
    if risen:
        look_again(risen)


def keep_missing(kind: Kind) -> int:
    """Records of a kind that have no row here yet: written before there were any. All of them, in steps that each stand."""
    known = Attention.objects.values("node_id")
    marks = ProjectionMark.objects.filter(kind=kind.name, gone=False).order_by("id")
    kept, after = 0, 0
    while True:
        page = marks.filter(id__gt=after).exclude(node_id__in=known)
        chunk = list(page.values_list("id", "node_id")[:IDS_A_QUERY])
        if not chunk:
            return kept
        after = chunk[-1][0]
        kept += look_again([node_id for _id, node_id in chunk])


def keep_all(project_id: int | None = None) -> int:
    """Compute every row anew, and forget those of records that are gone. Returns how many records there are."""
    kept = 0
    for kind in all_kinds():
        rows = kind.model._default_manager.order_by("pk").values_list("pk", flat=True)
        if project_id is not None:
            rows = rows.filter(project_id=project_id)
        after = None
        while chunk := list((rows if after is None else rows.filter(pk__gt=after))[:IDS_A_QUERY]):
            after = chunk[-1]
            kept += look_again([kind.node_id(key) for key in chunk])
        _forget_gone(kind)
    return kept


def _forget_gone(kind: Kind) -> None:
    after = 0
    while True:
        page = Attention.objects.filter(kind=kind.name, id__gt=after).order_by("id")
        chunk = dict(page.values_list("node_id", "id")[:IDS_A_QUERY])
        if not chunk:
            return
        after = max(chunk.values())
        forget(chunk.keys() - records_by_node_id(chunk, brief=True).keys())


def faults(project_id: int | None = None) -> dict[str, int]:
    """How many rows are `missing`, have another `standing` than their record, or are of records that are `gone`."""
    found = {"standing": 0, "missing": 0, "gone": 0}
    for kind in all_kinds():
        rows = kind.model._default_manager.order_by("pk")
        named = Attention.objects.filter(kind=kind.name)
        if project_id is not None:
            rows, named = rows.filter(project_id=project_id), named.filter(project_id=project_id)
        states = dict(named.values_list("node_id", "standing"))
        for record in rows.only("review_state", "archived_at", "merged_into").iterator(chunk_size=2000):
            kept = states.pop(record.node_id, None)
            found["missing"] += kept is None
            found["standing"] += kept is not None and kept != standing_of(record)
        found["gone"] += len(states)
    return found


def holds(record: Any) -> bool:
    """Active, and not said to be superseded, deprecated or rejected: it may contradict another."""
    return record.is_active and not is_past(record)


def causes_in(why: Iterable[Any]) -> list[Cause]:
    """As `Attention.why` keeps them, the weightiest first; what this version cannot read is left out."""
    fields = set(Cause.__dataclass_fields__)
    return [Cause(**one) for one in why if isinstance(one, dict) and set(one) == fields]


def _held(record: Any, before: Mapping[str, Any]) -> bool:
    """The same, before the change."""
    earlier = copy(record)
    for name in filter(None, ("archived_at", "merged_into", "review_state", kind_of(record).status_column)):
        if name in before:
            setattr(earlier, name, before[name])
    return holds(earlier)


def _confirmed_now(record: Any, before: Mapping[str, Any]) -> bool:
    at = record.reviewed_at
    return standing_of(record) == SETTLED and at is not None and at.isoformat() != before.get("reviewed_at")


def _confirmed_at(record: Any) -> datetime:
    at: datetime = record.reviewed_at or record.created_at
    return at


def _causes_of(records: Sequence[Any]) -> Causes:
    """Of those that wait, and against those that are settled. A constant number of queries for any number."""
    causes: Causes = defaultdict(list)
    asking = {record.node_id: record for record in records if standing_of(record) != HIDDEN}
    if not asking:
        return causes
    waiting = [node_id for node_id, record in asking.items() if standing_of(record) == WAITING]
    for node_id in waiting:
        causes[node_id] = _of_the_record(asking[node_id])
    if waiting:
        for node_id, code in _codes_found([asking[node_id] for node_id in waiting]):
            causes[node_id].append(_finding(code))
        served = Attention.objects.filter(node_id__in=waiting, read_count__gt=0).order_by()
        for node_id, count in served.values_list("node_id", "read_count"):
            causes[node_id].append(Cause("served", _served_points(count), str(count)))
    _add_linked(causes, asking)
    for kind in all_kinds():
        settled = [
            r for r in asking.values() if kind_of(r) is kind and standing_of(r) == SETTLED and not is_past(r)
        ]
        if settled and kind.doubts_of is not None:
            since = {record.node_id: _confirmed_at(record) for record in settled}
            for node_id, about in kind.doubts_of(since).items():
                causes[node_id].append(Cause("bad_outcome", 50, about))
    return causes


def _codes_found(records: Sequence[Any]) -> list[tuple[str, str]]:
    """(node id, code) of what was found in their texts: by this very act, else as it is kept."""
    found, kept = [], []
    for record in records:
        if record.written is None or record.written.findings is None:
            kept.append(record.node_id)
        else:
            found += [(record.node_id, finding.code) for finding in record.written.findings]
    if kept:
        rows = RecordFinding.objects.filter(node_id__in=kept).order_by("id")
        found += rows.values_list("node_id", "code")
    return list(dict.fromkeys(found))


def _add_linked(causes: Causes, asking: Mapping[str, Any]) -> None:
    """Contradictions with what still holds, and older records of the same words."""
    node_ids = list(asking)
    touching = Q(source__in=node_ids) | Q(target__in=node_ids)
    links = list(Link.objects.filter(touching, relation__in=ASKING).order_by("id"))
    others = {end for link in links for end in (link.source, link.target)} - asking.keys()
    ends = {**records_by_node_id(others, brief=True), **asking}
    for link in links:
        if link.relation == Relation.DUPLICATE_OF:
            record = asking.get(link.source)
            if record is not None and standing_of(record) == WAITING and link.target in ends:
                causes[link.source].append(_repeats(link.target))
            continue
        for one, other in ((link.source, link.target), (link.target, link.source)):
            record, against = asking.get(one), ends.get(other)
            if record is None or against is None or not holds(against) or is_past(record):
                continue
            if standing_of(record) == WAITING:
                causes[one].append(Cause("contradicts", 30, other))
            elif link.created_at > _confirmed_at(record):
                causes[one].append(Cause("contradicted", 60, other))


def is_past(record: Any) -> bool:
    """Superseded, deprecated or rejected: what it says is not claimed any more, and contradicts nobody."""
    return kind_of(record).holds(record) is False


def _of_the_record(record: Any) -> list[Cause]:
    """What its own row says, where it waits."""
    if standing_of(record) != WAITING:
        return []
    causes = []
    if record.review_state == ReviewState.QUARANTINED:
        causes.append(Cause("quarantined", 30))
    low = next((points for trust, points in LOW_TRUST if record.trust < trust), 0)
    if low:
        causes.append(Cause("low_trust", low, f"{record.trust:.2f}"))
    severity, points = kind_of(record).severity_of(record)
    if points:
        causes.append(Cause("severity", points, severity))
    return causes


def _finding(code: str) -> Cause:
    return Cause("finding", 25, code)


def _repeats(older: str) -> Cause:
    return Cause("repeats", 10, older)


def _served_points(count: int) -> int:
    return next((points for least, points in SERVED if count >= least), 0)


def _contradicted_by(node_ids: Sequence[str]) -> set[str]:
    touching = Q(source__in=node_ids) | Q(target__in=node_ids)
    ends = Link.objects.filter(touching, relation=Relation.CONTRADICTS).order_by()
    return {end for pair in ends.values_list("source", "target") for end in pair}


def _look_at_led_to(records: Sequence[Any], befores: Mapping[Any, Mapping[str, Any]] | None = None) -> None:
    """An outcome speaks of the decision that it followed, and no more of the one that it followed before."""
    led = {kind_of(record).leads_to(record) for record in records}
    led |= {kind_of(record).led_to((befores or {}).get(record.pk)) for record in records}
    if node_ids := {node_id for node_id in led if node_id}:
        look_again(node_ids)


def _upsert(
    records: Sequence[Any],
    causes: Mapping[str, Sequence[Cause]],
    touched: datetime | None,
    *,
    keep_touched: bool = False,
) -> None:
    if not records:
        return
    times = _touched(records) if keep_touched else {}
    rows = []
    for record in sorted(records, key=lambda one: one.node_id):
        told = sorted(causes.get(record.node_id, ()), key=lambda cause: -cause.points)
        rows.append(
            Attention(
                node_id=record.node_id,
                kind=kind_of(record).name,
                project_id=record.project_id,
                standing=standing_of(record),
                risk=_risk(record, told),
                why=[asdict(cause) for cause in told],
                arrived_at=record.created_at,
                touched_at=touched or times.get(record.node_id) or _confirmed_at(record),
            )
        )
    target = ["node_id"] if connection.features.supports_update_conflicts_with_target else None
    Attention.objects.bulk_create(
        rows, update_conflicts=True, update_fields=KEPT, unique_fields=target, batch_size=IDS_A_QUERY
    )


def _risk(record: Any, told: Sequence[Cause]) -> int:
    if standing_of(record) == SETTLED and is_past(record):
        return PAST
    return min(MOST_RISK, sum(cause.points for cause in told))


def _touched(records: Sequence[Any]) -> dict[str, datetime]:
    """What is kept already; else the newest act of its history."""
    node_ids = [record.node_id for record in records]
    kept = Attention.objects.filter(node_id__in=node_ids).order_by()
    times: dict[str, datetime] = dict(kept.values_list("node_id", "touched_at"))
    missing = [node_id for node_id in node_ids if node_id not in times]
    if missing:
        acts = Revision.objects.filter(node_id__in=missing).order_by().values_list("node_id")
        times.update(dict(acts.annotate(newest=Max("created_at"))))
    return times
