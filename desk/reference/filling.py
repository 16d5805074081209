"""Fills an empty desk with the reference load: rows, history, marks, vectors, relations, in large inserts.

What stands there afterwards is what the verbs and a worker would have left: every version in the history, every mark
settled, every list of like records complete. No person and no agent waits for this, so it goes around the verbs.
"""

from __future__ import annotations

import random
import time
from collections.abc import Callable, Iterable, Iterator, Sequence
from dataclasses import dataclass
from datetime import datetime, timedelta
from pathlib import Path
from typing import Any

from django.conf import settings
from django.db import connection, models, transaction
from django.utils import timezone

from desk.reference import vectors, words
from desk.reference.bulk import insert_rows
from desk.reference.embeddings import store_embeddings
from desk.reference.history import revisions_of
from desk.reference.layout import PREFIXES, Layout
from desk.reference.records import Made, Maker
from desk.reference.relations import PlannedLinks, plan_links
from projects.models import Project
from recall.models import Embedding, Similarity
from recall.passages import record_text
from recall.topk import Matrix
from recall.vectors import configured_encoder
from records.actor import Channel, SourceKind
from records.guard import writing
from records.images import seen_digest_of
from records.kinds import Kind, kind_named
from records.models import Link, ProjectionMark, Read, RecordTag, Revision, SweepWatermark
from records.validation import tag_words
from runs.payload import payload_values_of

RECORDS_A_CHUNK = 250
ROWS_AN_INSERT = 50  # of records with their texts
READS_A_NODE = 2
MARK_COLUMNS = (
    "node_id", "kind", "project_id", "wanted_version", "embedded_version", "projected_version", "wanted_at",
    "next_try_at", "seen_digest", "seen_changed_at", "gone", "attempts", "dead",
)  # fmt: skip
LINK_COLUMNS = ("project_id", "relation", "source", "target", "source_kind", "source_name", "created_at")
EVENT_COLUMNS = (
    "node_id", "kind", "project_id", "verb", "channel", "actor_name", "session", "run", "request_id", "reason", "changed",
    "detail", "created_at",
)  # fmt: skip
READ_COLUMNS = ("node_id", "project_id", "agent_name", "session", "run", "door", "request_id", "read_at")
DOORS = ["api", "mcp", "api similar", "api list"]


@dataclass
class Filled:
    """What was made, counted: relations by their name, vectors by where they came from."""

    projects: int
    records: dict[str, int]
    relations: dict[str, int]
    encoded: int
    synthetic: int
    passages: int


