"""Pages and reads at 10,000 decisions: server time in this process, and each read beside its raw statement.

    DATABASE_URL=sqlite:////tmp/pages.sqlite3 python benchmarks/pages.py
    DATABASE_URL=mysql://desk:desk@127.0.0.1:3399/memory_desk_pages python benchmarks/pages.py

The database (an own one; it must exist) is migrated and filled on the first run, through the verbs, and reused. Texts
are of 200 words; every tenth decision carries links, every record eight similar ones. The results are in
benchmarks/README.md.
"""

from __future__ import annotations

import argparse
import html
import logging
import os
import random
import re
import sys
from datetime import timedelta
from pathlib import Path

sys.path.insert(0, str(Path(__file__).resolve().parent.parent))
os.environ.setdefault("DJANGO_SETTINGS_MODULE", "memory_site.settings")

import django

django.setup()

from django.conf import settings
from django.core.management import call_command
from django.db import connection
from django.utils import timezone

from benchmarks.browsing import signed_in
from benchmarks.texts import WORDS, text
from benchmarks.timing import HEADER, measure, row
from decisions.actions import create_decisions
from decisions.models import Decision
from decisions.queries import recent_decisions
from patterns.actions import create_patterns
from patterns.queries import patterns_above
from pitfalls.actions import create_pitfalls
from pitfalls.queries import pitfalls_before_implementing
from projects.models import Project
from recall.models import Similarity
from records.actor import Actor
from records.links import link
from records.models import ProjectionMark
from work_sessions.actions import start_session
from work_sessions.queries import session_named

SLUG = "pages-benchmark"
STATUSES = ["accepted", "accepted", "accepted", "pending", "rejected", "superseded", "deprecated"]


def fill(count: int) -> Project:
    rng, now = random.Random(7), timezone.now()
    project = Project.objects.create(name="Pages benchmark", slug=SLUG)
    actor = Actor.command("benchmark")
    decisions: list[Decision] = []
    for start in range(0, count, 500):
        rows = [
            {
                "title": f"Decision {n}: {text(rng, 8)}",
                "decision": text(rng),
                "rationale": text(rng),
                "status": rng.choice(STATUSES),
                "decided_at": now - timedelta(minutes=17 * n),
                "tags": rng.sample(WORDS, 3),
            }
            for n in range(start, start + 500)
        ]
        decisions += create_decisions(actor=actor, project=project, rows=rows)
    create_patterns(
        actor=actor, project=project,
        rows=[{"category": rng.choice(WORDS), "name": text(rng, 5), "description": text(rng), "confidence": rng.random()} for _ in range(2000)],
    )  # fmt: skip
    create_pitfalls(
        actor=actor, project=project,
        rows=[{"category": rng.choice(WORDS), "title": text(rng, 5), "severity": rng.choice(["critical", "high", "low"])} for _ in range(2000)],
    )  # fmt: skip
    start_session(actor=actor, project=project, session_id="benchmark-session", context={"step": 1})
    for decision in decisions[::10]:
        other = rng.choice(decisions)
        if other.pk != decision.pk:
            link(decision, "RELATES_TO", other, actor=actor)
    pairs = {tuple(sorted(rng.sample(range(len(decisions)), 2))) for _ in range(4 * count)}
    both = []
    for one, other in pairs:
        score, ids = rng.uniform(0.5, 1), (decisions[one].node_id, decisions[other].node_id)
        both += [
            Similarity(project_id=project.pk, source=a, target=b, score=score) for a, b in (ids, ids[::-1])
        ]
    Similarity.objects.bulk_create(both, batch_size=2000)
    ProjectionMark.objects.update(next_try_at=None, embedded_version=1)
    tables = "architecture_decisions, code_patterns, pitfalls, similarities, links, record_tags"
    with connection.cursor() as cursor:
        cursor.execute("ANALYZE" if connection.vendor == "sqlite" else f"ANALYZE TABLE {tables}")
        cursor.fetchall()
    return project


def raw(statement: str, *parameters: object) -> int:
    with connection.cursor() as cursor:
        cursor.execute(statement, parameters)
        return len(cursor.fetchall())


