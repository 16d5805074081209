"""The curation desk at 50,000 records: server time of each queue's first page and of each verb, statements a page, and a
bulk approval of 5,000.

    DATABASE_URL=mysql://desk:desk@127.0.0.1:3399/memory_desk_curation python benchmarks/curation.py

The database (an own one; it must exist) is migrated and filled on the first run, and reused: half of the records wait for
a person, the rest is approved; thousands of pairs are suggested. The verbs change it a little. `--times` of each. The
results are in benchmarks/README.md.
"""

from __future__ import annotations

import argparse
import itertools
import logging
import os
import random
import sys
import time
from collections.abc import Callable
from datetime import timedelta
from pathlib import Path
from typing import Any

sys.path.insert(0, str(Path(__file__).resolve().parent.parent))
os.environ.setdefault("DJANGO_SETTINGS_MODULE", "memory_site.settings")

import django

django.setup()

from django.conf import settings
from django.core.management import call_command
from django.db import connection
from django.test import Client
from django.utils import timezone

from benchmarks.browsing import signed_in
from benchmarks.texts import WORDS, text
from benchmarks.timing import HEADER, measure, row
from curation.inbox.queues import all_queues
from curation.models import SuggestedPair
from decisions.actions import edit_decision, supersede
from decisions.kind import DECISION
from decisions.models import Decision
from patterns.kind import PATTERN
from patterns.models import Pattern
from pitfalls.kind import PITFALL
from pitfalls.models import Pitfall
from projects.models import Project
from recall.models import Similarity
from records import attention, marks, verbs
from records.actor import Actor
from records.arrivals import first_revision, write_history
from records.guard import writing
from records.kinds import Kind
from records.merging import merge
from records.models import ProjectionMark, ReviewState, Revision
from records.undo import undo

SLUG = "curation-benchmark"
SHARES = ((DECISION, 0.6), (PATTERN, 0.25), (PITFALL, 0.15))
PAIRS = 4_000
BY = Actor.command("benchmark")


def fill(count: int) -> Project:
    """In large inserts, each record with its first version, mark and claim on attention."""
    rng, now = random.Random(7), timezone.now()
    project = Project.objects.create(name="Curation benchmark", slug=SLUG)
    node_ids: dict[str, list[str]] = {}
    for kind, share in SHARES:
        keys = list(range(1, int(count * share) + 1))
        node_ids[kind.name] = [kind.node_id(key) for key in keys]
        for start in range(0, len(keys), 1000):
            made = [_made(kind, key, project, rng, now) for key in keys[start : start + 1000]]
            with writing():
                kind.model.objects.bulk_create(made)
            records = list(kind.model.objects.filter(pk__in=[one.pk for one in made]).order_by("pk"))
            marks.want(records, new=True)
            write_history([first_revision(record, actor=BY, reason="") for record in records])
            attention.keep_new(records)
    ProjectionMark.objects.update(next_try_at=None, embedded_version=1)
    _suggest(project, node_ids["decision"], rng)
    with connection.cursor() as cursor:
        tables = "architecture_decisions, code_patterns, pitfalls, similarities, revisions, attention, suggested_pairs"
        cursor.execute("ANALYZE" if connection.vendor == "sqlite" else f"ANALYZE TABLE {tables}")
        cursor.fetchall()
    return project


def _made(kind: Kind, key: int, project: Project, rng: random.Random, now: Any) -> Any:
    when = now - timedelta(minutes=9 * key)
    state = ReviewState.UNREVIEWED if key % 2 else ReviewState.APPROVED
    shared = {
        "pk": key, "project": project, "review_state": state, "source_kind": "agent", "source_name": "order-bot",
        "created_at": when, "trust": rng.choice([0.2, 0.5, 0.8]),
    }  # fmt: skip
    if kind is DECISION:
        return Decision(
            **shared,
            title=text(rng, 8),
            decision=text(rng, 60),
            rationale=text(rng, 40),
            decided_at=when,
            sort_at=when,
        )
    if kind is PATTERN:
        return Pattern(**shared, category=rng.choice(WORDS), name=text(rng, 5), description=text(rng, 60))
    severity = rng.choice(["critical", "high", "medium", "low"])
    return Pitfall(
        **shared, category=rng.choice(WORDS), title=text(rng, 6), description=text(rng, 40), severity=severity
    )


def _suggest(project: Project, node_ids: list[str], rng: random.Random) -> None:
    chosen = {tuple(sorted(rng.sample(node_ids, 2))) for _ in range(PAIRS)}
    SuggestedPair.objects.bulk_create(
        [
            SuggestedPair(
                project=project, sort="duplicate" if place % 2 else "conflict", kind="decision", first=one, second=other,
                score=rng.uniform(0.6, 1), cosine=rng.uniform(0.6, 1), words=rng.random(),
            )
            for place, (one, other) in enumerate(sorted(chosen))
        ],
        batch_size=1000,
    )  # fmt: skip
    near = [(one, rng.choice(node_ids)) for one in node_ids for _ in range(4)]
    rows = {(one, other): rng.uniform(0.5, 1) for one, other in near if one != other}
    Similarity.objects.bulk_create(
        [
            Similarity(project_id=project.pk, source=a, target=b, score=score)
            for (a, b), score in rows.items()
        ],
        batch_size=2000,
    )


