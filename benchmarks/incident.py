"""The incident view and searches at 50,000 runs and 50,000 memories of them: server time in this process, and statements.

    DATABASE_URL=mysql://desk:desk@127.0.0.1:3399/memory_desk_incident python benchmarks/incident.py

The database (an own one; it must exist) is migrated and filled on the first run, and reused. Each record has one vector,
made in 200 clusters, and the words of 200 topics; each alert is another one, so that its vector is made anew by the real encoder. The
results are in benchmarks/README.md.
"""

from __future__ import annotations

import argparse
import itertools
import json
import logging
import os
import random
import sys
import time
from collections.abc import Sequence
from datetime import timedelta
from pathlib import Path
from typing import Any

sys.path.insert(0, str(Path(__file__).resolve().parent.parent))
os.environ.setdefault("DJANGO_SETTINGS_MODULE", "memory_site.settings")

import django

django.setup()

import numpy as np
from django.conf import settings
from django.core.management import call_command
from django.db import connection
from django.test.utils import CaptureQueriesContext
from django.utils import timezone

from benchmarks.browsing import signed_in
from benchmarks.runs import one_run
from benchmarks.timing import HEADER, measure, row
from decisions.models import Decision
from desk.reference.texts import Topic, Writer
from pitfalls.models import Pitfall
from projects.models import Project
from recall.models import Embedding
from recall.search import search
from recall.vectors import configured_encoder
from recall.words import keep_words
from records.guard import writing
from records.kinds import kind_of
from records.query_language import parse
from runs.models import Memory, Run
from runs.recounting import recount

SLUG = "incident-benchmark"
TOPICS, OTHERS, BATCH = 200, 1_000, 1_000


def fill(count: int) -> Project:
    """Runs, a memory of each, and `OTHERS` pitfalls and decisions: in large inserts, without their history."""
    rng, vectors, now = random.Random(5), np.random.default_rng(5), timezone.now()
    centres = vectors.standard_normal((TOPICS, 384))
    topics = [Topic(5, number) for number in range(TOPICS)]
    project = Project.objects.create(name="Incident benchmark", slug=SLUG)
    for start in range(0, count, BATCH):
        chosen = [rng.randrange(TOPICS) for _ in range(start, min(start + BATCH, count))]
        runs, memories = [], []
        for number, topic in enumerate(chosen, start):
            writer = Writer(rng, topics[topic])
            run = one_run(rng, project, now - timedelta(minutes=10 * number), number)
            run.trigger_payload = writer.payload()
            runs.append(run)
            memories.append(
                Memory(
                    project=project, agent_name=run.agent_name, summary=writer.prose(400), source_run_fk=run
                )
            )
        with writing():
            Run.objects.bulk_create(runs)
            Memory.objects.bulk_create(memories)
        for records in (runs, memories):
            _recallable(records, centres[chosen], vectors)
    for model in (Pitfall, Decision):
        chosen = [rng.randrange(TOPICS) for _ in range(OTHERS)]
        with writing():
            model.objects.bulk_create(
                [_known(model, project, Writer(rng, topics[one]), now) for one in chosen]
            )
        records = list(model.objects.filter(project=project).order_by("pk"))
        _recallable(records, centres[chosen], vectors)
    recount()
    with connection.cursor() as cursor:
        tables = "agent_runs, agent_memory, embeddings, search_texts, run_summaries"
        cursor.execute("ANALYZE" if connection.vendor == "sqlite" else f"ANALYZE TABLE {tables}")
        cursor.fetchall()
    return project


def _known(model: Any, project: Project, writer: Writer, now: Any) -> Any:
    if model is Pitfall:
        return Pitfall(
            project=project, category="network", title=writer.title("pitfall"), description=writer.prose(600)
        )
    return Decision(
        project=project,
        title=writer.title("decision"),
        decision=writer.prose(600),
        decided_at=now,
        sort_at=now,
    )


def _recallable(records: Sequence[Any], centres: Any, vectors: Any) -> None:
    """Each gets its words, and a vector near the centre of its topic."""
    name = configured_encoder().name
    made = centres + 0.8 * vectors.standard_normal(centres.shape)
    made /= np.linalg.norm(made, axis=1, keepdims=True)
    Embedding.objects.bulk_create(
        [
            Embedding(
                node_id=record.node_id, kind=kind_of(record).name, project_id=record.project_id, part=0,
                model=name, content_hash="benchmark", vector=vector.astype("<f4").tobytes(),
            )
            for record, vector in zip(records, made, strict=True)
        ],
        batch_size=500,
    )  # fmt: skip
    keep_words(records)


def main() -> None:
    parser = argparse.ArgumentParser(
        description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter
    )
    parser.add_argument("--runs", type=int, default=50_000)
    parser.add_argument("--times", type=int, default=100)
    options = parser.parse_args()
    logging.disable(logging.WARNING)
    settings.ALLOWED_HOSTS = ["*"]
    call_command("migrate", verbosity=0)
    began = time.monotonic()
    project = Project.objects.filter(slug=SLUG).first() or fill(options.runs)
    print(f"filled or found in {time.monotonic() - began:.0f} s", flush=True)
    client = signed_in()
    rng, numbers = random.Random(int(time.time())), itertools.count()

    def alert(of: str = "") -> str:
        """Another one each time: no vector or answer is kept from before."""
        writer = Writer(rng, Topic(5, rng.randrange(TOPICS)))
        told = {"alert": writer.sentence(), "host": f"db-{next(numbers)}", "signal": writer.prose(200)}
        answer = client.get(
            f"/p/{project.slug}/incident/", {"text": json.dumps(told), **({"agent": of} if of else {})}
        )
        assert answer.status_code == 200
        return answer.content.decode()

    assert alert().count('<li class="incident') == 5
    counts = {kind: model.objects.filter(project=project).count() for kind, model in (("runs", Run), ("memories", Memory))}  # fmt: skip
    print(f"{connection.vendor}, {counts}, encoder {configured_encoder().name}; milliseconds\n\n{HEADER}")
    with CaptureQueriesContext(
        connection,
    ) as asked:
        alert()
    print(row(f"an alert, among all runs ({len(asked)} statements)", measure(alert, options.times)))
    print(row("an alert, among one agent's runs", measure(lambda: alert("dba-bot"), options.times)))
    for words, name in ((1, "one common word"), (3, "three words"), (12, "twelve words")):

        def searched(words: int = words) -> None:
            """The search alone, without its page; the words of another topic each time."""
            prose = Writer(rng, Topic(5, rng.randrange(TOPICS))).prose(300).split()
            text = " ".join(rng.sample(prose, words)) if words > 1 else "service"
            search([project.pk], parse(text))

        print(row(f"search: {name}", measure(searched, options.times)))
    print(
        row(
            "its vector alone",
            measure(
                lambda: configured_encoder().encode([Writer(rng, Topic(5, 1)).prose(250)]), options.times
            ),
        )
    )


if __name__ == "__main__":
    main()
