"""Compares what is read from a folder with an `expected.tsv`: `python -m transfer.adr.score FOLDER [EXPECTED]`."""

from __future__ import annotations

import csv
import sys
from collections.abc import Iterable
from dataclasses import dataclass, field
from pathlib import Path

from transfer.adr.parse import parse_file
from transfer.adr.records import ParsedFile, ParsedRecord
from transfer.adr.resolve import Resolution, resolve

FIELDS = ("title", "status", "date")
RECORD_SUFFIXES = frozenset({".md", ".markdown", ".mdx", ".rst", ".adoc", ".asciidoc", ".txt"})


@dataclass(frozen=True)
class Miss:
    """One field read otherwise than expected."""

    file: str
    field: str
    expected: str
    read: str
    reason: str


@dataclass
class Score:
    """Right and counted per field, every miss, and files imported or left out against the list."""

    right: dict[str, int] = field(default_factory=lambda: dict.fromkeys(FIELDS, 0))
    counted: dict[str, int] = field(default_factory=lambda: dict.fromkeys(FIELDS, 0))
    misses: list[Miss] = field(default_factory=list)
    not_imported: list[str] = field(default_factory=list)
    imported_besides: list[str] = field(default_factory=list)
    left_out: list[ParsedFile] = field(default_factory=list)
    imported: int = 0
    resolution: Resolution = field(default_factory=Resolution)

    def share(self, name: str) -> float:
        """Right of counted, in percent."""
        return 100.0 * self.right[name] / self.counted[name] if self.counted[name] else 100.0


def read_folder(folder: Path) -> list[ParsedFile]:
    """Parses every text file under a folder, by its path inside it."""
    files = sorted(p for p in folder.rglob("*") if p.is_file() and p.suffix.lower() in RECORD_SUFFIXES)
    return [parse_file(p.read_bytes(), p.relative_to(folder).as_posix()) for p in files]


def score_folder(folder: Path, expected: Path) -> Score:
    """Reads the folder and scores it against the list; a `?` in the list is not counted."""
    with expected.open(encoding="utf-8", newline="") as stream:
        rows = {row["file"]: row for row in csv.DictReader(stream, delimiter="\t")}
    return score_files(read_folder(folder), rows)


def score_files(files: list[ParsedFile], rows: dict[str, dict[str, str]]) -> Score:
    """Scores parsed files against rows with title, status and date by file."""
    score = Score(resolution=resolve(files))
    by_path = {file.path: file for file in files}
    for file in files:
        if file.kind == "record":
            score.imported += 1
            if file.path not in rows:
                score.imported_besides.append(file.path)
        else:
            score.left_out.append(file)
    for path, row in rows.items():
        parsed = by_path.get(path)
        if parsed is None or not parsed.records:
            score.not_imported.append(
                f"{path}: {parsed.kind + ', ' + parsed.why if parsed else 'no such file'}"
            )
        _compare(score, path, row, parsed.records[0] if parsed and parsed.records else None)
    return score


def _compare(score: Score, path: str, row: dict[str, str], record: ParsedRecord | None) -> None:
    for name in FIELDS:
        expected = " ".join((row.get(name) or "").split())
        if expected == "?":
            continue
        score.counted[name] += 1
        read = _read_value(record, name)
        if record is not None and read == expected:
            score.right[name] += 1
        else:
            score.misses.append(Miss(path, name, expected, read, _reason(record, name)))


def _read_value(record: ParsedRecord | None, name: str) -> str:
    if record is None:
        return ""
    if name == "title":
        return " ".join(record.title.split())
    if name == "status":
        return record.status or ""
    return record.decided_on.isoformat() if record.decided_on else ""


def _reason(record: ParsedRecord | None, name: str) -> str:
    if record is None:
        return "not imported"
    source = {"title": record.title_source, "status": record.status_source, "date": record.date_source}[name]
    return "; ".join([f"read from {source or 'nowhere'}", *record.ambiguities])


def report(score: Score) -> Iterable[str]:
    """The score as lines for a terminal."""
    yield f"{'':8}{'right':>7}{'counted':>9}{'%':>8}"
    for name in FIELDS:
        yield f"{name:8}{score.right[name]:>7}{score.counted[name]:>9}{score.share(name):>8.2f}"
    yield f"records imported: {score.imported}; expected but not: {len(score.not_imported)}; besides: {len(score.imported_besides)}; left out: {len(score.left_out)}"
    yield from (f"  not imported: {line}" for line in score.not_imported)
    yield from (f"  imported besides: {line}" for line in score.imported_besides)
    for miss in score.misses:
        yield f'  {miss.field}: {miss.file}\n    expected "{miss.expected}", read "{miss.read}" ({miss.reason})'
    yield f"left out: {', '.join(f'{f.path} ({f.kind})' for f in score.left_out) or 'none'}"
    resolution = score.resolution
    supersedes = [edge for edge in resolution.edges if edge.relation == "SUPERSEDES"]
    strong = [m for m in resolution.missing if m.reference.relation != "RELATES_TO"]
    yield f"links: {len(resolution.edges)} ({len(supersedes)} SUPERSEDES); not resolved: {len(resolution.missing)} ({len(strong)} other than RELATES_TO)"
    yield from (
        f'  not resolved: {m.source} {m.reference.relation} "{m.reference.written}": {m.why}' for m in strong
    )


def main(arguments: list[str]) -> int:
    """Prints the score; exit code 0 where every field is at least 97 % right and the files are the expected ones."""
    if not arguments:
        sys.stderr.write(f"{__doc__}\n")
        return 2
    folder = Path(arguments[0])
    expected = Path(arguments[1]) if len(arguments) > 1 else folder / "expected.tsv"
    score = score_folder(folder, expected)
    sys.stdout.write("\n".join(report(score)) + "\n")
    good = (
        all(score.share(name) >= 97 for name in FIELDS)
        and not score.not_imported
        and not score.imported_besides
    )
    return 0 if good else 1


if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]))
