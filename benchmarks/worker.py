"""How fast records become searchable, and how fast similar ones are found. Needs a migrated, empty database:

DATABASE_URL=… python manage.py migrate && DATABASE_URL=… python benchmarks/worker.py [--records 1000]
"""

import argparse
import random
import re
import resource
import statistics
import sys
import threading
import time
from importlib import metadata
from pathlib import Path

sys.path.insert(0, str(Path(__file__).resolve().parent.parent))

import django

django.setup()

import numpy as np
from django.db import connection
from django.utils import timezone

from benchmarks.timing import percentile
from decisions.models import Decision
from graph.worker import Worker
from graph.worker_thread import due_count
from pitfalls.actions import create_pitfall
from projects.models import Project
from recall.models import Embedding, Similarity
from recall.queries import similar_to, similar_to_text
from recall.similar import rebuild_similarities
from recall.vectors import configured_encoder, forget_vectors
from records.actor import Actor
from records.guard import writing
from records.models import ProjectionMark

ACTOR = Actor.command("benchmark")


def words_of_real_texts():
    texts = []
    for package in ("django", "numpy", "hypothesis"):
        for file in sorted(metadata.distribution(package).files or [], key=str)[:400]:
            if file.suffix == ".py":
                source = Path(str(file.locate())).read_text(errors="replace")
                texts += re.findall(r'"""(.+?)"""', source, re.DOTALL)
    return " ".join(texts).split()


def resident_mb():
    return resource.getrusage(resource.RUSAGE_SELF).ru_maxrss / 1024


def in_milliseconds(read, times):
    took = []
    for at in range(times):
        began = time.perf_counter()
        read(at)
        took.append((time.perf_counter() - began) * 1000)
    return f"p50 {percentile(took, 0.5):.1f} ms, p95 {percentile(took, 0.95):.1f} ms"


def write(project, words, count):
    for _ in range(count):
        start = random.randrange(len(words) - 120)
        create_pitfall(
            actor=ACTOR,
            project=project,
            category="bench",
            title=" ".join(words[start : start + 8])[:200],
            description=" ".join(words[start + 8 : start + 108]),
        )


def throughput(project, words, count):
    began = time.perf_counter()
    write(project, words, count)
    print(f"written: {count / (time.perf_counter() - began):.0f} records/s", flush=True)
    configured_encoder().encode(["warm"])
    worker, began, used = Worker(), time.perf_counter(), time.process_time()
    while due_count():
        worker.work_once()
    took = time.perf_counter() - began
    done = ProjectionMark.objects.filter(projected_version__gte=1).count()
    used = (time.process_time() - used) / count
    print(f"processor time: {used * 1000:.0f} ms a record, so {2 / used:.0f} records/s on two idle cores")
    print(
        f"made searchable: {count / took:.1f} records/s ({count} in {took:.1f} s, {done} marks done)",
        flush=True,
    )
    print(f"similarities: {Similarity.objects.count()}, resident {resident_mb():.0f} MB", flush=True)


def latency(project, words, poll, times=40):
    worker = Worker()
    thread = threading.Thread(target=worker.run, args=(time.sleep, poll))
    thread.start()
    took = []
    for _ in range(times):
        write(project, words, 1)
        began = time.perf_counter()
        while ProjectionMark.objects.filter(next_try_at__lte=timezone.now()).exists():
            time.sleep(0.005)
        took.append(time.perf_counter() - began)
        time.sleep(random.uniform(0, poll))
    worker.stop()
    thread.join()
    print(
        f"from commit to searchable, worker polling every {poll} s: p50 {statistics.median(took):.2f} s,"
        f" p95 {percentile(took, 0.95):.2f} s",
        flush=True,
    )


def reads(count):
    project = Project.objects.create(name="Large", slug=f"large-{count}-{time.time_ns()}")
    with writing():
        Decision.objects.bulk_create(
            [Decision(project=project, title=f"Decision {n}", decision="text " * 300) for n in range(count)],
            batch_size=500,
        )
    decisions = list(Decision.objects.filter(project=project).only("id"))
    rng = np.random.default_rng(3)
    centres = rng.standard_normal((200, 384))
    name = configured_encoder().name
    began = time.perf_counter()
    for start in range(0, count, 1000):
        rows = []
        for at, decision in enumerate(decisions[start : start + 1000], start):
            vector = centres[at % 200] + 0.8 * rng.standard_normal(384)
            vector = (vector / np.linalg.norm(vector)).astype("<f4").tobytes()
            rows.append(
                Embedding(
                    node_id=decision.node_id,
                    kind="decision",
                    project_id=project.pk,
                    part=0,
                    model=name,
                    content_hash="benchmark",
                    vector=vector,
                )
            )
        Embedding.objects.bulk_create(rows, batch_size=500)
    print(f"{count} vectors stored in {time.perf_counter() - began:.1f} s", flush=True)
    began = time.perf_counter()
    rebuild_similarities(project.pk)
    print(f"lists of {count} compared and written in {time.perf_counter() - began:.1f} s", flush=True)
    some = [
        Decision.objects.select_related("project").get(pk=decisions[random.randrange(count)].pk)
        for _ in range(200)
    ]
    print(
        f"similar_to at {count} records: {in_milliseconds(lambda at: similar_to(some[at]), 200)}", flush=True
    )
    forget_vectors()
    began = time.perf_counter()
    similar_to(some[0], min_score=-1, k=25)
    print(f"first exact search (vectors loaded): {(time.perf_counter() - began) * 1000:.0f} ms", flush=True)
    exact = in_milliseconds(lambda at: similar_to(some[at], min_score=0.0, k=25), 100)
    print(f"similar_to beyond the list, exact: {exact}", flush=True)
    text = in_milliseconds(lambda at: similar_to_text([project.pk], f"cache order totals {at}", k=10), 100)
    print(f"similar_to_text, its encoding included: {text}", flush=True)
    print(f"resident {resident_mb():.0f} MB", flush=True)
    return project, decisions


def main():
    arguments = argparse.ArgumentParser()
    arguments.add_argument("--records", type=int, default=1000)
    arguments.add_argument("--large", type=int, default=10_000)
    options = arguments.parse_args()
    random.seed(5)
    print(connection.vendor, flush=True)
    words = words_of_real_texts()
    if options.records:
        project = Project.objects.create(name="Bench", slug=f"bench-{time.time_ns()}")
        throughput(project, words, options.records)
        latency(project, words, 0.25)
    large, _ = reads(options.large)
    print(f"and the worker, in a project of {options.large}:", flush=True)
    throughput(large, words, 128)


if __name__ == "__main__":
    main()