class Filling:
    def __init__(
        self,
        layout: Layout,
        *,
        relations: int,
        until: datetime,
        pending: bool,
        cache: Path | None,
        told: Callable[[str], None],
    ) -> None:
        self.layout, self.relations, self.until, self.pending = layout, relations, until, pending
        self.cache, self.told = cache, told
        self._began = time.monotonic()
        self.maker = Maker(layout, until, {kind: _first_key(kind_named(kind)) for kind in layout.counts})
        self.node_ids = self.maker.node_ids()
        self.passages = 0

    def fill(self) -> Filled:
        encoded = 0 if self.pending else len(self.layout.encoded)
        matrix = None if self.pending else self._vectors()
        alike = [] if matrix is None else list(vectors.likenesses(self.layout, matrix, self.node_ids))
        pairs = self._pairs_in_graph(alike)
        outcomes = self.layout.counts["outcome"]
        links = max(self.layout.nodes // 10, self.relations - pairs - outcomes)
        planned = plan_links(self.layout, links, self.node_ids)
        self.maker.superseded = planned.superseded
        self._say(f"{pairs:,} likenesses and {len(planned.links):,} links planned")
        self.maker.projects = self._projects()
        for kind in self.layout.counts:
            self._kind(kind_named(kind), matrix)
        self._links(planned)
        self._similarities(alike)
        self._reads()
        self._watermarks()
        self._analyze()
        return Filled(
            projects=self.layout.projects,
            records=dict(self.layout.counts),
            relations={"SIMILAR_TO": pairs, "LEADS_TO": outcomes, "links": len(planned.links)},
            encoded=encoded,
            synthetic=0 if self.pending else len(self.node_ids) - encoded,
            passages=self.passages,
        )

    def _say(self, line: str) -> None:
        self.told(f"{time.monotonic() - self._began:6.0f} s  {line}")

    def _vectors(self) -> Matrix:
        encoder = configured_encoder()
        matrix = vectors.synthetic_vectors(self.layout, encoder.dimension)
        places = self.layout.encoded
        if len(places):
            texts = [self._record_text(int(place)) for place in places]
            said = [0.0]

            def told(done: int) -> None:
                if time.monotonic() - said[0] > 10 or done == len(texts):
                    said[0] = time.monotonic()
                    self._say(f"{done:,} of {len(texts):,} texts encoded")

            matrix[places] = vectors.encode_texts(texts, encoder, self.cache, told)
        return matrix

    def _record_text(self, place: int) -> str:
        name = next(kind for kind in self.layout.counts if place in self.layout.places_of(kind))
        record = self.maker.make(name, place).record
        return record_text(record.heading, kind_named(name).summary_of(record))

    def _pairs_in_graph(self, alike: Iterable[vectors.Likeness]) -> int:
        """Kept in both directions, a likeness is one relation of the graph; memories have none there."""
        memories = self.layout.places_of("memory").start
        pairs = {(min(one, other), max(one, other)) for one, other, _ in alike}
        return sum(1 for pair in pairs if max(pair) < memories)

    def _projects(self) -> list[int]:
        taken = set(Project.objects.values_list("slug", flat=True))
        made = []
        for number in range(self.layout.projects):
            name = words.PROJECTS[number % len(words.PROJECTS)]
            turn = number // len(words.PROJECTS)
            slug = f"{name}-{turn + 1}" if turn else name
            while slug in taken:
                slug += "-b"
            taken.add(slug)
            made.append(Project.objects.create(name=slug.replace("-", " ").capitalize(), slug=slug).pk)
        return made

    def _kind(self, kind: Kind, matrix: Matrix | None) -> None:
        places = self.layout.places_of(kind.name)
        said = time.monotonic()
        for start in range(places.start, places.stop, RECORDS_A_CHUNK):
            some = range(start, min(start + RECORDS_A_CHUNK, places.stop))
            made = [self.maker.make(kind.name, place) for place in some]
            with transaction.atomic(), writing():
                self._store(kind, made)
                if matrix is not None:
                    records = [one.record for one in made]
                    self.passages += store_embeddings(self.layout, kind, records, some, matrix)
            if time.monotonic() - said > 10 or some.stop == places.stop:
                said = time.monotonic()
                self._say(f"{some.stop - places.start:,} of {len(places):,} {kind.name} records")

    def _store(self, kind: Kind, made: Sequence[Made]) -> None:
        revisions: list[Revision] = []
        for one in made:
            revisions += revisions_of(one, self.until)
        records = [one.record for one in made]
        _insert(kind.model, records)
        _insert(Revision, revisions)
        extras = [extra for one in made for extra in one.extras]
        if kind.name == "run":
            extras = [value for record in records for value in payload_values_of(record)]
        if extras:
            _insert(type(extras[0]), extras)
        insert_rows(ProjectionMark, MARK_COLUMNS, [self._mark(kind, record) for record in records])
        tags = (
            (record.project_id, record.node_id, kind.name, tag)
            for record in records
            for tag in tag_words(record.tags)
        )
        insert_rows(RecordTag, ("project_id", "node_id", "kind", "tag"), tags)

    def _mark(self, kind: Kind, record: Any) -> tuple[Any, ...]:
        shown = 0 if self.pending else record.version
        in_graph = shown if not settings.GRAPH_URL or kind.graph_label is None else 0
        now = timezone.now()
        return (
            record.node_id, kind.name, record.project_id, record.version, shown, in_graph, now,
            None if in_graph else now, seen_digest_of(record), record.row_changed_at, False, 0, False,
        )  # fmt: skip

    def _links(self, planned: PlannedLinks) -> None:
        rng = random.Random(f"{self.layout.seed} link notes")
        project_of = [self.maker.projects[project] for project in self.layout.project.tolist()]
        kind_of = [kind for kind, count in self.layout.counts.items() for _ in range(count)]
        for some in _chunks(planned.links, RECORDS_A_CHUNK * 10):
            links: list[tuple[Any, ...]] = []
            events: list[tuple[Any, ...]] = []
            for source, relation, target in some:
                ends = (self.node_ids[source], self.node_ids[target])
                project, agent, latest = project_of[source], rng.choice(words.AGENTS), max(source, target)
                when = min(self.until, self.maker.made_at(kind_of[latest], latest) + timedelta(days=1))
                links.append((project, relation.value, *ends, SourceKind.AGENT.value, agent, when))
                detail = {"relation": relation.value, "source": ends[0], "target": ends[1]}
                for end in (source, target):
                    told = (self.node_ids[end], kind_of[end], project, "link", Channel.API.value)
                    events.append((*told, agent, "", "", "", "", [], detail, when))
            with transaction.atomic():
                insert_rows(Link, LINK_COLUMNS, links)
                insert_rows(Revision, EVENT_COLUMNS, events)
        self._say(f"{len(planned.links):,} links")

    def _similarities(self, alike: Sequence[vectors.Likeness]) -> None:
        project_of = [self.maker.projects[project] for project in self.layout.project.tolist()]
        for some in _chunks(alike, RECORDS_A_CHUNK * 40):
            rows = (
                (project_of[one], self.node_ids[one], self.node_ids[other], score)
                for one, other, score in some
            )
            with transaction.atomic():
                insert_rows(Similarity, ("project_id", "source", "target", "score"), rows)
        self._say(f"{len(alike):,} rows of similarities")

    def _reads(self) -> None:
        """The newer a record, the more often it was answered; in the last ninety days."""
        rng = random.Random(f"{self.layout.seed} reads")
        count, total = READS_A_NODE * self.layout.nodes, len(self.node_ids)
        project_of = [self.maker.projects[project] for project in self.layout.project.tolist()]
        for some in _chunks(range(count), RECORDS_A_CHUNK * 40):
            rows = []
            for _ in some:
                place = int(total * rng.random() ** 0.7)
                at = self.until - timedelta(seconds=rng.randrange(90 * 86400))
                session = f"ses-{rng.randrange(10**4)}"
                rows.append(
                    (
                        self.node_ids[place],
                        project_of[place],
                        rng.choice(words.AGENTS),
                        session,
                        "",
                        rng.choice(DOORS),
                        "",
                        at,
                    )
                )
            with transaction.atomic():
                insert_rows(Read, READ_COLUMNS, rows)
        self._say(f"{count:,} reads")

    def _watermarks(self) -> None:
        for kind in self.layout.counts:
            SweepWatermark.objects.update_or_create(kind=kind, defaults={"read_to": self.until})

    def _analyze(self) -> None:
        """The planners' statistics, which a bulk load leaves behind. On MySQL that would end a transaction."""
        if connection.in_atomic_block:
            return
        tables = [kind_named(kind).model._meta.db_table for kind in PREFIXES]
        others: list[type[models.Model]] = [
            Revision,
            Link,
            Similarity,
            Embedding,
            ProjectionMark,
            RecordTag,
            Read,
        ]
        tables += [model._meta.db_table for model in others]
        with connection.cursor() as cursor:
            if connection.vendor == "sqlite":
                cursor.execute("ANALYZE")
            else:
                cursor.execute(f"ANALYZE TABLE {', '.join(map(connection.ops.quote_name, tables))}")
                cursor.fetchall()


def _insert(model: type[models.Model], rows: Sequence[Any], size: int = ROWS_AN_INSERT) -> None:
    if rows:
        model._default_manager.bulk_create(list(rows), batch_size=size)


def _chunks(items: Any, size: int) -> Iterator[Any]:
    for start in range(0, len(items), size):
        yield items[start : start + size]


def _first_key(kind: Kind) -> int:
    """Keys go on after the highest there is; random ones are told apart by their count."""
    rows = kind.model._default_manager
    if not kind.integer_key:
        return rows.count() + 1
    return (rows.aggregate(last=models.Max("pk"))["last"] or 0) + 1
