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
import hashlib
import json
import os
import re
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
from curation.pairs.judging import CONFLICT_SUBJECT, LATER_SUBJECT, judged
from curation.pairs.overlap import MOST_TOKENS, Overlap, Words, overlap_of, telling
from decisions.actions import create_decisions
from decisions.models import Decision
from projects.models import Project, ProjectPolicy
from recall.models import Embedding
from recall.passages import RECORD_PART, record_text
from recall.similar import rebuild_similarities
from recall.tokenise import search_text
from recall.vectors import configured_encoder, record_vector
from recall.words import keep_words
from records.actor import Actor
from records.kinds import kind_of
from records.queries import records_by_node_id
from transfer.importing.importer import Options, import_folder

SLUG = "pairs"
LABELLED = TOP / "tests/data/pairs"
DUPLICATE = "duplicate"
SAID_OF_ONE_SUBJECT = ("contradicts", "supersedes", DUPLICATE)
# What the file of an earlier version is called before its own name.
VERSION = re.compile(r"v\d+\.")
LEAST_PRECISION, LEAST_RECALL = 0.8, 0.7
# The score that was tried: the weights of cosine, words and gist (see agreeing), as the half to choose on gave them.
TRIED_WEIGHTS, TRIED_THRESHOLD = (0.4, 0.2, 0.4), 0.77
OUTSIDE, UNTOLD = 0.25, 0.9
FOLDS, SHUFFLES = 8, 5


@dataclass(frozen=True)
class Labelled:
    """A pair of the pool: what both said, what is known of it, and whether the engine looks at it at all."""

    name: str
    of: str
    made: bool
    chosen_on: bool
    labels: tuple[str, str]
    cosine: float
    overlap: Overlap
    gist: float
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
    records = records_by_node_id(ids.values())
    words = kept_words(records, list(ids.values()))
    gists = {node_id: gist_words(records[node_id], words[node_id]) for node_id in words}
    originals = {f"made/{text['id']}": text["of"] for text in lines(LABELLED / "rewrites.jsonl")}
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
                of=VERSION.sub("", Path(originals.get(names[0]) or originals.get(names[1]) or names[1]).name),
                made=row["pool"] == "made",
                chosen_on=hashlib.sha256("\0".join(names).encode()).digest()[0] % 2 == 0,
                labels=(said[0][row["pair"]], said[1][row["pair"]]),
                cosine=float(np.dot(vectors[0], vectors[1])),
                overlap=overlap_of(words[pair[0]], words[pair[1]]),
                gist=sum(
                    agreeing(gists[one], gists[other], words[other].all | gists[other])
                    for one, other in (pair, pair[::-1])
                )
                / 2,
                is_candidate=pair in found.cosines or pair in found.pairs,
            )
        )
    return pairs, missing


def gist_words(record: Any, words: Words) -> frozenset[str]:
    """The telling words of what a record decides: its title and summary."""
    return words.title | telling(search_text(kind_of(record).summary_of(record)).split()[:MOST_TOKENS])


def agreeing(gist: frozenset[str], others: frozenset[str], other: frozenset[str]) -> float:
    """Of the words of a gist that the other text has, the share in the other's gist: one that decides the opposite names as
    its choice what the other weighs or rejects further down. Where less than OUTSIDE of the other text is outside its gist,
    and of one word in any case, UNTOLD is taken for the share."""
    found = gist & other
    share = (len(found & others) + UNTOLD) / (len(found) + 1)
    told = min(1.0, (1 - len(others) / len(other)) / OUTSIDE) if other else 0.0
    return told * share + (1 - told) * UNTOLD


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


def subject_of(pair: Labelled) -> float:
    return judging.subject_of(pair.cosine, pair.overlap) if pair.is_candidate else 0.0


def precision_and_recall(pairs: Sequence[Labelled], score: Score, threshold: float) -> tuple[float, float]:
    known = [pair for pair in pairs if pair.is_duplicate is not None]
    suggested = [pair for pair in known if score(pair) >= threshold]
    right = sum(bool(pair.is_duplicate) for pair in suggested)
    positives = sum(bool(pair.is_duplicate) for pair in known)
    return right / len(suggested) if suggested else 1.0, right / positives if positives else 1.0


