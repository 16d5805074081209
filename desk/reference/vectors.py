"""The vectors of the reference load, and the lists of like records that follow from them.

Real ones come from the encoder, of the record's own text. The others are synthetic: groups of directions around
common themes. Their rows say so in `content_hash`, and the embedder replaces them by real ones when it next sees their
record.
"""

from __future__ import annotations

import hashlib
from collections.abc import Callable, Iterator, Sequence
from pathlib import Path
from typing import Any

import numpy as np
from numpy.typing import NDArray

from desk.reference.layout import Layout
from recall.encoders import Encoder
from recall.similar import KEPT, LEAST_COSINE
from recall.topk import DECIMALS, Matrix

SYNTHETIC = "synthetic-"
THEMES = 40
# Directions of two groups of a theme have a cosine of about this: far below what counts as like.
THEME_COSINE = 0.25
PASSAGE_NOISE = 0.7
TEXTS_A_CALL = 64
CALLS_A_SAVE = 10
ROWS_A_PRODUCT = 1024
# Groups are small, so lists can be found group by group; up to this many records all are compared anyhow.
COMPARED_WHOLE = 4000

Likeness = tuple[int, int, float]


def synthetic_hash(node_id: str, part: int) -> str:
    return SYNTHETIC + hashlib.sha256(f"{node_id}/{part}".encode()).hexdigest()[: 64 - len(SYNTHETIC)]


def unit(rows: Matrix) -> Matrix:
    rows /= np.linalg.norm(rows, axis=1, keepdims=True)
    return rows


def synthetic_vectors(layout: Layout, dimension: int) -> Matrix:
    """One vector a record, by place."""
    rng = np.random.default_rng([layout.seed, 2])
    themes = unit(rng.standard_normal((THEMES, dimension), dtype=np.float32))
    topics = int(layout.topic.max()) + 1
    own = unit(rng.standard_normal((topics, dimension), dtype=np.float32))
    centres = unit(
        THEME_COSINE**0.5 * themes[rng.integers(0, THEMES, topics)] + (1 - THEME_COSINE) ** 0.5 * own
    )
    vectors = np.empty((len(layout.topic), dimension), dtype=np.float32)
    for start in range(0, len(vectors), 20_000):
        topic = layout.topic[start : start + 20_000]
        away = unit(rng.standard_normal((len(topic), dimension), dtype=np.float32))
        away *= rng.uniform(0.3, 0.9, size=(len(topic), 1)).astype(np.float32)
        vectors[start : start + 20_000] = unit(centres[topic] + away)
    return vectors


def encode_texts(
    texts: Sequence[str], encoder: Encoder, cache: Path | None, told: Callable[[int], None]
) -> Matrix:
    """The encoder's vectors; those that `cache` (an .npz file) holds already are not made again."""
    keys = [
        hashlib.sha256(f"{encoder.name}\0{text}".encode("utf-8", "surrogatepass")).hexdigest()
        for text in texts
    ]
    known: dict[str, Any] = {}
    if cache is not None and cache.exists():
        with np.load(cache, allow_pickle=False) as file:
            known = dict(zip(file["keys"].tolist(), file["vectors"], strict=True))
    missing = [at for at, key in enumerate(keys) if key not in known]
    for start in range(0, len(missing), TEXTS_A_CALL):
        some = missing[start : start + TEXTS_A_CALL]
        rows = encoder.encode([texts[at] for at in some])
        known |= {keys[at]: row for at, row in zip(some, rows, strict=True)}
        told(len(keys) - len(missing) + start + len(some))
        is_last = start + TEXTS_A_CALL >= len(missing)
        if cache is not None and (is_last or start // TEXTS_A_CALL % CALLS_A_SAVE == CALLS_A_SAVE - 1):
            cache.parent.mkdir(parents=True, exist_ok=True)
            np.savez(cache, keys=np.array(list(known)), vectors=np.stack(list(known.values())))
    vectors: Matrix = np.stack([known[key] for key in keys]).astype(np.float32)
    return vectors


def passage_vectors(rng: np.random.Generator, vector: NDArray[np.float32], count: int) -> Matrix:
    """Directions near the record's own."""
    away = rng.standard_normal((count, len(vector)), dtype=np.float32) * np.float32(
        PASSAGE_NOISE / len(vector) ** 0.5
    )
    return unit(away + vector)


def likenesses(layout: Layout, vectors: Matrix, node_ids: Sequence[str]) -> Iterator[Likeness]:
    """(source, target, cosine) places of every list that the desk keeps, project after project.

    Exactly those that `recall.similar` keeps. Groups of synthetic vectors lie so far apart that none is like one of
    another group; real ones are compared with all real ones of their project.
    """
    is_real = layout.topic < layout.encoded_topics
    for project in range(layout.projects):
        here = np.flatnonzero(layout.project == project)
        # The order in which the desk breaks ties.
        here = here[
            np.argsort(np.array([node_ids[place] for place in here.tolist()], dtype="S40"), kind="stable")
        ]
        if len(here) <= COMPARED_WHOLE:
            yield from _lists(here, vectors)
            continue
        yield from _lists(here[is_real[here]], vectors)
        rest = here[~is_real[here]]
        rest = rest[np.argsort(layout.topic[rest], kind="stable")]
        edges = np.flatnonzero(np.diff(layout.topic[rest])) + 1
        for group in np.split(rest, edges):
            yield from _lists(group, vectors)


def _lists(places: NDArray[np.int64], vectors: Matrix) -> Iterator[Likeness]:
    block = vectors[places]
    for start in range(0, len(places), ROWS_A_PRODUCT):
        cosines = np.round(block[start : start + ROWS_A_PRODUCT] @ block.T, DECIMALS)
        for row in range(len(cosines)):
            scores = cosines[row]
            scores[start + row] = -1.0
            near = np.flatnonzero(scores >= np.float32(LEAST_COSINE))
            near = near[np.lexsort((near, -scores[near]))][:KEPT]
            source = int(places[start + row])
            for at in near:
                yield source, int(places[at]), min(1.0, float(scores[at]))
