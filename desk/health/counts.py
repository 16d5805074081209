"""Counts that read every row, asked for by a person and kept with their time: drift, orphans, old vectors, sizes.

One process counts at a time, in a thread of its own; the lease of that name keeps what was found last.
"""

from __future__ import annotations

import logging
import threading
import time
from collections import Counter
from collections.abc import Iterable
from typing import Any

from django.db import connection
from django.db.models import Count, Exists, F, Model, OuterRef, Q, QuerySet
from django.utils import timezone

from desk.health.database import rows_of, table_names
from graph.connection import configured_address
from graph.store import GraphAway
from recall.models import Embedding, Similarity
from recall.vectors import configured_encoder
from records import leases
from records.kinds import all_kinds
from records.leases import Lease
from records.models import Link, ProjectionMark, RecordTag

log = logging.getLogger("memory_desk.health")
COUNT = "health count"
LEASE_SECONDS = 60.0
BEAT_SECONDS = 15.0
NAMED = 200
IDS_A_QUERY = 500
NOWHERE = ""  # a record's project, as JSON's keys are text: of none

# (what, model, its column that names a record)
REFERENCES: tuple[tuple[str, type[Model], str], ...] = (
    ("links", Link, "source"),
    ("links", Link, "target"),
    ("embeddings", Embedding, "node_id"),
    ("similarities", Similarity, "source"),
    ("similarities", Similarity, "target"),
    ("tags", RecordTag, "node_id"),
)


def last_count() -> dict[str, Any]:
    """What was counted last (`counted_at`, …); empty where nobody ever counted."""
    kept = Lease.objects.filter(name=COUNT).first()
    return dict(kept.state) if kept else {}


def is_counting() -> bool:
    return Lease.objects.filter(name=COUNT, until__gt=timezone.now()).exists()


def start_count(asked_by: str) -> bool:
    """Count in the background. False where somebody counts already."""
    holder = leases.new_holder()
    if not leases.take(COUNT, holder, LEASE_SECONDS):
        return False
    threading.Thread(
        target=_count_and_close, args=(holder, asked_by), name="memory-desk-count", daemon=True
    ).start()
    return True


def _count_and_close(holder: str, asked_by: str) -> None:
    try:
        count_now(holder, asked_by)
    except Exception:  # the last count stays, with its time
        log.exception("The count failed")
        leases.give_back(COUNT, holder)
    finally:
        connection.close()


def count_now(holder: str, asked_by: str = "") -> dict[str, Any]:
    """Count all of it in this thread and keep it; the lease must be the holder's."""
    began = time.monotonic()
    beating = threading.Event()
    keeper = threading.Thread(
        target=_keep, args=(holder, beating), name="memory-desk-count-lease", daemon=True
    )
    if not connection.in_atomic_block:
        keeper.start()
    try:
        state: dict[str, Any] = {
            "graph": count_drift(),
            "orphans": count_orphans(),
            "old_vectors": count_old_vectors(),
            "rows": {table: rows_of(table) for table in table_names()},
        }
    finally:
        beating.set()
    state |= {
        "counted_at": timezone.now().isoformat(),
        "seconds": round(time.monotonic() - began, 1),
        "asked_by": asked_by,
    }
    leases.give_back(COUNT, holder, state)
    return state


def _keep(holder: str, done: threading.Event) -> None:
    while not done.wait(BEAT_SECONDS):
        leases.take(COUNT, holder, LEASE_SECONDS)
    connection.close()


def count_drift() -> dict[str, Any] | None:
    """The graph compared with the database, by kind and project; None where the database is the graph."""
    if configured_address() is None:
        return None
    from neo4j.exceptions import Neo4jError

    from graph.drift import measure_drift

    try:
        drift = measure_drift()
    except (GraphAway, Neo4jError, OSError, TimeoutError) as error:
        return {"problem": f"{type(error).__name__}: {error}"}
    kinds = []
    for kind in drift.kinds:
        differing = {"missing": kind.missing, "outdated": kind.outdated, "orphans": kind.orphans}
        kinds.append(
            {
                "name": kind.kind.name,
                "records": kind.records,
                "nodes": kind.nodes,
                "without_vector": kind.without_vector,
                **{what: _by_project(node_ids) for what, node_ids in differing.items()},
                "named": {what: node_ids[:NAMED] for what, node_ids in differing.items() if node_ids},
            }
        )
    return {
        "kinds": kinds,
        "waiting": drift.waiting,
        "differs": drift.differs,
        "relations": {name: list(pair) for name, pair in drift.relations.items()},
    }


def _by_project(node_ids: list[str]) -> dict[str, int]:
    """How many of these there are in each project."""
    places: Counter[str] = Counter()
    for start in range(0, len(node_ids), IDS_A_QUERY):
        some = node_ids[start : start + IDS_A_QUERY]
        found = dict(ProjectionMark.objects.filter(node_id__in=some).values_list("node_id", "project_id"))
        places.update(str(found.get(node_id) or NOWHERE) for node_id in some)
    return dict(places)


def count_orphans() -> dict[str, int]:
    """Rows that name a record which is not there, by table: such references cannot be foreign keys."""
    found: Counter[str] = Counter()
    for what, model, column in REFERENCES:
        found[what] += _naming_nobody(model._default_manager.all(), column).count()
    for kind in all_kinds():
        for column in ("merged_into", "source_run"):
            rows = kind.model.objects.exclude(**{column: None})  # type: ignore[attr-defined]
            found[str(kind.model._meta.db_table)] += _naming_nobody(rows, column).count()
    return dict(found)


def _naming_nobody(rows: QuerySet[Any], column: str) -> QuerySet[Any]:
    # What names one that is deleted and not worked off yet is no orphan: the worker takes it away.
    known = ProjectionMark.objects.filter(
        Q(gone=False) | Q(next_try_at__isnull=False), node_id=OuterRef(column)
    )
    return rows.order_by().filter(~Exists(known))


def count_old_vectors() -> dict[str, int]:
    """Vectors of models other than the configured one, by model."""
    models = Embedding.objects.order_by().values_list("model").annotate(rows=Count(F("id")))
    return {model: rows for model, rows in models if model != configured_encoder().name}


def in_projects(by_project: dict[str, int], project_ids: Iterable[int] | None) -> int:
    """The sum over these projects; None: over all, and over what is in none."""
    if project_ids is None:
        return sum(by_project.values())
    wanted = {str(project_id) for project_id in project_ids}
    return sum(count for place, count in by_project.items() if place in wanted)
