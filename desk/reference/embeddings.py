"""Stores the vectors of a chunk of generated records: one of the record, and one of each passage."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from typing import Any

import numpy as np

from desk.reference.bulk import insert_rows
from desk.reference.layout import Layout
from desk.reference.vectors import passage_vectors, synthetic_hash
from recall.embedder import content_hash_of
from recall.models import Embedding
from recall.passages import RECORD_PART, record_text
from recall.topk import Matrix
from recall.vectors import configured_encoder
from records.kinds import Kind

PASSAGE_CHARACTERS = 1000
COLUMNS = ("node_id", "kind", "project_id", "model", "part", "start", "end", "content_hash", "vector")


def store_embeddings(
    layout: Layout, kind: Kind, records: Sequence[Any], places: range, matrix: Matrix
) -> int:
    """How many passages there were. A vector of the encoder carries the hash of its text, as the worker would write."""
    name = configured_encoder().name
    rows: list[tuple[Any, ...]] = []
    for record, place in zip(records, places, strict=True):
        node_id = record.node_id
        shared = (node_id, kind.name, record.project_id, name)
        if layout.topic[place] < layout.encoded_topics:
            digest = content_hash_of(record_text(record.heading, kind.summary_of(record)))
        else:
            digest = synthetic_hash(node_id, RECORD_PART)
        rows.append((*shared, RECORD_PART, 0, 0, digest, matrix[place].astype("<f4").tobytes()))
        spans = list(passage_spans(kind.body_of(record)))
        rng = np.random.default_rng([layout.seed, 3, place])
        around = passage_vectors(rng, matrix[place], len(spans)).astype("<f4")
        for part, ((start, end), vector) in enumerate(zip(spans, around, strict=True), start=RECORD_PART + 1):
            rows.append((*shared, part, start, end, synthetic_hash(node_id, part), vector.tobytes()))
    insert_rows(Embedding, COLUMNS, rows)
    return len(rows) - len(records)


def passage_spans(body: str) -> Iterator[tuple[int, int]]:
    """Whole paragraphs up to the size of a passage; the encoder's own cuts come with its own vectors."""
    start = 0
    while start < len(body):
        end = body.rfind("\n\n", start, start + PASSAGE_CHARACTERS)
        end = end if end > start else min(start + PASSAGE_CHARACTERS, len(body))
        yield start, end
        start = end + 2 if body[end : end + 2] == "\n\n" else end
