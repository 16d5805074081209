"""Real questions on real records: is the record that answers among the first five?

    DATABASE_URL=sqlite:////tmp/answers.sqlite3 python benchmarks/answers.py ../shared/data [--part held]

The decision records are imported and the incident reports kept as pitfalls, on the first run; then each question of
tests/data/questions is asked by words only, by meaning only, and by both. `--of 100000` asks the index for as small a
share of these few texts as on a desk of so many. The results are in benchmarks/README.md.
"""

from __future__ import annotations

import argparse
import json
import logging
import os
import statistics
import sys
import time
from collections import defaultdict
from pathlib import Path
from typing import Any

TOP = Path(__file__).resolve().parent.parent
sys.path.insert(0, str(TOP))
os.environ.setdefault("DJANGO_SETTINGS_MODULE", "memory_site.settings")

import django

django.setup()

from django.core.management import call_command

from decisions.models import Decision
from graph.worker import Worker
from pitfalls.actions import create_pitfalls
from pitfalls.models import Pitfall
from projects.models import Project
from recall import frequency, word_rankings
from recall.models import SearchText
from recall.search import search
from records.actor import Actor
from records.query_language import Query

SLUG = "answers"
FIRST = 5
QUESTIONS = TOP / "tests/data/questions/questions.jsonl"
MODES = {"words": (True, False), "meaning": (False, True), "both": (True, True)}


def fill(data: Path) -> Project:
    project = Project.objects.create(name="Answers", slug=SLUG)
    call_command("import_adrs", str(data / "adrs"), project=SLUG, verbosity=0)
    rows = []
    for path in sorted((data / "postmortems").rglob("*")):
        if path.suffix in (".md", ".erb", ".yaml", ".yml") and path.name != "README.md":
            text = path.read_text(errors="replace")
            title = next(
                (line.strip("# ").strip() for line in text.splitlines() if line.strip("#- ")), path.stem
            )
            rows.append(
                {"category": "incident", "title": title[:255], "description": text, "severity": "high",
                 "how_to_avoid": f"From {path.relative_to(data)}"}
            )  # fmt: skip
    create_pitfalls(actor=Actor.command("benchmark"), project=project, rows=rows)
    worker = Worker()
    while worker.work_once():
        pass
    return project


def records_by_file(project: Project) -> dict[str, Any]:
    """The record made of each file of the shared data."""
    decisions = Decision.objects.filter(project=project)
    records: dict[str, Any] = {f"adrs/{one.origin['path']}": one for one in decisions if one.origin}
    pitfalls = Pitfall.objects.filter(project=project)
    return records | {one.how_to_avoid.removeprefix("From "): one for one in pitfalls}


def main() -> None:
    parser = argparse.ArgumentParser(
        description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter
    )
    parser.add_argument("data", type=Path, help="the folder with adrs/ and postmortems/")
    parser.add_argument("--questions", type=Path, default=QUESTIONS)
    parser.add_argument("--part", choices=["open", "held", "further", "fresh"], default="open")
    parser.add_argument("--of", type=int, help="ask the index as on a desk of so many texts")
    parser.add_argument("--misses", action="store_true", help="list the questions that were missed")
    options = parser.parse_args()
    logging.disable(logging.WARNING)
    call_command("migrate", verbosity=0)
    project = Project.objects.filter(slug=SLUG).first() or fill(options.data)
    files = {file: record.node_id for file, record in records_by_file(project).items()}
    if options.of:
        share = SearchText.objects.count() / options.of
        frequency.FEW = 0
        for limit in ("MOST_TEXTS", "MOST_TEXTS_OF_WORDS_ALONE"):
            setattr(word_rankings, limit, int(getattr(word_rankings, limit) * share))
    lines = options.questions.read_text().splitlines()
    asked = [one for one in map(json.loads, lines) if one["part"] == options.part]
    hits: dict[tuple[str, str], list[bool]] = defaultdict(list)
    took: dict[str, list[float]] = defaultdict(list)
    for one in asked:
        wanted = files[one["file"]]
        for mode, (words, meaning) in MODES.items():
            began = time.perf_counter()
            # As an agent's text: no filter, no phrase, whatever stands in it.
            query = Query(text=one["question"], words=one["question"])
            found = search([project.pk], query, limit=FIRST, words=words, meaning=meaning)
            took[mode].append((time.perf_counter() - began) * 1000)
            got = [hit.record.node_id for hit in found.hits]
            hits[mode, one["language"]].append(wanted in got)
            if options.misses and wanted not in got:
                print(f"{mode}: {one['id']} {one['question']}\n    wanted {wanted} {one['file']}, got {got}")
    languages = sorted({one["language"] for one in asked})
    print(
        f"| recall@{FIRST}, {options.part} | "
        + " | ".join(languages)
        + " | p50 ms |\n| --- |"
        + " ---: |" * (len(languages) + 1)
    )
    for mode in MODES:
        shares = [
            f"{sum(found)}/{len(found)} = {sum(found) / len(found):.2f}"
            for found in (hits[mode, language] for language in languages)
        ]
        print(f"| {mode} | " + " | ".join(shares) + f" | {statistics.median(took[mode]):.0f} |")


if __name__ == "__main__":
    main()
