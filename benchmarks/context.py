"""How long a context pack takes, end to end, with the question embedded; and in how many statements.

    export DATABASE_URL=mysql://…/memory_desk_context
    python manage.py migrate && python manage.py generate_memory --nodes 50000 --encoded 0
    python benchmarks/context.py --words [--budget 1500] [--times 200]

On the largest project of whatever desk is there. `--words` first keeps the search texts that generate_memory does not
make. Questions are made of titles of its own records, so that words and meaning find something.
"""

from __future__ import annotations

import argparse
import logging
import os
import random
import statistics
import sys
import time
from pathlib import Path

TOP = Path(__file__).resolve().parent.parent
sys.path.insert(0, str(TOP))
os.environ.setdefault("DJANGO_SETTINGS_MODULE", "memory_site.settings")

import django

django.setup()

from django.db import connection
from django.db.models import Count
from django.test.utils import CaptureQueriesContext

from benchmarks.timing import percentile
from desk.context_pack.asked import Asked, packed_kinds, today
from desk.context_pack.pack import context_pack
from projects.models import Project
from recall.models import Embedding, SearchText
from recall.words import keep_words
from records.kinds import all_kinds, kind_named

STEP = 500


def keep_all_words() -> None:
    """The search texts of every record that has none yet."""
    for kind in all_kinds():
        last = None
        while True:
            rows = kind.model.objects.order_by("pk").defer(*kind.unpacked)
            page = list((rows if last is None else rows.filter(pk__gt=last))[:STEP])
            if not page:
                break
            keep_words([record for record in page if record.project_id is not None])
            last = page[-1].pk


def largest_project() -> Project:
    counted = Embedding.objects.order_by().values("project_id").annotate(count=Count("id")).order_by("-count")
    return Project.objects.get(pk=counted[0]["project_id"])


def questions(project: Project, count: int) -> list[str]:
    chance = random.Random(1)
    titles = list(
        kind_named("decision").model.objects.filter(project=project).values_list("title", flat=True)[:2000]
    )
    return [" and ".join(chance.sample(titles, 2)) for _ in range(count)]


def main() -> None:
    parser = argparse.ArgumentParser(
        description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter
    )
    parser.add_argument("--words", action="store_true")
    parser.add_argument("--budget", type=int, default=1500)
    parser.add_argument("--times", type=int, default=200)
    options = parser.parse_args()
    logging.disable(logging.WARNING)
    if options.words:
        keep_all_words()
    project = largest_project()

    def ask(text: str):
        return context_pack(
            Asked(
                project=project,
                text=text,
                budget=options.budget,
                kinds=frozenset(packed_kinds()),
                as_of=today(),
            )
        )

    asked = questions(project, options.times + 5)
    for text in asked[:5]:
        ask(text)
    wall, work, items, statements = [], [], [], []
    for text in asked[5:]:
        began, busy = time.perf_counter(), time.process_time()
        pack = ask(text)
        wall.append((time.perf_counter() - began) * 1000)
        work.append((time.process_time() - busy) * 1000)
        items.append(len(pack.items))
    for text in asked[5:15]:
        with CaptureQueriesContext(
            connection,
        ) as captured:
            ask(text)
        statements.append(len(captured))

    vectors = Embedding.objects.filter(project_id=project.pk).count()
    texts = SearchText.objects.filter(project_id=project.pk).count()
    print(
        f"{connection.vendor}: {Embedding.objects.count():,} vectors on the desk; in the project {texts:,} records, {vectors:,} vectors"
    )
    print("| context pack | p50 ms | p95 ms |\n| --- | ---: | ---: |")
    print(f"| wall | {statistics.median(wall):.0f} | {percentile(wall, 0.95):.0f} |")
    print(f"| of this process's processor | {statistics.median(work):.0f} | {percentile(work, 0.95):.0f} |")
    print(
        f"{statistics.median(items):.0f} items (median), {max(statements)} statements at most, budget {options.budget}"
    )


if __name__ == "__main__":
    main()