class Fresh:
    """Decisions that wait (or are approved), each given out once."""

    def __init__(self, project: Project, state: str = ReviewState.UNREVIEWED) -> None:
        rows = Decision.objects.filter(
            project=project, review_state=state, archived_at=None, merged_into=None
        )
        self._rows = rows.select_related("project").order_by("-pk").iterator(chunk_size=500)

    def __call__(self) -> Decision:
        return next(self._rows)


def verbs_of(project: Project, client: Client) -> dict[str, Any]:
    fresh, number = Fresh(project), itertools.count()
    approved = Fresh(project, ReviewState.APPROVED)

    def edit() -> None:
        decision = fresh()
        edit_decision(
            actor=BY,
            decision=decision,
            changes={"title": f"Edited {next(number)}"},
            expected_version=decision.version,
        )

    def take_back() -> None:
        act = acts.pop()
        undo(act, actor=BY)

    def through_the_page() -> None:
        decision = fresh()
        sent = {"node_id": decision.node_id, "verb": "approve", "version": decision.version}
        answer = client.post(f"/p/{SLUG}/inbox/act/", sent)
        assert answer.status_code == 303, (answer.status_code, answer.content[:300])

    acts: list[str] = []

    def reject() -> None:
        decision = verbs.review([fresh()], "rejected", actor=BY, reason="A guess.").record
        newest = (
            Revision.objects.filter(node_id=decision.node_id)
            .order_by("-id")
            .values_list("act", flat=True)
            .first()
        )
        acts.append(str(newest))

    return {
        "approve, through the inbox, with what is next": through_the_page,
        "approve": lambda: verbs.review([fresh()], "approved", actor=BY),
        "reject, with a reason": reject,  # as often as the undo takes one back
        "undo of a rejection": take_back,
        "edit": edit,
        "archive": lambda: verbs.archive([fresh()], actor=BY),
        "confirm": lambda: verbs.confirm([approved()], actor=BY),
        "supersede": lambda: supersede(actor=BY, decision=fresh(), by=fresh(), reason="Newer."),
        "merge of three": lambda: merge(fresh(), [fresh(), fresh()], actor=BY, reason="They say the same."),
    }


def pages_of(project: Project) -> dict[str, str]:
    pages = {f"inbox: {queue.key}, first page": f"inbox/?queue={queue.key}" for queue in all_queues()}
    pair = SuggestedPair.objects.filter(project=project, is_open=True).order_by("-score").first()
    if pair is not None:
        pages["compare two"] = f"inbox/diff/{pair.first}/{pair.second}/"
        pages["merge, the preview of two"] = f"merge/?into={pair.first}&from={pair.second}"
    return pages | {"history, first page": "history/"}


def statements_of(act: Callable[[], object]) -> int:
    """How many statements one act sends."""
    sent = 0

    def count(execute: Any, *asked: Any) -> Any:
        nonlocal sent
        sent += 1
        return execute(*asked)

    with connection.execute_wrapper(count):
        act()
    return sent


def _header() -> str:
    names, rules = HEADER.split("\n")
    return f"{names} statements |\n{rules} ---------: |"


def main() -> None:
    parser = argparse.ArgumentParser(
        description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter
    )
    parser.add_argument("--records", type=int, default=50_000)
    parser.add_argument("--times", type=int, default=40)
    parser.add_argument("--bulk", type=int, default=5_000)
    options = parser.parse_args()
    settings.ALLOWED_HOSTS = ["*"]
    logging.disable(logging.WARNING)
    call_command("migrate", verbosity=0)
    began = time.perf_counter()
    project = Project.objects.filter(slug=SLUG).first() or fill(options.records)
    print(f"filled or found in {time.perf_counter() - began:.0f} s", flush=True)
    client = signed_in()
    count = sum(kind.model.objects.filter(project=project).count() for kind, _share in SHARES)
    print(f"{connection.vendor}, {count:,} records; milliseconds\n\n{_header()}")
    for what, path in pages_of(project).items():
        answer = client.get(f"/p/{SLUG}/{path}")
        if answer.status_code != 200:
            print(f"{what}: answered {answer.status_code}", flush=True)
            continue
        took = measure(lambda path=path: client.get(f"/p/{SLUG}/{path}"), options.times)  # type: ignore[misc]
        number = statements_of(lambda path=path: client.get(f"/p/{SLUG}/{path}"))  # type: ignore[misc]
        print(f"{row(what, took)} {number:>10} |", flush=True)
    for what, act in verbs_of(project, client).items():
        number = statements_of(act)
        print(f"{row(what, measure(act, options.times))} {number:>10} |", flush=True)
    _bulk(project, options.bulk)


def _bulk(project: Project, number: int) -> None:
    rows = Decision.objects.filter(
        project=project, review_state=ReviewState.UNREVIEWED, archived_at=None, merged_into=None
    )
    chosen = list(rows.order_by("pk")[:number])
    began, worked = time.perf_counter(), time.process_time()
    outcome = verbs.review(chosen, "approved", actor=BY, partial=True)
    took, own = time.perf_counter() - began, time.process_time() - worked
    print(f"\nbulk approval of {len(outcome.updated):,}: {took:.1f} s, {own:.1f} s of it ours", flush=True)


if __name__ == "__main__":
    main()
