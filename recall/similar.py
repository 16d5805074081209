"""The similarities kept: of each record its best neighbours in its project, in both directions.

Level-triggered like all of the projection: the lists are compared with what the vectors say now, so a step that was
cut short is simply done again. One lease a project keeps two workers from writing the same lists at once.
"""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Collection, Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np
from django.conf import settings
from django.db.models import Count, Min
from numpy.typing import NDArray

from database.transactions import transactional
from recall.models import Similarity
from recall.topk import DECIMALS, Matrix
from recall.vectors import record_vectors
from records import marks
from records.leases import LeaseBusy, held, is_held

KEPT = 20
LEAST_COSINE = 0.5
# Rounded cosines of one pair may differ in the last place, by where the rows lie in memory.
SAME = 1.5 * 10**-DECIMALS
IDS_A_QUERY = 500
ROWS_A_PRODUCT = 256
LEASE_SECONDS = 60.0
LEASE_WAIT = 120.0

Scores = dict[str, float]


def update_similarities(placed: Mapping[str, int | None], gone: Collection[str] = ()) -> None:
    """Bring the lists up to date for records whose vector is new or changed, and for those that are no more.

    `placed` says in which project each record is now; one of no project has no list. The embeddings come first: of
    the records in `gone` none may be left. Raises LeaseBusy when another process does not finish with a project.
    """
    arrived: dict[int, set[str]] = defaultdict(set)
    left: dict[int, set[str]] = defaultdict(set)
    for node_id, project_id in placed.items():
        if project_id is not None:
            arrived[project_id].add(node_id)
    for node_id, project_id in _listed([*placed, *gone]):
        if project_id is not None and placed.get(node_id) != project_id:
            left[project_id].add(node_id)
    # Leaving comes first: two records that move together are listed once, in the new project.
    for project_id in sorted(left):
        _update_project(project_id, set(), left[project_id])
    for project_id in sorted(arrived):
        _update_project(project_id, arrived[project_id], set())


def rebuild_similarities(project_id: int) -> int:
    """Compare every list of a project with its vectors. Returns how many records it has."""
    node_ids, _ = record_vectors([project_id], counted=True).rows_of(project_id)
    known = set(node_ids)
    orphans = set(
        Similarity.objects.order_by()
        .filter(project_id=project_id)
        .values_list("source", flat=True)
        .distinct()
    )
    for some in _chunks(sorted(known | orphans)):
        _update_project(project_id, set(some) & known, set(some) - known, with_neighbours=False)
    return len(known)


def _listed(node_ids: Sequence[str]) -> set[tuple[str, int | None]]:
    """Where each of the records is listed now, as source or target."""
    found: set[tuple[str, int | None]] = set()
    for some in _chunks(node_ids):
        rows = Similarity.objects.order_by()
        found.update(rows.filter(source__in=some).values_list("source", "project_id").distinct())
        found.update(rows.filter(target__in=some).values_list("target", "project_id").distinct())
    return found


@dataclass(frozen=True)
class _Row:
    pk: int
    source: str
    target: str
    score: float


class _Block:
    """A project's record vectors, and exact products of them."""

    def __init__(self, project_id: int) -> None:
        node_ids, self.vectors = record_vectors([project_id], counted=True).rows_of(project_id)
        self.node_ids = list(node_ids)
        self.row_of = {node_id: row for row, node_id in enumerate(self.node_ids)}

    def cosines(self, node_ids: Sequence[str]) -> Matrix:
        """[records of the project, these records], a record with itself at -1."""
        rows = [self.row_of[node_id] for node_id in node_ids]
        scores: Matrix = np.round(self.vectors @ self.vectors[rows].T, DECIMALS)
        scores[rows, range(len(rows))] = -1.0
        return np.clip(scores, -1.0, 1.0)

    def best(self, scores: NDArray[np.float32]) -> Scores:
        """The list of one record from its column of cosines."""
        near = np.flatnonzero(scores >= np.float32(LEAST_COSINE))
        if len(near) > KEPT:
            least = np.partition(scores[near], len(near) - KEPT)[len(near) - KEPT]
            near = near[scores[near] >= least]
        near = near[np.lexsort((near, -scores[near]))][:KEPT]
        return {self.node_ids[row]: float(scores[row]) for row in near}


def _update_project(
    project_id: int, arrived: set[str], left: set[str], *, with_neighbours: bool = True
) -> None:
    with held(f"similarities:{project_id}", seconds=LEASE_SECONDS, wait=LEASE_WAIT) as holder:
        wanted, rows = _compare(project_id, arrived, left, with_neighbours)
        outdated, missing = _differences(project_id, wanted, rows)
        if outdated or missing:
            # The caller shows its own records anew; of a list that lost or gained others nobody else would tell.
            shown = arrived | left if with_neighbours else set()
            out = set(outdated)
            ends = [(row.source, row.target) for row in missing]
            ends += [(row.source, row.target) for row in rows if row.pk in out]
            touched = {source for source, target in ends if not {source, target} & shown}
            _write(f"similarities:{project_id}", holder, outdated, missing, touched)


