"""Neighbourhoods at size: server time of the store, of the JSON and of the page, in this process.

    DATABASE_URL=sqlite:////tmp/graph-10k.sqlite3 python benchmarks/graph.py --nodes 10000 --relations 40000

The database is migrated and filled on the first run (an own one: it is not emptied) and reused afterwards. Node 1 is
a hub that a sixth of all records, 8,000 at most, are similar to. One record in twenty is archived. CPU is this
process's alone (on SQLite that is everything): it says what a busy machine's clock does not. The table of results is
in benchmarks/README.md.
"""

from __future__ import annotations

import argparse
import os
import random
import sys
from pathlib import Path

sys.path.insert(0, str(Path(__file__).resolve().parent.parent))
os.environ.setdefault("DJANGO_SETTINGS_MODULE", "memory_site.settings")

import django

django.setup()

from django.conf import settings
from django.core.management import call_command
from django.db import connection
from django.test import Client
from django.utils import timezone

from benchmarks.timing import HEADER, measure, row
from decisions.models import Decision, Outcome
from graph.queries import graph_store
from graph.store import Within
from patterns.models import Pattern
from pitfalls.models import Pitfall
from projects.models import Project, User
from recall.models import Similarity
from records.guard import writing
from records.models import Link, Relation

TEXT = "We keep order totals in a cache for a minute, and read the ledger where money is decided. " * 30
SLUG = "graph-benchmark"


def fill(nodes: int, relations: int) -> Project:
    rng = random.Random(11)
    project = Project.objects.create(name="Graph benchmark", slug=SLUG)
    outcomes = patterns = pitfalls = nodes // 10
    decisions = nodes - outcomes - patterns - pitfalls

    def state(key: int) -> dict[str, object]:
        return {"project": project, "archived_at": timezone.now() if key % 20 == 0 else None}

    with writing():
        for model, rows in (
            (Decision, (Decision(pk=key, title=f"Decision {key}: order totals in a cache", decision=TEXT, rationale=TEXT, **state(key)) for key in range(1, decisions + 1))),
            (Pattern, (Pattern(pk=key, category="caching", name=f"Pattern {key}", description=TEXT, **state(key)) for key in range(1, patterns + 1))),
            (Pitfall, (Pitfall(pk=key, category="caching", title=f"Pitfall {key}", severity="high", description=TEXT, **state(key)) for key in range(1, pitfalls + 1))),
            (Outcome, (Outcome(pk=key, decision_id=rng.randint(1, decisions), type="outage", **state(key)) for key in range(1, outcomes + 1))),
        ):  # fmt: skip
            model.objects.bulk_create(list(rows), batch_size=500)
        ids = [f"dec_{key}" for key in range(1, decisions + 1)]
        ids += [f"{prefix}_{key}" for key in range(1, patterns + 1) for prefix in ("pat", "pit")]
        asserted = set()
        while len(asserted) < relations // 10:
            source, target = rng.sample(ids, 2)
            asserted.add((source, target, rng.choice(Relation.values)))
        Link.objects.bulk_create(
            [Link(project=project, source=source, target=target, relation=relation) for source, target, relation in sorted(asserted)],
            batch_size=2000,
        )  # fmt: skip
    pairs = {(other, 0) for other in range(1, min(8000, nodes // 6) + 1)}
    while len(pairs) < relations - len(asserted) - outcomes:
        one = rng.randrange(len(ids))
        other = min(len(ids) - 1, max(0, one + rng.randint(-40, 40)))
        if one != other and (other, one) not in pairs:
            pairs.add((one, other))
    both = []
    for one, other in sorted(pairs):
        score = rng.uniform(0.5, 1)
        both += [(ids[one], ids[other], score), (ids[other], ids[one], score)]
    rng.shuffle(both)
    Similarity.objects.bulk_create(
        [Similarity(project_id=project.pk, source=source, target=target, score=score) for source, target, score in both],
        batch_size=2000,
    )  # fmt: skip
    with connection.cursor() as cursor:
        cursor.execute(
            "ANALYZE" if connection.vendor == "sqlite" else "ANALYZE TABLE links, similarities, outcomes"
        )
        cursor.fetchall()
    return project


def tell(what: str, act, times: int = 60) -> None:
    print(row(what, measure(act, times)), flush=True)


def raw_hop(node_id: str) -> None:
    with connection.cursor() as cursor:
        for near, far in (("source", "target"), ("target", "source")):
            cursor.execute(
                f"SELECT {far}, score FROM similarities WHERE {near} = %s AND score >= 0.6 ORDER BY score DESC LIMIT 30",
                [node_id],
            )
            cursor.fetchall()


def main() -> None:
    parser = argparse.ArgumentParser(
        description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter
    )
    parser.add_argument("--nodes", type=int, default=10_000)
    parser.add_argument("--relations", type=int, default=40_000)
    options = parser.parse_args()
    settings.ALLOWED_HOSTS = ["*"]
    call_command("migrate", verbosity=0)
    project = Project.objects.filter(slug=SLUG).first() or fill(options.nodes, options.relations)
    rng, store, within = random.Random(3), graph_store(), Within(project_id=project.pk, min_score=0.6)
    decisions = options.nodes - 3 * (options.nodes // 10)
    user, _ = User.objects.get_or_create(username="benchmark", defaults={"is_superuser": True})
    client = Client()
    client.force_login(user, backend="django.contrib.auth.backends.ModelBackend")

    def anyone() -> str:
        return f"dec_{rng.randint(2, decisions)}"

    def get(node_id: str, depth: int, page: str = "") -> None:
        answer = client.get(
            f"/p/{SLUG}/graph/{page}", {"node": node_id, "depth": depth, "cap": 30, "score": "0.6"}
        )
        assert answer.status_code == 200, answer.content[:500]

    print(f"{connection.vendor}, {options.nodes:,} nodes, {options.relations:,} relations; milliseconds\n")
    print(HEADER)
    tell("raw statements, one hop of similarity", lambda: raw_hop(anyone()))
    tell("store, depth 1", lambda: store.neighbourhood(anyone(), within, depth=1, cap=30))
    tell("store, depth 2", lambda: store.neighbourhood(anyone(), within, depth=2, cap=30))
    tell("store, depth 1, the hub", lambda: store.neighbourhood("dec_1", within, depth=1, cap=30))
    tell("store, depth 2, the hub", lambda: store.neighbourhood("dec_1", within, depth=2, cap=30))
    tell("store, similar 10", lambda: store.similar(anyone(), within, k=10))
    tell("store, a path", lambda: store.path(anyone(), anyone(), within), times=20)
    tell("JSON, depth 2", lambda: get(anyone(), 2, "data"))
    tell("page, depth 1", lambda: get(anyone(), 1))
    tell("page, depth 2", lambda: get(anyone(), 2))
    tell("page, depth 2, the hub", lambda: get("dec_1", 2))


if __name__ == "__main__":
    main()
