"""Exact nearest vectors by cosine, in memory: one matrix product over a project's rows."""

from __future__ import annotations

import os
import threading
from bisect import bisect_left
from collections.abc import Collection, Iterable, Sequence
from dataclasses import dataclass
from itertools import pairwise
from pathlib import Path
from typing import NamedTuple

import numpy as np
from numpy.typing import NDArray

Matrix = NDArray[np.float32]

# Cosines that agree to six places are one value: the processor's own rounding depends on where a row lies, and equal
# vectors must come out in the order of their ids.
DECIMALS = 6


class Vector(NamedTuple):
    """One stored vector: float32 bytes (384 x 4) or an array. `part` tells passages of one record apart."""

    node_id: str
    project_id: int
    vector: bytes | Matrix
    part: int = 0


class Hit(NamedTuple):
    """A record, its best cosine in [-1, 1], and the part (passage) that has it."""

    node_id: str
    score: float
    part: int


@dataclass(frozen=True)
class _Project:
    """A project's rows ordered by (node_id, part). Never changed, only replaced: readers need no lock."""

    node_ids: tuple[str, ...]
    kinds: NDArray[np.str_]
    first_rows: NDArray[np.int64]
    parts: NDArray[np.int64]
    vectors: Matrix


class VectorSet:
    """Vectors of many projects, each project's contiguous. Reads are lock-free, writes cost one project's size.

    `rejected` names the rows that were left out and why (wrong length, not finite, zero): a record of which another
    vector was put before keeps that one. Their owner has to hear of it.
    """

    def __init__(self, dimension: int = 384) -> None:
        self.dimension = dimension
        self.rejected: dict[str, str] = {}
        self._projects: dict[int, _Project] = {}
        self._writing = threading.Lock()

    @classmethod
    def build(cls, rows: Iterable[Vector | tuple[str, int, bytes]], dimension: int = 384) -> VectorSet:
        """The set of these (node_id, project_id, vector[, part]); the last of a repeated (node_id, part) wins."""
        made = cls(dimension)
        made.put(rows)
        return made

    def __len__(self) -> int:
        """Vectors, passages counted one by one."""
        return sum(len(project.parts) for project in self._projects.values())

    def projects(self) -> list[int]:
        return sorted(self._projects)

    def rows_of(self, project_id: int) -> tuple[Sequence[str], Matrix]:
        """A project's node ids, row by row in order (one a part), and their vectors. Not to be written to."""
        project = self._projects.get(project_id)
        if project is None:
            return (), np.zeros((0, self.dimension), dtype=np.float32)
        one_each = len(project.node_ids) == len(project.parts)
        return project.node_ids if one_each else _ids_by_row(project), project.vectors

    def put(self, rows: Iterable[Vector | tuple[str, int, bytes]]) -> None:
        """Add records or replace them with all their parts: parts of a named record that are not given are gone."""
        by_project: dict[int, dict[str, dict[int, Matrix]]] = {}
        for row in rows:
            given = Vector(*row)
            vector, fault = self._read(given.vector)
            if vector is None:
                self.rejected[given.node_id] = fault
                continue
            self.rejected.pop(given.node_id, None)
            by_project.setdefault(given.project_id, {}).setdefault(given.node_id, {})[given.part] = vector
        with self._writing:
            for project_id, records in by_project.items():
                self._replace(project_id, frozenset(records), records)

    def remove(self, project_id: int, node_ids: Collection[str]) -> None:
        """Take records out of a project, with all their parts; unknown ids are no error."""
        with self._writing:
            if project_id in self._projects:
                self._replace(project_id, frozenset(node_ids), {})

    def top(
        self,
        query: bytes | Matrix | Sequence[float],
        project_id: int | Collection[int],
        k: int,
        exclude: Collection[str] = (),
        kinds: Collection[str] | None = None,
        at_least: float = -1.0,
    ) -> list[Hit]:
        """The k records nearest to the query, by the best of their parts, highest cosine first, ties by node_id.

        `kinds` are node id prefixes (`dec`, `pit`); None means all. Exact: every row is compared. Raises ValueError
        for a query of the wrong length or without direction.
        """
        vector, fault = self._read(query)
        if vector is None:
            raise ValueError(f"The query vector has {fault}")
        project_ids = [project_id] if isinstance(project_id, int) else sorted(set(project_id))
        hits: list[Hit] = []
        for one in project_ids:
            project = self._projects.get(one)
            if project is not None and k > 0:
                hits.extend(_top_of(project, vector, k, exclude, kinds, at_least))
        if len(project_ids) > 1:
            hits.sort(key=lambda hit: (-hit.score, hit.node_id))
        return hits[:k]

    def compare(self, query: bytes | Matrix | Sequence[float], project_id: int) -> Comparison:
        """Every vector of a project compared with the query, once, for several questions of the result."""
        vector, fault = self._read(query)
        if vector is None:
            raise ValueError(f"The query vector has {fault}")
        none = np.zeros((0, self.dimension), dtype=np.float32)
        return Comparison(self._projects.get(project_id) or _project((), _NO_PARTS, none), vector)

    def save(self, directory: Path) -> None:
        """Write the set as `vectors.npy` and `rows.npz`, for `load`. A reader sees the old pair or the new."""
        projects = dict(sorted(self._projects.items()))
        directory.mkdir(parents=True, exist_ok=True)
        matrices = [project.vectors for project in projects.values()]
        owners = np.array([key for key, held in projects.items() for _ in held.parts], dtype=np.int64)
        node_ids = np.array([key for held in projects.values() for key in _ids_by_row(held)], dtype="S40")
        parts = np.concatenate([held.parts for held in projects.values()] or [np.zeros(0, dtype=np.int64)])
        matrix = np.concatenate(matrices) if matrices else np.zeros((0, self.dimension), dtype=np.float32)
        with open(directory / "vectors.new", "wb") as file:
            np.save(file, matrix)
        with open(directory / "rows.new", "wb") as file:
            np.savez(file, projects=owners, node_ids=node_ids, parts=parts)
        os.replace(directory / "vectors.new", directory / "vectors.npy")
        os.replace(directory / "rows.new", directory / "rows.npz")

    @classmethod
    def load(cls, directory: Path) -> VectorSet:
        """A saved set, its vectors memory-mapped: processes share them, and pages are read when first compared."""
        matrix = np.load(directory / "vectors.npy", mmap_mode="r", allow_pickle=False)
        with np.load(directory / "rows.npz", allow_pickle=False) as rows:
            owners, parts = rows["projects"], rows["parts"]
            node_ids = [node_id.decode("ascii") for node_id in rows["node_ids"]]
        if matrix.dtype != np.float32 or not len(matrix) == len(owners) == len(parts) == len(node_ids):
            raise ValueError(
                f"{directory}: vectors.npy and rows.npz do not belong together; save the set again"
            )
        made = cls(matrix.shape[1])
        edges = np.flatnonzero(np.diff(owners, prepend=-1, append=-1))
        for start, end in pairwise(edges):
            made._projects[int(owners[start])] = _project(
                node_ids[start:end], np.asarray(parts[start:end], dtype=np.int64), matrix[start:end]
            )
        return made

    def _read(self, given: bytes | Matrix | Sequence[float]) -> tuple[Matrix | None, str]:
        """The vector at length 1, or None and what is wrong with it."""
        if isinstance(given, bytes | bytearray | memoryview):
            if len(given) != 4 * self.dimension:
                return None, f"{len(given)} bytes, not {4 * self.dimension}"
            vector = np.frombuffer(given, dtype="<f4").astype(np.float32)
        else:
            vector = np.asarray(given, dtype=np.float32)
        if vector.shape != (self.dimension,):
            return None, f"the shape {vector.shape}, not ({self.dimension},)"
        length = float(np.sqrt(np.dot(vector.astype(np.float64), vector)))
        if not np.isfinite(length) or length < 1e-12:
            return None, "no direction: it is zero or not finite"
        # A vector that is already at unit length keeps its bits.
        return (vector if abs(length - 1) < 1e-6 else (vector / length).astype(np.float32)), ""

    def _replace(self, project_id: int, gone: frozenset[str], records: dict[str, dict[int, Matrix]]) -> None:
        """The project's rows without those of `gone`, and with the new ones, as one new block."""
        old = self._projects.get(project_id)
        ids: list[str] = []
        parts: list[int] = []
        kept = np.zeros((0, self.dimension), dtype=np.float32)
        if old is not None:
            old_ids = _ids_by_row(old)
            stays = np.array([node_id not in gone for node_id in old_ids], dtype=bool)
            ids = [node_id for node_id, stay in zip(old_ids, stays, strict=True) if stay]
            parts = old.parts[stays].tolist()
            kept = old.vectors[stays]
        new = [vector for parts_of in records.values() for vector in parts_of.values()]
        for node_id, parts_of in records.items():
            ids.extend([node_id] * len(parts_of))
            parts.extend(parts_of)
        if not ids:
            self._projects.pop(project_id, None)
            return
        order = sorted(range(len(ids)), key=lambda row: (ids[row], parts[row]))
        matrix = np.concatenate([kept, np.stack(new)]) if new else kept
        self._projects[project_id] = _project(
            [ids[row] for row in order],
            np.array(parts, dtype=np.int64)[order],
            np.ascontiguousarray(matrix[order]),
        )


