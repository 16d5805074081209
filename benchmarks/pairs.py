"""Suggested pairs against what two labellers said: how many duplicates are found, how many suggestions are right.

    DATABASE_URL=sqlite:////tmp/pairs.sqlite3 python benchmarks/pairs.py ../shared/data [--choose] [--all]

The decision records, their earlier versions as separate records and the texts made for this (tests/data/pairs) are
brought into one project on the first run, and embedded. A pair belongs to the half that the hash of its two names says:
weights and threshold are chosen on the one (`--choose`), the numbers are of the other. A pair is a duplicate where both
labellers say so, none where neither does; those they disagree on are counted apart. `--all` lists every suggestion among
the real records with its labels. The results are in docs/pairs.md.
"""

from __future__ import annotations

import argparse
import hashlib
import json
import os
import sys
from collections.abc import Callable, Iterable, Sequence
from dataclasses import dataclass
from itertools import product
from pathlib import Path
from typing import Any

TOP = Path(__file__).resolve().parent.parent
sys.path.insert(0, str(TOP))
os.environ.setdefault("DJANGO_SETTINGS_MODULE", "memory_site.settings")

import django

django.setup()

import numpy as np
from django.core.management import call_command

from curation.models import Sort
from curation.pairs import judging
from curation.pairs.candidates import Candidates, candidates_of, ends, kept_words
from curation.pairs.judging import judged
from curation.pairs.overlap import Overlap, overlap_of
from decisions.actions import create_decisions
from decisions.models import Decision
from projects.models import Project, ProjectPolicy
from recall.models import Embedding
from recall.passages import RECORD_PART, record_text
from recall.similar import rebuild_similarities
from recall.vectors import configured_encoder, record_vector
from recall.words import keep_words
from records.actor import Actor
from records.kinds import kind_of
from records.queries import records_by_node_id
from transfer.importing.importer import Options, import_folder

SLUG = "pairs"
LABELLED = TOP / "tests/data/pairs"
DUPLICATE = "duplicate"
LEAST_PRECISION = 0.8


@dataclass(frozen=True)
class Labelled:
    """A pair of the pool: what both said, what is known of it, and whether the engine looks at it at all."""

    name: str
    made: bool
    chosen_on: bool
    labels: tuple[str, str]
    cosine: float
    overlap: Overlap
    is_candidate: bool

    @property
    def is_duplicate(self) -> bool | None:
        """None where the labellers disagree."""
        said = {label == DUPLICATE for label in self.labels}
        return said.pop() if len(said) == 1 else None


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


def lines(path: Path) -> list[dict[str, Any]]:
    return [json.loads(line) for line in path.read_text(encoding="utf-8").splitlines() if line.strip()]


def node_ids(project: Project) -> dict[str, str]:
    """Of each file of the shared data and each made text the record that was made of it."""
    rows = Decision.objects.filter(project=project).only("pk", "origin")
    return {row.origin["path"]: row.node_id for row in rows if row.origin}


def labelled_pairs(found: Candidates, ids: dict[str, str]) -> tuple[list[Labelled], int]:
    """The pool's pairs, and how many of them name a file that made no record."""
    said = [
        {row["pair"]: row["label"] for row in lines(LABELLED / f"labels-{who}.jsonl")} for who in ("a", "b")
    ]
    pairs, missing = [], 0
    words = kept_words(records_by_node_id(ids.values()), list(ids.values()))
    for row in lines(LABELLED / "pool.jsonl"):
        if row["a"] not in ids or row["b"] not in ids:
            missing += 1
            continue
        pair = ends(ids[row["a"]], ids[row["b"]])
        vectors = [np.frombuffer(record_vector(node_id) or b"", dtype="<f4") for node_id in pair]
        names = sorted((row["a"], row["b"]))
        pairs.append(
            Labelled(
                name=" | ".join(names),
                made=row["pool"] == "made",
                chosen_on=hashlib.sha256("\0".join(names).encode()).digest()[0] % 2 == 0,
                labels=(said[0][row["pair"]], said[1][row["pair"]]),
                cosine=float(np.dot(vectors[0], vectors[1])),
                overlap=overlap_of(words[pair[0]], words[pair[1]]),
                is_candidate=pair in found.cosines or pair in found.pairs,
            )
        )
    return pairs, missing


def kappa(labels: Iterable[tuple[str, str]]) -> float:
    """Cohen's kappa: the agreement beyond what two who label by chance, each by their own shares, would have."""
    pairs = list(labels)
    agreed = sum(one == other for one, other in pairs) / len(pairs)
    names = {label for pair in pairs for label in pair}
    chance = sum(
        (sum(one == name for one, _ in pairs) / len(pairs))
        * (sum(other == name for _, other in pairs) / len(pairs))
        for name in names
    )
    return (agreed - chance) / (1 - chance)


Score = Callable[[Labelled], float]


def score(pair: Labelled) -> float:
    """As the engine scores it; 0 where it never looks at the pair."""
    return judging.score_of(pair.cosine, pair.overlap) if pair.is_candidate else 0.0


def precision_and_recall(pairs: Sequence[Labelled], score: Score, threshold: float) -> tuple[float, float]:
    known = [pair for pair in pairs if pair.is_duplicate is not None]
    suggested = [pair for pair in known if score(pair) >= threshold]
    right = sum(bool(pair.is_duplicate) for pair in suggested)
    positives = sum(bool(pair.is_duplicate) for pair in known)
    return right / len(suggested) if suggested else 1.0, right / positives if positives else 1.0


def best_threshold(pairs: Sequence[Labelled], score: Score) -> tuple[float, float, float]:
    """(threshold, precision, recall): the best F1 whose precision is at least LEAST_PRECISION."""
    best = (1.0, 1.0, 0.0)
    for threshold in sorted({round(score(pair), 3) for pair in pairs}):
        precision, recall = precision_and_recall(pairs, score, threshold)
        if precision >= LEAST_PRECISION and _f1(precision, recall) > _f1(*best[1:]):
            best = (threshold, precision, recall)
    return best


def _f1(precision: float, recall: float) -> float:
    return 2 * precision * recall / (precision + recall) if precision + recall else 0.0


def choose(pairs: Sequence[Labelled]) -> None:
    """The weights of the words with their best threshold, on the half to choose on."""
    half = [pair for pair in pairs if pair.chosen_on]
    found = []
    for title, body in product(np.arange(0, 0.41, 0.05), np.arange(0, 0.81, 0.1)):

        def weighed(pair: Labelled, title: float = title, body: float = body) -> float:
            moved = title * pair.overlap.title + body * judging.shared(pair.overlap)
            return pair.cosine + moved if pair.is_candidate else 0.0

        found.append((*best_threshold(half, weighed), title, body))
    for threshold, precision, recall, title, body in sorted(found, key=lambda row: -_f1(row[1], row[2]))[:12]:
        print(
            f"  title {title:.2f}  words {body:.2f}  threshold {threshold:.3f}"
            f"  precision {precision:.2f}  recall {recall:.2f}  F1 {_f1(precision, recall):.3f}"
        )


def report(pairs: Sequence[Labelled], threshold: float) -> None:
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
    print(
        f"{len(ids)} records, {len(found.pairs)} pairs looked at, {len(pairs)} labelled, {missing} left out"
    )
    if options.choose:
        choose(pairs)
    threshold = ProjectPolicy().duplicate_cosine
    report(pairs, threshold)
    every_suggestion(found, ids, threshold, listed=options.all)


if __name__ == "__main__":
    main()