def main() -> None:
    parser = argparse.ArgumentParser(
        description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter
    )
    parser.add_argument("--decisions", type=int, default=10_000)
    options = parser.parse_args()
    settings.ALLOWED_HOSTS = ["*"]
    logging.disable(logging.INFO)
    call_command("migrate", verbosity=0)
    project = Project.objects.filter(slug=SLUG).first() or fill(options.decisions)
    keys = list(Decision.objects.filter(project=project).values_list("pk", flat=True))
    rng = random.Random(3)
    client = signed_in()

    def get(path: str) -> None:
        answer = client.get(f"/p/{SLUG}/{path}")
        assert answer.status_code == 200, (path, answer.status_code)

    deep = f"/p/{SLUG}/decisions/"
    for _ in range(41):
        deep = html.unescape(re.search(r'rel="next" href="([^"]+)"', client.get(deep).content.decode())[1])
    pages = {
        "list, first page": lambda: get("decisions/"),
        "list, page 42": lambda: client.get(deep),
        "list, two statuses": lambda: get("decisions/?status=pending&status=rejected"),
        "list, a tag": lambda: get("decisions/?tag=replica"),
        "list, unreviewed, a month": lambda: get(f"decisions/?review=unreviewed&decided_after={timezone.localdate() - timedelta(days=30)}"),
        "detail": lambda: get(f"decisions/{rng.choice(keys)}/"),
        "neighbourhood, depth 2, cap 30": lambda: get(f"graph/?node=dec_{rng.choice(keys)}&depth=2&cap=30"),
        "patterns by confidence": lambda: get("patterns/?sort=confidence"),
        "pitfalls": lambda: get("pitfalls/?severity=critical"),
    }  # fmt: skip
    print(f"{connection.vendor}, {len(keys):,} decisions; milliseconds\n\n{HEADER}")
    for what, act in pages.items():
        print(row(what, measure(act, 200)), flush=True)

    month = timezone.now() - timedelta(days=30)
    active = "archived_at IS NULL AND merged_into IS NULL AND review_state NOT IN ('rejected', 'quarantined')"
    reads = {
        "decisions of 30 days, 10": (
            lambda: list(recent_decisions(project.pk).values("title", "decision", "rationale", "decided_at")[:10]),
            lambda: raw(f"SELECT title, decision, rationale, decided_at FROM architecture_decisions WHERE project_id = %s AND decided_at > %s AND {active} ORDER BY decided_at DESC LIMIT 10", project.pk, month),
        ),
        "patterns at 0.80 or more, 20": (
            lambda: list(patterns_above(project.pk, 0.8).values("category", "name", "description", "code_example")[:20]),
            lambda: raw(f"SELECT category, name, description, code_example FROM code_patterns WHERE project_id = %s AND confidence_score >= 0.80 AND {active} ORDER BY usage_count DESC, confidence_score DESC LIMIT 20", project.pk),
        ),
        "pitfalls of a category": (
            lambda: list(pitfalls_before_implementing(project.pk, "cache").values("title", "description", "how_to_avoid")),
            lambda: raw(f"SELECT title, description, how_to_avoid FROM pitfalls WHERE project_id = %s AND category = 'cache' AND severity IN ('critical', 'high') AND {active} ORDER BY encountered_count DESC", project.pk),
        ),
        "context of a session": (
            lambda: session_named(project.pk, "benchmark-session"),
            lambda: raw("SELECT context FROM work_sessions WHERE session_id = 'benchmark-session' ORDER BY started_at DESC LIMIT 1"),
        ),
    }  # fmt: skip
    print(
        f"\n| {'through queries.py | the raw statement':<44} | wall p50 | wall p95 |  raw p50 |  raw p95 | ratio p50 |\n| {'-' * 44} |"
        + " -------: |" * 5
    )
    for what, (ours, theirs) in reads.items():
        a, b = measure(ours), measure(theirs)
        print(
            f"| {what:<44} | {a.wall50:8.2f} | {a.wall95:8.2f} | {b.wall50:8.2f} | {b.wall95:8.2f} | {a.wall50 / b.wall50:9.2f} |",
            flush=True,
        )


if __name__ == "__main__":
    main()