class Comparison:
    """The cosines of one query with all vectors of a project."""

    def __init__(self, project: _Project, query: Matrix) -> None:
        self._project = project
        self._by_row = np.round(project.vectors @ query, DECIMALS)

    def top(self, k: int, kinds: Collection[str] | None = None, at_least: float = -1.0) -> list[Hit]:
        """As `VectorSet.top`."""
        return _best(self._project, self._by_row, k, (), kinds, at_least) if k > 0 else []

    def vector_of(self, node_id: str) -> Matrix | None:
        """The first vector of a record, of unit length; None where it has none."""
        at = _place(self._project, node_id)
        return None if at < 0 else self._project.vectors[self._project.first_rows[at]]

    def parts_of(self, node_id: str) -> list[tuple[int, float]]:
        """(part, cosine) of each vector of a record, in order."""
        at = _place(self._project, node_id)
        if at < 0:
            return []
        first = int(self._project.first_rows[at])
        ends = self._project.first_rows
        end = int(ends[at + 1]) if at + 1 < len(ends) else len(self._by_row)
        return [(int(self._project.parts[row]), float(self._by_row[row])) for row in range(first, end)]


_NO_PARTS: NDArray[np.int64] = np.zeros(0, dtype=np.int64)


def _place(project: _Project, node_id: str) -> int:
    """Which of the project's records it is; -1 where it is none."""
    at = bisect_left(project.node_ids, node_id)
    return at if at < len(project.node_ids) and project.node_ids[at] == node_id else -1


