"""Real questions on real records: does the sentence that answers outlast the compression?

    DATABASE_URL=sqlite:////tmp/answers.sqlite3 python benchmarks/compression.py ../shared/data [--limit 400]

On the desk that benchmarks/answers.py fills. Each record of tests/data/questions is compressed to so many tokens for its
question; kept means that every sentence that the answer reaches into is there, whole.
"""

from __future__ import annotations

import argparse
import json
import logging
import statistics
import time
from collections import defaultdict
from pathlib import Path

from answers import SLUG, TOP, fill, records_by_file  # settings first, then models
from django.core.management import call_command

from projects.models import Project
from recall.compression import CutText
from recall.nearby import nearby
from recall.tokens import count_tokens
from recall.units import PassageScore
from records.kinds import kind_of

QUESTIONS = TOP / "tests/data/questions/questions.jsonl"


def place_of(text: str, answer: str) -> tuple[int, int] | None:
    """Where the answer stands in the text, whatever its white space."""
    letters = [(at, letter) for at, letter in enumerate(text) if not letter.isspace()]
    wanted = "".join(answer.split())
    at = "".join(letter for _at, letter in letters).find(wanted)
    return None if at < 0 else (letters[at][0], letters[at + len(wanted) - 1][0] + 1)


def is_kept(cut: CutText, place: tuple[int, int]) -> bool:
    reached = [at for at, unit in enumerate(cut.units) if unit.start < place[1] and unit.end > place[0]]
    return bool(reached) and all(cut.is_taken(at) for at in reached)


def compress(text: str, asked: str, limit: int, passages: list[PassageScore]) -> CutText:
    cut = CutText(text, passages)
    for at in cut.by_worth(cut.values(asked)):
        if cut.tokens + cut.cost(at) <= limit:
            cut.take(at)
    return cut


def main() -> None:
    parser = argparse.ArgumentParser(
        description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter
    )
    parser.add_argument("data", type=Path, help="the folder with adrs/ and postmortems/")
    parser.add_argument("--limit", type=int, default=400, help="tokens of each compressed record")
    parser.add_argument("--questions", type=Path, default=QUESTIONS)
    parser.add_argument("--misses", action="store_true", help="list the answers that were lost")
    options = parser.parse_args()
    logging.disable(logging.WARNING)
    call_command("migrate", verbosity=0)
    project = Project.objects.filter(slug=SLUG).first() or fill(options.data)
    records = records_by_file(project)
    kept: dict[tuple[str, str], list[bool]] = defaultdict(list)
    sizes: list[int] = []
    took: list[float] = []
    for one in map(json.loads, options.questions.read_text().splitlines()):
        record = records[one["file"]]
        text = kind_of(record).body_of(record)
        place = place_of(text, one["answer"])
        if place is None:
            print(f"{one['id']}: its answer is not in the record's own text")
            continue
        near = nearby(project.pk, one["question"], ["decision", "pitfall"], 1)
        passages = near.passages_of([record.node_id]).get(record.node_id, [])
        began = time.perf_counter()
        cut = compress(text, one["question"], options.limit, passages)
        took.append((time.perf_counter() - began) * 1000)
        found = is_kept(cut, place)
        kept[one["language"], one["part"]].append(found)
        sizes.append(count_tokens(text))
        if options.misses and not found:
            print(f"{one['id']} {one['question']}\n    {one['answer'][:200]!r} of {record.node_id}")
    every = [found for group in kept.values() for found in group]
    print(f"| the sentence that answers is kept, {options.limit} tokens | |\n| --- | ---: |")
    for (language, part), group in sorted(kept.items()):
        print(f"| {language}, {part} | {sum(group)}/{len(group)} = {sum(group) / len(group):.2f} |")
    print(f"| all | {sum(every)}/{len(every)} = {sum(every) / len(every):.2f} |")
    print(
        f"Records of {statistics.median(sizes):.0f} tokens (median); {statistics.median(took):.1f} ms a record (median)."
    )


if __name__ == "__main__":
    main()
