"""The blast radius: what one origin wrote or changed, what came of that, and who was told any of it afterwards.

Read part by part: each statement is about at most PART records, whatever the origin wrote.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from datetime import datetime
from functools import reduce
from itertools import chain, islice
from operator import or_
from typing import Any

from django.db.models import Min, Q, QuerySet

from curation.history.queries import first_of_each
from decisions.models import Decision, Outcome
from records.kinds import all_kinds, group_by_kind, kind_named
from records.models import Link, Read, Relation, Revision
from records.paging import COUNT_EXACT_TO
from records.queries import records_by_node_id
from runs.models import Memory, Run

PART = 100
DERIVED_MOST = 300
STEPS_MOST = 5
LINKS_MOST = 2_000  # a step
LOOKED_AT = 10  # parts of what names the origin by its columns
READS_MOST = 20_000
IDS_A_QUERY = 200
WROTE, CHANGED, TOUCHED = "wrote", "changed", "touched"
OF_A_RUN, OF_A_DECISION, MERGED, COPY, SUCCESSOR, SUPERSEDED = (
    "of_a_run", "of_a_decision", "merged", "copy", "successor", "superseded",
)  # fmt: skip
# What only gave way to a bad memory says nothing of it.
FOLLOWED = (MERGED, COPY, SUCCESSOR, OF_A_DECISION, OF_A_RUN)


@dataclass(frozen=True)
class Written:
    """A record that the origin wrote, changed, or only touched (a link, a vote): since when, by which verbs."""

    node_id: str
    since: datetime
    how: str
    verbs: tuple[str, ...]


@dataclass(frozen=True)
class Derived:
    """A record that came of another of the radius: how, and from which."""

    node_id: str
    how: str
    via: str
    since: datetime


@dataclass(frozen=True)
class Reader:
    """One agent, in one session and run, that was told something of the radius after it was written."""

    agent: str
    session: str
    run: str
    times: int
    records: tuple[str, ...]
    first: datetime
    last: datetime


@dataclass(frozen=True)
class Radius:
    """One part of it. `records` has the rows that are still there, by node id; `unlogged` what no history tells of, of
    which there may be more (`unlogged_cut`)."""

    written: tuple[Written, ...]
    derived: tuple[Derived, ...]
    readers: tuple[Reader, ...]
    records: Mapping[str, Any]
    next_part: int | None
    derived_cut: bool = False
    reads_cut: bool = False
    unlogged: frozenset[str] = field(default_factory=frozenset)
    unlogged_cut: bool = False


def radius_of(
    rows: QuerySet[Revision], project: Any, *, run: str = "", session: str = "", after: int | None = None
) -> Radius:
    """The part behind row `after`. `run` or `session`, where the origin is one: what plain SQL wrote in their name is
    known by its columns alone, and its own reading is not told."""
    written, rest = written_by(rows, after)
    unlogged, unlogged_cut = list[Written](), False
    if after is None and (run or session):
        parts = list(islice(named_by_columns(project, run, session, rows), LOOKED_AT + 1))
        unlogged = list(chain.from_iterable(parts[:LOOKED_AT]))
        unlogged_cut = len(parts) > LOOKED_AT or len(unlogged) > PART
    written += unlogged[:PART]
    since = {each.node_id: each.since for each in written}
    # A vote or a link makes nothing out of the record that it touches.
    derived, derived_cut = derived_from(
        {each.node_id: each.since for each in written if each.how != TOUCHED}, project
    )
    since |= {each.node_id: each.since for each in derived}
    readers, reads_cut = readers_after(since, run=run, session=session)
    return Radius(
        tuple(written),
        tuple(derived),
        tuple(readers),
        records_by_node_id(since, [project.pk], brief=True),
        rest,
        derived_cut,
        reads_cut,
        frozenset(each.node_id for each in unlogged),
        unlogged_cut,
    )


def written_by(rows: QuerySet[Revision], after: int | None) -> tuple[list[Written], int | None]:
    """PART records in the order in which the origin first touched them."""
    found, rest = first_of_each(rows, "node_id", after, size=PART, newest=False)
    node_ids = [node_id for _pk, node_id in found]
    told = (
        rows.filter(node_id__in=node_ids)
        .order_by()
        .values("node_id", "verb")
        .annotate(first=Min("created_at"), version=Min("version"))
    )
    acts: dict[str, list[Mapping[str, Any]]] = {}
    for row in told:
        acts.setdefault(row["node_id"], []).append(row)
    return [_written(node_id, acts[node_id]) for node_id in node_ids if node_id in acts], rest


def _written(node_id: str, acts: Sequence[Mapping[str, Any]]) -> Written:
    versions = [row["version"] for row in acts if row["version"] is not None]
    how = TOUCHED if not versions else WROTE if min(versions) == 1 else CHANGED
    in_order = sorted(acts, key=lambda row: (row["first"], row["verb"] != "create"))
    return Written(node_id, in_order[0]["first"], how, tuple(row["verb"] for row in in_order))


def named_by_columns(
    project: Any, run: str, session: str, rows: QuerySet[Revision]
) -> Iterator[list[Written]]:
    """Records whose columns name the run or session while their history does not: plain SQL wrote them. Part by part."""
    named = Q(source_run=run) if run else Q(source_session=session)
    for kind in all_kinds():
        at = kind.model.objects.filter(named, project_id=project.pk).order_by("pk")  # type: ignore[attr-defined]
        last = None
        while page := list(
            (at if last is None else at.filter(pk__gt=last)).values_list("pk", "created_at")[:PART]
        ):
            last = page[-1][0]
            keys = {kind.node_id(pk): created_at for pk, created_at in page}
            told = set(rows.filter(node_id__in=keys).order_by().values_list("node_id", flat=True).distinct())
            yield [Written(node_id, when, WROTE, ()) for node_id, when in keys.items() if node_id not in told]
            if len(page) < PART:
                break


def derived_from(
    since: Mapping[str, datetime], project: Any, most: int = DERIVED_MOST
) -> tuple[list[Derived], bool]:
    """What came of these records, STEPS_MOST steps far; whether there was more than `most`, or a step could not be read
    whole."""
    found: dict[str, Derived] = {}
    times = dict(since)
    frontier = set(since)
    for _step in range(STEPS_MOST):
        came: set[str] = set()
        for node_id, how, via in _one_step(sorted(frontier), project, most + len(times) + 1):
            if not node_id:
                return list(found.values()), True
            if node_id in times:
                continue
            if len(found) == most:
                return list(found.values()), True
            times[node_id] = times[via]
            found[node_id] = Derived(node_id, how, via, times[via])
            if how in FOLLOWED:
                came.add(node_id)
        if not came:
            break
        frontier = came
    return list(found.values()), False


def _one_step(node_ids: Sequence[str], project: Any, rows: int) -> Iterator[tuple[str, str, str]]:
    """(record, how, from which) of what is one step away, a constant number of statements; last ("", "", "") where
    there are more links than are looked at."""
    keys = group_by_kind(node_ids)
    for name, pks in keys.items():
        kind = kind_named(name)
        merged = kind.model.objects.filter(pk__in=pks, merged_into__isnull=False).order_by("pk")  # type: ignore[attr-defined]
        for pk, target in merged.values_list("pk", "merged_into"):  # one each
            yield target, MERGED, kind.node_id(pk)
    relations = (Relation.DUPLICATE_OF, Relation.SUPERSEDES)
    here = set(node_ids)
    links = Link.objects.filter(
        Q(source__in=node_ids) | Q(target__in=node_ids), relation__in=relations, project_id=project.pk
    )
    ends = links.order_by("pk").values_list("source", "relation", "target")
    looked_at = list(ends[: LINKS_MOST + 1])
    for source, relation, target in looked_at[:LINKS_MOST]:
        if target in here:
            yield source, COPY if relation == Relation.DUPLICATE_OF else SUCCESSOR, target
        elif relation == Relation.SUPERSEDES:
            yield target, SUPERSEDED, source
    outcomes = Outcome.objects.filter(decision_id__in=keys.get("decision", []), project_id=project.pk)
    for pk, decision in outcomes.order_by("pk").values_list("pk", "decision_id")[:rows]:
        yield f"{Outcome.prefix}_{pk}", OF_A_DECISION, f"{Decision.prefix}_{decision}"
    memories = Memory.objects.filter(source_run_fk__in=keys.get("run", []), project_id=project.pk)
    for pk, run in memories.order_by("pk").values_list("pk", "source_run_fk_id")[:rows]:
        yield f"{Memory.prefix}_{pk}", OF_A_RUN, f"{Run.prefix}_{run}"
    if len(looked_at) > LINKS_MOST:
        yield "", "", ""


def readers_after(
    since: Mapping[str, datetime], *, run: str = "", session: str = ""
) -> tuple[list[Reader], bool]:
    """Who was told any of these after its time, the latest first; whether there were more than READS_MOST readings.
    The origin's own run or session is left out."""
    rows: list[tuple[str, str, str, str, datetime]] = []
    node_ids = sorted(since)
    for start in range(0, len(node_ids), IDS_A_QUERY):
        chunk = node_ids[start : start + IDS_A_QUERY]
        each = (Q(node_id=node_id, read_at__gte=since[node_id]) for node_id in chunk)
        reads = Read.objects.filter(reduce(or_, each)).order_by()
        if run:
            reads = reads.exclude(run=run)
        elif session:
            reads = reads.exclude(session=session)
        columns = ("agent_name", "session", "run", "node_id", "read_at")
        rows += reads.values_list(*columns)[: READS_MOST + 1 - len(rows)]
        if len(rows) > READS_MOST:
            break
    grouped: dict[tuple[str, str, str], list[tuple[str, datetime]]] = {}
    for agent, in_session, in_run, node_id, at in rows[:READS_MOST]:
        grouped.setdefault((agent, in_session, in_run), []).append((node_id, at))
    readers = [_reader(who, told) for who, told in grouped.items()]
    return sorted(readers, key=lambda reader: reader.last, reverse=True), len(rows) > READS_MOST


def _reader(who: tuple[str, str, str], told: Sequence[tuple[str, datetime]]) -> Reader:
    times = [at for _node_id, at in told]
    records = tuple(dict.fromkeys(node_id for node_id, _at in told))
    return Reader(*who, len(told), records, min(times), max(times))


def written_count(rows: QuerySet[Revision]) -> int:
    """How many records the origin touched; exact up to COUNT_EXACT_TO, one more means more than that."""
    return rows.order_by().values("node_id").distinct()[: COUNT_EXACT_TO + 1].count()