def _project(row_ids: Sequence[str], parts: NDArray[np.int64], vectors: Matrix) -> _Project:
    first_rows = [row for row, node_id in enumerate(row_ids) if row == 0 or row_ids[row - 1] != node_id]
    node_ids = tuple(row_ids[row] for row in first_rows)
    kinds = np.array([node_id.partition("_")[0] for node_id in node_ids], dtype=np.str_)
    return _Project(node_ids, kinds, np.array(first_rows, dtype=np.int64), parts, vectors)


def _ids_by_row(project: _Project) -> list[str]:
    repeats = np.diff(project.first_rows, append=len(project.parts))
    return [node_id for node_id, rows in zip(project.node_ids, repeats, strict=True) for _ in range(rows)]


def _top_of(
    project: _Project,
    query: Matrix,
    k: int,
    exclude: Collection[str],
    kinds: Collection[str] | None,
    at_least: float,
) -> list[Hit]:
    return _best(project, np.round(project.vectors @ query, DECIMALS), k, exclude, kinds, at_least)


def _best(
    project: _Project,
    by_row: Matrix,
    k: int,
    exclude: Collection[str],
    kinds: Collection[str] | None,
    at_least: float,
) -> list[Hit]:
    if not project.node_ids:
        return []
    one_each = len(project.node_ids) == len(project.parts)
    scores = by_row if one_each else np.maximum.reduceat(by_row, project.first_rows)
    wanted = scores >= np.float32(at_least)
    if kinds is not None:
        wanted &= np.isin(project.kinds, list(kinds))
    candidates = np.flatnonzero(wanted)
    if len(candidates) > k + len(exclude):
        # The least score that can still be among the k, ties included; they are ordered below.
        enough = k + len(exclude)
        least = np.partition(scores[candidates], len(candidates) - enough)[len(candidates) - enough]
        candidates = candidates[scores[candidates] >= least]
    candidates = candidates[np.lexsort((candidates, -scores[candidates]))]
    left_out = set(exclude)
    hits: list[Hit] = []
    for at in candidates:
        node_id = project.node_ids[at]
        if node_id not in left_out:
            first = int(project.first_rows[at])
            end = int(project.first_rows[at + 1]) if at + 1 < len(project.first_rows) else len(by_row)
            best = first + int(np.argmax(by_row[first:end]))
            hits.append(Hit(node_id, min(1.0, max(-1.0, float(scores[at]))), int(project.parts[best])))
            if len(hits) == k:
                break
    return hits
