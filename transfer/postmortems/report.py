"""What an import of post-mortems did: a line a file, and a table of what came out."""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterator
from dataclasses import asdict, dataclass, field
from typing import Any

from transfer.importing.folders import one_line
from transfer.importing.report import OUTCOMES, FileLine

KINDS = ("run", "memory", "pitfall", "outcome")


@dataclass
class Report:
    project: str
    folder: str
    dry_run: bool
    files: list[FileLine] = field(default_factory=list)
    seconds: float = 0.0

    @property
    def failed(self) -> bool:
        return any(file.outcome == "failed" for file in self.files)

    def counts(self) -> dict[str, Counter[str]]:
        """What it is counted of ("files" or a kind) -> outcome -> how many."""
        counted = {"files": Counter(str(file.outcome) for file in self.files)}
        for kind in KINDS:
            counted[kind] = Counter(
                str(line.outcome) for file in self.files for line in file.records if line.key == kind
            )
        return counted


def as_json(report: Report) -> dict[str, Any]:
    return {
        "project": report.project,
        "folder": report.folder,
        "dry_run": report.dry_run,
        "seconds": round(report.seconds, 2),
        "counts": {of: dict(counted) for of, counted in report.counts().items()},
        "files": [asdict(file) for file in report.files],
    }


def as_text(report: Report) -> Iterator[str]:
    for file in report.files:
        yield from _file_lines(file)
    yield ""
    counts = report.counts()
    yield f"{'':10}{'files':>7}{'runs':>8}{'memories':>10}{'pitfalls':>10}{'outcomes':>10}"
    for outcome in OUTCOMES:
        numbers = [counts[of][outcome] for of in ("files", *KINDS)]
        yield f"{outcome:10}{numbers[0]:>7}{numbers[1]:>8}{numbers[2]:>10}{numbers[3]:>10}{numbers[4]:>10}"
    if report.dry_run:
        yield "Dry run: nothing was written."
    yield f"{report.seconds:.1f} s"


def _file_lines(file: FileLine) -> Iterator[str]:
    titles = [f'"{line.title}"' for line in file.records if line.key == "run"]
    ids = " ".join(line.node_id for line in file.records if line.node_id)
    facts = file.why or ", ".join(titles)
    yield one_line(f"{file.outcome:9} {file.path}: {facts}")
    if ids:
        yield one_line(f"          {ids}")
    yield from (one_line(f"          {note}") for note in file.notes)
    for line in file.records:
        yield from (one_line(f"          {line.node_id}: {said}") for said in line.said)