def _compare(
    project_id: int, arrived: set[str], left: set[str], with_neighbours: bool
) -> tuple[dict[str, Scores], list[_Row]]:
    """The lists as they should be, by source, and the rows that now hold them."""
    block = _Block(project_id)
    here = sorted(arrived & block.row_of.keys())
    named = arrived | left
    cosines = block.cosines(here)
    wanted: dict[str, Scores] = {node_id: {} for node_id in named}
    wanted |= {node_id: block.best(cosines[:, column]) for column, node_id in enumerate(here)}

    if not with_neighbours:
        return wanted, list(_rows(project_id, source__in=named))
    entering = _entering(block, here, cosines)
    touched = {row.source for row in _rows(project_id, target__in=named)} | entering.keys()
    rows = list(_rows(project_id, source__in=named | touched))
    lists: dict[str, dict[str, float]] = defaultdict(dict)
    for row in rows:
        lists[row.source][row.target] = row.score
    column_of = {node_id: column for column, node_id in enumerate(here)}
    unsure = []
    for source in touched - named:
        old = lists[source]
        new = {target: score for target, score in old.items() if target not in named}
        at = block.row_of.get(source)
        candidates = entering.get(source, set()) | (old.keys() & column_of.keys())
        if at is not None:
            scores = {target: float(cosines[at, column_of[target]]) for target in candidates}
            new |= {target: score for target, score in scores.items() if score >= LEAST_COSINE}
        best = dict(sorted(new.items(), key=lambda item: (-item[1], item[0]))[:KEPT])
        # A full list hides what is no better than its worst: where that may count now, ask the vectors.
        hidden = min(old.values()) if len(old) >= KEPT else -1.0
        if at is not None and hidden >= 0 and (len(best) < KEPT or min(best.values()) < hidden):
            unsure.append(source)
        wanted[source] = best
    for some in _chunks(unsure, ROWS_A_PRODUCT):
        product = block.cosines(some)
        wanted |= {source: block.best(product[:, column]) for column, source in enumerate(some)}
    return wanted, rows


def _entering(block: _Block, here: Sequence[str], cosines: Matrix) -> dict[str, set[str]]:
    """Who may newly belong into whose list: near enough, and the list not full of better ones."""
    skip = set(here)
    pairs: dict[str, list[tuple[str, float]]] = defaultdict(list)
    rows, columns = np.nonzero(cosines >= np.float32(LEAST_COSINE))
    for row, column in zip(rows.tolist(), columns.tolist(), strict=True):
        if block.node_ids[row] not in skip:
            pairs[block.node_ids[row]].append((here[column], float(cosines[row, column])))
    worst: dict[str, float] = {}
    for some in _chunks(list(pairs)):
        lists = Similarity.objects.order_by().filter(source__in=some).values("source")
        full = lists.annotate(count=Count("id"), least=Min("score")).filter(count__gte=KEPT)
        worst.update(full.values_list("source", "least"))
    entering: dict[str, set[str]] = {}
    for source, near in pairs.items():
        allowed = {target for target, score in near if score >= worst.get(source, -1.0)}
        if allowed:
            entering[source] = allowed
    return entering


def _rows(project_id: int, **condition: Iterable[str]) -> Iterator[_Row]:
    ((lookup, node_ids),) = condition.items()
    rows = Similarity.objects.order_by().filter(project_id=project_id)
    for some in _chunks(sorted(node_ids)):
        for row in rows.filter(**{lookup: some}).values_list("id", "source", "target", "score"):
            yield _Row(*row)


def _differences(
    project_id: int, wanted: Mapping[str, Scores], rows: Iterable[_Row]
) -> tuple[list[int], list[Similarity]]:
    """Ids of rows that are not wanted as they are, and rows that are wanted and not there."""
    missing = {source: dict(scores) for source, scores in wanted.items()}
    outdated = []
    for row in rows:
        score = missing[row.source].get(row.target)
        if score is not None and abs(score - row.score) <= SAME:
            del missing[row.source][row.target]
        else:
            outdated.append(row.pk)
    made = [
        Similarity(project_id=project_id, source=source, target=target, score=score)
        for source, scores in sorted(missing.items())
        for target, score in scores.items()
    ]
    return outdated, made


@transactional
def _write(
    lease: str, holder: str, outdated: list[int], missing: list[Similarity], touched: set[str]
) -> None:
    if not is_held(lease, holder):
        raise LeaseBusy(lease)
    rows: Any = Similarity.objects
    for some in _chunks(outdated):
        rows.filter(pk__in=some).delete()
    rows.bulk_create(missing, batch_size=IDS_A_QUERY)
    if settings.GRAPH_URL:
        for some in _chunks(sorted(touched)):
            marks.want_projected(some)


def _chunks(items: Sequence[Any], size: int = IDS_A_QUERY) -> Iterator[Sequence[Any]]:
    for start in range(0, len(items), size):
        yield items[start : start + size]
