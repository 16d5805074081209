"""Suggested pairs against what two labellers said: how many duplicates are found, how many suggestions are right.

    DATABASE_URL=sqlite:////tmp/pairs.sqlite3 python benchmarks/pairs.py ../shared/data [--choose] [--tried] [--all]

The decision records, their earlier versions as separate records and the texts made for this (tests/data/pairs) are
brought into one project on the first run, and embedded. A pair belongs to the half that the hash of its two names says:
weights and threshold are chosen on the one (`--choose`), the numbers are of the other. A pair is a duplicate where both
labellers say so, none where neither does; those they disagree on are counted apart. `--choose` tries weights by
cross-validation within its half: pairs of one original stay together. `--tried` measures a further score that was not
taken. `--all` lists every suggestion among the real records with its labels. The results are in docs/pairs.md.
"""

from __future__ import annotations

import argparse
import os
import sys
from collections.abc import Sequence
from pathlib import Path
from typing import Any

TOP = Path(__file__).resolve().parent.parent
sys.path.insert(0, str(TOP))
os.environ.setdefault("DJANGO_SETTINGS_MODULE", "memory_site.settings")

import django

django.setup()

from django.core.management import call_command

from benchmarks.pairs_labels import (
    DUPLICATE,
    LABELLED,
    Labelled,
    Score,
    kappa,
    labelled_pairs,
    lines,
    node_ids,
    precision_and_recall,
    score,
    subject_of,
)
from benchmarks.pairs_tried import TRIED_THRESHOLD, TRIED_WEIGHTS, choose, weighed
from curation.models import Sort
from curation.pairs.candidates import Candidates, candidates_of
from curation.pairs.judging import CONFLICT_SUBJECT, LATER_SUBJECT, judged
from decisions.actions import create_decisions
from decisions.models import Decision
from projects.models import Project, ProjectPolicy
from recall.models import Embedding
from recall.passages import RECORD_PART, record_text
from recall.similar import rebuild_similarities
from recall.vectors import configured_encoder
from recall.words import keep_words
from records.actor import Actor
from records.kinds import kind_of
from transfer.importing.importer import Options, import_folder

SLUG = "pairs"
SAID_OF_ONE_SUBJECT = ("contradicts", "supersedes", DUPLICATE)


def fill(data: Path, folder: Path) -> Project:
    project = Project.objects.create(name="Pairs", slug=SLUG)
    import_folder(data / "adrs", project, Options())
    actor = Actor.command("benchmark")
    rows: list[dict[str, Any]] = []
    for number, path in enumerate(sorted((data / "adr-versions").rglob("*.md"))):
        name = f"versions/{path.relative_to(data / 'adr-versions')}"
        alone = Project.objects.create(name="One version", slug=f"version-{number}")
        place = folder / alone.slug
        place.mkdir(parents=True)
        (place / path.name.partition(".")[2]).write_bytes(path.read_bytes())
        import_folder(place, alone, Options())
        for kept in Decision.objects.filter(project=alone):
            texts = {column: getattr(kept, column) for column in ("title", "decision", "rationale")}
            more = {"alternatives_considered": kept.alternatives_considered, "status": kept.status}
            rows.append({**texts, **more, "decided_at": kept.decided_at, "origin": {"path": name}})
    for text in lines(LABELLED / "rewrites.jsonl"):
        own = {column: text[column] for column in ("title", "decision", "rationale")}
        rows.append({**own, "origin": {"path": f"made/{text['id']}"}})
    create_decisions(actor=actor, project=project, rows=rows)
    compare_all(project)
    return project


def compare_all(project: Project) -> None:
    """What the worker does, but for the vectors of passages, which no pair is told by: they take an hour of the encoder."""
    encoder = configured_encoder()
    records = list(Decision.objects.filter(project=project))
    for start in range(0, len(records), 16):
        some = records[start : start + 16]
        keep_words(some)
        texts = [record_text(record.heading, kind_of(record).summary_of(record)) for record in some]
        Embedding.objects.bulk_create(
            Embedding(
                node_id=record.node_id, kind="decision", project_id=project.pk, part=RECORD_PART, model=encoder.name,
                content_hash=SLUG, vector=vector.astype("<f4").tobytes(),
            )
            for record, vector in zip(some, encoder.encode(texts), strict=True)
        )  # fmt: skip
    rebuild_similarities(project.pk)


