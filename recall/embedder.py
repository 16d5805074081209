"""Brings the embeddings of records up to date: part 0 is the record vector, parts 1, 2, … are passages of its body.

Each part carries a hash of what it was made from: an unchanged part is neither encoded again nor rewritten, and
equal texts are encoded once.
"""

from __future__ import annotations

import hashlib
import math
import re
from collections.abc import Callable, Collection, Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from typing import Any

import numpy as np
from django.db import IntegrityError

from database.transactions import transactional
from recall.encoders import Encoder
from recall.encoders.base import unit_length
from recall.models import Embedding
from recall.passages import RECORD_PART, record_text, split
from records.kinds import kind_of
from records.models import Record

# Texts of one call of the encoder. Between two calls the caller may prolong what it holds.
TEXTS_A_CALL = 64
# A 1 MiB record has a thousand passages: it is worked on apart, so that the others need not wait for it.
TEXTS_A_PORTION = 192
CHARACTERS_A_PLAN = 400_000
INSERTS_A_QUERY = 200
TRIES = 3

_FIRST_HEADING = re.compile(r"\A#{1,6} [^\n]*\n")


@dataclass(frozen=True, slots=True)
class Part:
    """One vector that a record should have. `given` is a vector that came with the row; else `text` is encoded."""

    part: int
    start: int
    end: int
    content_hash: str
    text: str = ""
    given: bytes | None = None


@dataclass
class Plan:
    """What one record should have, and what of it is not stored yet."""

    record: Record
    parts: list[Part]
    stored: dict[int, Embedding] = field(default_factory=dict)

    @property
    def stale(self) -> list[Embedding]:
        wanted = {part.part: part for part in self.parts}
        return [row for number, row in self.stored.items() if not self._is_current(row, wanted.get(number))]

    @property
    def missing(self) -> list[Part]:
        return [part for part in self.parts if not self._is_current(self.stored.get(part.part), part)]

    def _is_current(self, row: Embedding | None, part: Part | None) -> bool:
        return (
            row is not None
            and part is not None
            and (row.content_hash, row.start, row.end, row.project_id)
            == (part.content_hash, part.start, part.end, self.record.project_id)
        )


def plan(records: Sequence[Record], encoder: Encoder) -> list[Plan]:
    """The parts each record should have, beside those it has: one query for all."""
    plans = [Plan(record, _parts_of(record, encoder)) for record in records]
    by_node = {made.record.node_id: made for made in plans}
    # Only hashes: of a thousand stored passages most are current, and their vectors need not travel.
    rows = Embedding.objects.filter(node_id__in=by_node, model=encoder.name).defer("vector")
    for row in rows:
        by_node[row.node_id].stored[row.part] = row
    return plans


def by_size(records: Sequence[Record]) -> Iterator[list[Record]]:
    """The records in groups of so many characters: cutting a long text into passages takes a second a MiB."""
    group: list[Record] = []
    characters = 0
    for record in records:
        more = len(kind_of(record).body_of(record))
        if group and characters + more > CHARACTERS_A_PLAN:
            yield group
            group, characters = [], 0
        group.append(record)
        characters += more
    if group:
        yield group


def portions(plans: Sequence[Plan]) -> Iterator[list[Plan]]:
    """The plans in portions of so many texts to encode; a record is never parted."""
    portion: list[Plan] = []
    texts = 0
    for made in plans:
        more = len(made.missing)
        if portion and texts + more > TEXTS_A_PORTION:
            yield portion
            portion, texts = [], 0
        portion.append(made)
        texts += more
    if portion:
        yield portion


def embed(
    plans: Sequence[Plan],
    encoder: Encoder,
    *,
    may_write: Callable[[Collection[str]], set[str]] | None = None,
    between_calls: Callable[[], None] | None = None,
) -> set[str]:
    """Encode what is missing and store it in one short transaction. Returns the node ids that are now up to date.

    `may_write` is asked inside that transaction which of the node ids are still the caller's to write; its locks
    hold until it ends. Nothing is locked while the encoder runs. Raises EncoderUnavailable.
    """
    vectors = _vectors_for(plans, encoder, between_calls)
    for attempt in range(TRIES):
        try:
            return _store(plans, vectors, encoder.name, may_write)
        except IntegrityError:  # another writer stored the same part meanwhile: compare again
            if attempt == TRIES - 1:
                raise
            plans = plan([made.record for made in plans], encoder)
            vectors = _vectors_for(plans, encoder, between_calls)
    raise AssertionError("unreachable")


