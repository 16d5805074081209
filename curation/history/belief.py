"""Why an agent believes this: where a memory came from, what speaks for it, who vetted it, who acted on it since."""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterable
from dataclasses import dataclass
from datetime import datetime
from typing import Any

from django.db.models import Count, Q

from decisions.models import Outcome
from patterns.models import Evidence
from pitfalls.models import Encounter
from records.kinds import Kind, kind_of
from records.models import Link, Read, Relation, Revision
from records.paging import COUNT_EXACT_TO, capped_count
from records.queries import records_by_node_id

LINKS_READ = 50
SHOWN = 6
ORIGINS = (Relation.SUPERSEDES, Relation.DUPLICATE_OF, Relation.CONTRADICTS)
REVIEWS = ("approve", "confirm", "reject", "quarantine", "unreview")


@dataclass(frozen=True)
class Reader:
    """One agent that was told the record, in one run or session: how often, and when last."""

    agent: str
    session: str
    run: str
    times: int
    last: datetime


@dataclass(frozen=True)
class Readers:
    """Who was told it. `times` is exact up to 10,000; beyond that only the newest 10,000 readings are looked at."""

    times: int = 0
    agents: int = 0
    runs: int = 0
    since_review: int = 0
    latest: tuple[Reader, ...] = ()


@dataclass(frozen=True)
class Vote:
    """One piece of evidence: said by whom, in which session or run."""

    cause: str
    actor: str
    session: str
    run: str
    note: str
    when: datetime


@dataclass(frozen=True)
class Belief:
    """Everything the page tells, read in a constant number of statements. Its counts are capped (records.paging)."""

    created: Revision | None
    reviews: tuple[Revision, ...]
    edits: tuple[Revision, ...]
    edit_count: int
    merged_in: tuple[Any, ...]
    merged_count: int
    links: tuple[tuple[str, bool, Any], ...]  # relation, whether outward, the other record, which is active
    links_cut: bool
    votes: tuple[Vote, ...]
    vote_counts: dict[str, int]
    outcomes: tuple[Any, ...]
    outcome_count: int
    readers: Readers


def belief_of(record: Any) -> Belief:
    """What the history, the links, the evidence and the readings say of one record."""
    kind = kind_of(record)
    rows = Revision.objects.filter(node_id=record.node_id).defer("after").select_related("token")
    created = rows.filter(version__isnull=False).order_by("version").first()
    edits = rows.filter(version__gt=created.version if created else 0).exclude(verb__in=REVIEWS)
    merged = kind.model.objects.filter(
        merged_into=record.node_id, project_id=record.project_id, archived_at=None
    )
    links, links_cut = _origin_links(record)
    vote_counts, votes = _votes_for(kind, record)
    outcomes, outcome_count = _outcomes_of(kind, record)
    return Belief(
        created=created,
        reviews=tuple(rows.filter(verb__in=REVIEWS).order_by("-pk")[:SHOWN]),
        edits=tuple(edits.order_by("-pk")[:SHOWN]),
        edit_count=capped_count(edits),
        merged_in=tuple(_of_project(merged.order_by("pk")[:SHOWN], record)),
        merged_count=capped_count(merged),
        links=tuple(links),
        links_cut=links_cut,
        votes=votes,
        vote_counts=vote_counts,
        outcomes=outcomes,
        outcome_count=outcome_count,
        readers=readers_of(record, record.reviewed_at),
    )


def _of_project(rows: Iterable[Any], record: Any) -> list[Any]:
    found = list(rows)
    for other in found:
        other.project = record.project
    return found


def _origin_links(record: Any) -> tuple[list[tuple[str, bool, Any]], bool]:
    """Those to active records; whether there are more links than are looked at."""
    at = Q(source=record.node_id) | Q(target=record.node_id)
    links = list(Link.objects.filter(at, relation__in=ORIGINS).order_by("pk")[: LINKS_READ + 1])
    ends = {end for link in links for end in (link.source, link.target)} - {record.node_id}
    others = records_by_node_id(ends, [record.project_id], brief=True)
    found = []
    for link in links:
        outward = link.source == record.node_id
        other = others.get(link.target if outward else link.source)
        if other is not None and other.is_active:
            found.append((str(link.relation), outward, other))
    return found[:LINKS_READ], len(links) > LINKS_READ


def _votes_for(kind: Kind, record: Any) -> tuple[dict[str, int], tuple[Vote, ...]]:
    """Counts by cause, and the newest few; of what was taken back, nothing."""
    newest: Any
    if kind.name == "pattern":
        rows = Evidence.objects.filter(pattern_id=record.pk, taken_back_at=None).order_by("-pk")
        counts = rows.order_by().values("cause").annotate(number=Count("pk")).values_list("cause", "number")
        causes = dict(counts)
        newest = rows.exclude(cause="start")[:SHOWN]
    elif kind.name == "pitfall":
        causes = {"met_again": record.encountered_count}
        newest = Encounter.objects.filter(pitfall_id=record.pk, taken_back_at=None).order_by("-pk")[:SHOWN]
    else:
        return {}, ()
    votes = (
        Vote(
            getattr(row, "cause", "met_again"),
            row.actor_name,
            row.source_session or "",
            row.source_run or "",
            row.note or "",
            row.created_at,
        )
        for row in newest
    )
    return causes, tuple(votes)


def _outcomes_of(kind: Kind, record: Any) -> tuple[tuple[Any, ...], int]:
    if kind.name != "decision":
        return (), 0
    rows = Outcome.objects.active().filter(decision_id=record.pk, project_id=record.project_id)
    found = _of_project(rows.order_by("-occurred_at", "-pk")[:SHOWN], record)
    return tuple(found), capped_count(rows)


def readers_of(record: Any, reviewed_at: datetime | None = None) -> Readers:
    """By the index of a record's readings; of one read a million times the newest 10,000 alone are looked at."""
    newest = Read.objects.filter(node_id=record.node_id).order_by("-read_at")
    rows = list(newest.values_list("agent_name", "session", "run", "read_at")[: COUNT_EXACT_TO + 1])
    if not rows:
        return Readers()
    grouped = Counter((agent, session, run) for agent, session, run, _at in rows)
    last: dict[tuple[str, str, str], datetime] = {}
    for agent, session, run, at in rows:
        last.setdefault((agent, session, run), at)
    latest = sorted(last, key=lambda who: last[who], reverse=True)[:SHOWN]
    return Readers(
        times=len(rows),
        agents=len({agent for agent, _session, _run, _at in rows}),
        runs=len({run for _agent, _session, run, _at in rows if run}),
        since_review=sum(1 for row in rows if reviewed_at is not None and row[3] >= reviewed_at),
        latest=tuple(Reader(*who, grouped[who], last[who]) for who in latest),
    )