def report(pairs: Sequence[Labelled], score: Score, threshold: float) -> None:
    print(f"threshold {threshold:.2f}; kappa of duplicate or not:")
    for name, some in (
        ("all", pairs),
        ("real", [pair for pair in pairs if not pair.made]),
        ("made", [pair for pair in pairs if pair.made]),
    ):
        agreement = kappa((str(a == DUPLICATE), str(b == DUPLICATE)) for a, b in (p.labels for p in some))
        disputed = sum(pair.is_duplicate is None for pair in some)
        print(
            f"  {name:<5} {agreement:.2f} of {len(some)} pairs ({kappa(p.labels for p in some):.2f} of five"
            f" labels), {disputed} disputed"
        )
    print("| half | pairs | duplicates | suggested | precision | recall |")
    print("| ---- | ----: | ---------: | --------: | --------: | -----: |")
    for half in (True, False):
        for name in ("real", "made", "both"):
            some = [
                p for p in pairs if p.chosen_on == half and name in ("both", "made" if p.made else "real")
            ]
            known = [p for p in some if p.is_duplicate is not None]
            precision, recall = precision_and_recall(some, score, threshold)
            print(
                f"| {'chosen on' if half else 'other'}, {name} | {len(known)}"
                f" | {sum(bool(p.is_duplicate) for p in known)}"
                f" | {sum(score(p) >= threshold for p in known)} | {precision:.2f} | {recall:.2f} |"
            )


def report_conflicts(pairs: Sequence[Labelled], threshold: float) -> None:
    """What the labellers call the pairs that are near enough to contradict, if status, outcome or date say so."""
    print("| half | by | pairs | contradict | supersede | duplicates | others |")
    print("| ---- | -- | ----: | ---------: | --------: | ---------: | -----: |")
    for half in (True, False):
        some = [pair for pair in pairs if pair.chosen_on == half and score(pair) < threshold]
        for name, nearness, least in (
            ("the score", score, 0.72),
            ("the score", score, 0.78),
            ("the subject", subject_of, CONFLICT_SUBJECT),
            ("the subject", subject_of, LATER_SUBJECT),
        ):
            near = [p.labels for p in some if nearness(p) >= least]
            counts = [sum(label in labels for labels in near) for label in SAID_OF_ONE_SUBJECT]
            others = sum(not set(labels) & set(SAID_OF_ONE_SUBJECT) for labels in near)
            print(
                f"| {'chosen on' if half else 'other'} | {name} from {least} | {len(near)}"
                f" | {' | '.join(map(str, counts))} | {others} |"
            )


def every_suggestion(found: Candidates, ids: dict[str, str], threshold: float, *, listed: bool) -> None:
    """What the engine suggests among the real records alone, and what the labellers said of it."""
    real = {node_id: name for name, node_id in ids.items() if not name.startswith(("made/", "versions/"))}
    said = [
        {row["pair"]: row["label"] for row in lines(LABELLED / f"labels-{who}.jsonl")} for who in ("a", "b")
    ]
    labels = {
        frozenset((row["a"], row["b"])): (said[0][row["pair"]], said[1][row["pair"]])
        for row in lines(LABELLED / "pool.jsonl")
    }
    for sort in Sort:
        counted: dict[str, int] = {}
        for pair in sorted(found.pairs):
            if not set(pair) <= real.keys():
                continue
            suggestion = judged(found.ends[pair[0]], found.ends[pair[1]], found.between(pair), threshold)
            if suggestion is None or suggestion.sort != sort:
                continue
            label = labels.get(frozenset((real[pair[0]], real[pair[1]])))
            name = " / ".join(label) if label else "unjudged"
            counted[name] = counted.get(name, 0) + 1
            if listed:
                why = ", ".join(str(one["code"]) for one in suggestion.why)
                print(f"  {suggestion.score:.3f} {name:<24} {why:<24} {real[pair[0]]} | {real[pair[1]]}")
        print(f"{sort}: {sum(counted.values())} suggested among {len(real)} real records: {counted}")


def main() -> None:
    parser = argparse.ArgumentParser(
        description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter
    )
    parser.add_argument("data", type=Path, help="the folder with adrs/ and adr-versions/")
    parser.add_argument("--choose", action="store_true", help="weights and threshold on the half for that")
    parser.add_argument("--tried", action="store_true", help="the score that was not taken, on both halves")
    parser.add_argument("--all", action="store_true", help="list every suggestion among the real records")
    options = parser.parse_args()
    call_command("migrate", verbosity=0)
    project = Project.objects.filter(slug=SLUG).first()
    if project is None:
        import tempfile

        with tempfile.TemporaryDirectory() as folder:
            project = fill(options.data, Path(folder))
    ids = node_ids(project)
    found = candidates_of(list(ids.values()))
    pairs, missing = labelled_pairs(found, ids)
    threshold = ProjectPolicy().duplicate_cosine
    print(
        f"{len(ids)} records, {len(found.pairs)} pairs looked at, {len(pairs)} labelled, {missing} left out"
    )
    if options.choose:
        choose(pairs)
        return
    report(pairs, score, threshold)
    if options.tried:
        print(f"Tried, and not taken: {TRIED_WEIGHTS}")
        report(pairs, weighed(*TRIED_WEIGHTS), TRIED_THRESHOLD)
    report_conflicts(pairs, threshold)
    every_suggestion(found, ids, threshold, listed=options.all)


if __name__ == "__main__":
    main()