def forget(node_ids: Collection[str]) -> None:
    """The records are gone: so are their vectors, of every model."""
    Embedding.objects.filter(node_id__in=list(node_ids)).delete()


def _parts_of(record: Record, encoder: Encoder) -> list[Part]:
    kind = kind_of(record)
    whole = record_text(record.heading, kind.summary_of(record))
    given = _given_vector(kind.vector_of(record), encoder)
    if given is not None:
        parts = [Part(RECORD_PART, 0, 0, hashlib.sha256(b"given\0" + given).hexdigest(), given=given)]
    else:
        parts = [Part(RECORD_PART, 0, 0, content_hash_of(whole), whole)]
    body = kind.body_of(record)
    passages = split(body, record.heading)
    summary = kind.summary_of(record).strip()
    # Agents mostly write a title and one short text: its only passage says what the record says, and is encoded with it.
    is_short = len(passages) == 1 and whole.endswith(summary)
    says_the_same = is_short and summary in (body.strip(), _FIRST_HEADING.sub("", body).strip())
    for passage in passages:
        text = whole if says_the_same else passage.text
        parts.append(Part(passage.part, passage.start, passage.end, content_hash_of(text), text))
    return parts


def content_hash_of(text: str) -> str:
    """What a part says of the text it was made from."""
    return hashlib.sha256(text.encode("utf-8", "surrogatepass")).hexdigest()


def _given_vector(given: tuple[Any, str | None] | None, encoder: Encoder) -> bytes | None:
    """The vector that came with the row, at unit length; None unless it is one of the configured model's space."""
    if given is None:
        return None
    numbers, model = given
    if model and model.removeprefix("sentence-transformers/") != encoder.name:
        return None
    if not isinstance(numbers, list | tuple) or len(numbers) != encoder.dimension:
        return None
    if not all(isinstance(number, int | float) and not isinstance(number, bool) for number in numbers):
        return None
    try:
        vector = np.array(numbers, dtype=np.float64)
    except OverflowError:  # an integer of more digits than a float has
        return None
    length = float(np.linalg.norm(vector))
    if not math.isfinite(length) or length < 1e-12:
        return None
    return bytes(unit_length((vector / length)[None, :]).astype("<f4").tobytes())


def _vectors_for(
    plans: Sequence[Plan], encoder: Encoder, between_calls: Callable[[], None] | None
) -> dict[str, bytes]:
    """Vector bytes by content hash, for every missing part: encoded once, or taken from another part that has it."""
    missing = [part for made in plans for part in made.missing]
    vectors = {part.content_hash: part.given for part in missing if part.given is not None}
    vectors |= _moved(plans, missing)
    texts = {part.content_hash: part.text for part in missing if part.content_hash not in vectors}
    hashes = list(texts)
    for start in range(0, len(hashes), TEXTS_A_CALL):
        if start and between_calls is not None:
            between_calls()
        some = hashes[start : start + TEXTS_A_CALL]
        rows = encoder.encode([texts[one] for one in some]).astype("<f4")
        vectors |= {one: row.tobytes() for one, row in zip(some, rows, strict=True)}
    return vectors


def _moved(plans: Sequence[Plan], missing: Sequence[Part]) -> dict[str, bytes]:
    """Passages whose text stays while its place changes keep their vector."""
    wanted = {part.content_hash for part in missing}
    rows = [row.pk for made in plans for row in made.stored.values() if row.content_hash in wanted]
    if not rows:
        return {}
    kept = Embedding.objects.filter(pk__in=rows).values_list("content_hash", "vector")
    return {content_hash: bytes(vector) for content_hash, vector in kept}


@transactional
def _store(
    plans: Sequence[Plan],
    vectors: Mapping[str, bytes],
    model: str,
    may_write: Callable[[Collection[str]], set[str]] | None,
) -> set[str]:
    node_ids = {made.record.node_id for made in plans}
    ours = node_ids if may_write is None else may_write(node_ids)
    writable = [made for made in plans if made.record.node_id in ours]
    stale = [row.pk for made in writable for row in made.stale]
    if stale:
        Embedding.objects.filter(pk__in=stale).delete()
    Embedding.objects.bulk_create(
        [
            Embedding(
                node_id=made.record.node_id,
                kind=kind_of(made.record).name,
                project_id=made.record.project_id,
                part=part.part,
                start=part.start,
                end=part.end,
                model=model,
                content_hash=part.content_hash,
                vector=vectors[part.content_hash],
            )
            for made in writable
            for part in made.missing
        ],
        batch_size=INSERTS_A_QUERY,
    )
    return ours