def best_threshold(pairs: Sequence[Labelled], score: Score) -> tuple[float, float]:
    """(threshold, margin): where the goal is exceeded most, or missed least, in the worse of precision and recall."""
    found = []
    for threshold in sorted({round(score(pair), 2) for pair in pairs}):
        precision, recall = precision_and_recall(pairs, score, threshold)
        found.append((min(precision - LEAST_PRECISION, recall - LEAST_RECALL), threshold))
    margin, threshold = max(found)
    return threshold, margin


def weighed(cosine: float, words: float, gist: float) -> Score:
    """The score that was tried, by any weights; bounded like the subject where the encoder cannot read the texts."""

    def score(pair: Labelled) -> float:
        if not pair.is_candidate:
            return 0.0
        overlap = pair.overlap
        most = 1.0 if overlap.is_read else 0.5 + 0.5 * min(overlap.title, overlap.body)
        return min(most, cosine * pair.cosine + words * overlap.beyond_chance + gist * pair.gist)

    return score


def titled(title: float, words: float) -> Score:
    """The engine's own kind of score, by any weights."""
    return lambda pair: (
        judging.score_of(pair.cosine, pair.overlap)
        + (title - judging.TITLE_WEIGHT) * pair.overlap.title
        + words * pair.overlap.contained
        if pair.is_candidate
        else 0.0
    )


def cross_validated(half: Sequence[Labelled], scores: Sequence[Score]) -> tuple[float, float]:
    """(precision, recall) on pairs of which none, nor any of the same original, had a part in choosing among the scores."""
    known = [pair for pair in half if pair.is_duplicate is not None]
    originals = sorted({pair.of for pair in known})
    right = suggested = positives = 0
    for shuffle in range(SHUFFLES):
        order = np.random.default_rng(shuffle).permutation(len(originals))
        fold = {of: int(place) % FOLDS for of, place in zip(originals, order, strict=True)}
        for held_out in range(FOLDS):
            others = [pair for pair in known if fold[pair.of] != held_out]
            (threshold, _), chosen = max(
                ((best_threshold(others, score), score) for score in scores), key=lambda found: found[0][1]
            )
            own = [pair for pair in known if fold[pair.of] == held_out]
            told = [pair for pair in own if chosen(pair) >= threshold]
            right += sum(bool(pair.is_duplicate) for pair in told)
            suggested += len(told)
            positives += sum(bool(pair.is_duplicate) for pair in own)
    return right / suggested, right / positives


def choose(pairs: Sequence[Labelled]) -> None:
    """Weights with their best threshold, on the half to choose on, and what cross-validation says of choosing so."""
    half = [pair for pair in pairs if pair.chosen_on]
    ours = [
        (float(title), float(words), 0.0)
        for title in np.arange(0, 0.41, 0.1)
        for words in np.arange(0, 0.41, 0.1)
    ]
    tried = [
        (float(cosine), float(words), float(1 - cosine - words))
        for cosine, words in product(np.arange(0.2, 1.01, 0.1), np.arange(0, 0.41, 0.1))
        if cosine + words < 1.01
    ]
    kinds = (
        ("cosine + title, words", {of: titled(*of[:2]) for of in ours}),
        ("cosine, words, gist", {of: weighed(*of) for of in tried}),
    )
    for name, scores in kinds:
        found = [(*best_threshold(half, one), of) for of, one in scores.items()]
        for threshold, _margin, of in sorted(found, key=lambda row: -row[1])[:6]:
            precision, recall = precision_and_recall(half, scores[of], threshold)
            weights = " ".join(f"{weight:.1f}" for weight in of)
            print(
                f"  {name}: {weights}  threshold {threshold:.2f}  precision {precision:.2f}  recall {recall:.2f}"
            )
        precision, recall = cross_validated(half, list(scores.values()))
        print(f"  {name}, cross-validated: precision {precision:.2f}, recall {recall:.2f}")
    precision, recall = cross_validated(half, [score])
    print(
        f"  as it is, but for the threshold, cross-validated: precision {precision:.2f}, recall {recall:.2f}"
    )


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
