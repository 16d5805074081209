"""What an import did, file by file, for a person and for a program."""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterator
from dataclasses import asdict, dataclass, field
from typing import Any, Literal

from transfer.adr.resolve import Missing
from transfer.importing.folders import one_line

Outcome = Literal["failed", "conflict", "imported", "updated", "unchanged", "left out"]
# The first of these that happened to a record of a file is what the file is listed as.
OUTCOMES: tuple[Outcome, ...] = ("failed", "conflict", "imported", "updated", "unchanged", "left out")


@dataclass
class RecordLine:
    """What became of one decision; `two_ways` is what could be read otherwise, `said` what was done and why."""

    key: str
    outcome: Outcome
    node_id: str = ""
    title: str = ""
    status: str = ""
    decided_on: str = ""
    said: list[str] = field(default_factory=list)
    two_ways: list[str] = field(default_factory=list)


@dataclass
class FileLine:
    """What became of one file; `notes` is what was odd in its bytes or its front matter."""

    path: str
    outcome: Outcome
    why: str = ""
    records: list[RecordLine] = field(default_factory=list)
    notes: list[str] = field(default_factory=list)


@dataclass
class LinkLines:
    """Relations between the records: counts, and sentences for those that a person should see."""

    made: int = 0
    kept: int = 0
    removed: int = 0
    said: list[str] = field(default_factory=list)


@dataclass
class Report:
    """All of it. `gone` are (path, node id) of records whose file is no longer there; they are left as they are."""

    project: str
    folder: str
    dry_run: bool
    files: list[FileLine] = field(default_factory=list)
    links: LinkLines = field(default_factory=LinkLines)
    missing: list[Missing] = field(default_factory=list)
    gone: list[tuple[str, str]] = field(default_factory=list)
    notes: list[str] = field(default_factory=list)
    seconds: float = 0.0

    @property
    def failed(self) -> bool:
        return any(file.outcome == "failed" for file in self.files)

    def counts(self) -> dict[str, int]:
        """Files by outcome."""
        counted = Counter(file.outcome for file in self.files)
        return {outcome: counted[outcome] for outcome in OUTCOMES}

    def record_counts(self) -> dict[str, int]:
        counted = Counter(record.outcome for file in self.files for record in file.records)
        return {outcome: counted[outcome] for outcome in OUTCOMES[:-1]}

    def shown_missing(self, *, all_references: bool) -> list[Missing]:
        """References in running text mostly lead elsewhere on purpose; those of metadata and status are named."""
        return [m for m in self.missing if all_references or m.reference.where != "text"]


def as_json(report: Report, *, all_references: bool) -> dict[str, Any]:
    return {
        "project": report.project,
        "folder": report.folder,
        "dry_run": report.dry_run,
        "seconds": round(report.seconds, 2),
        "files_by_outcome": report.counts(),
        "records_by_outcome": report.record_counts(),
        "files": [asdict(file) for file in report.files],
        "links": asdict(report.links),
        "missing_references": [
            {
                "record": m.source,
                "relation": m.reference.relation,
                "written": m.reference.written,
                "where": m.reference.where,
                "why": m.why,
            }
            for m in report.shown_missing(all_references=all_references)
        ],
        "gone": [{"path": path, "node_id": node_id} for path, node_id in report.gone],
        "notes": report.notes,
    }


def as_text(report: Report, *, all_references: bool) -> Iterator[str]:
    for file in report.files:
        yield from _file_lines(file)
    missing = report.shown_missing(all_references=all_references)
    for m in missing:
        yield _clean(f'no record for {m.reference.relation} "{m.reference.written}" in {m.source}: {m.why}')
    for path, node_id in report.gone:
        yield _clean(f"gone: {path} ({node_id}) is no longer there; the record is left as it is")
    yield from (_clean(f"link: {said}") for said in report.links.said)
    yield from (_clean(note) for note in report.notes)
    yield ""
    yield from _summary(report, len(missing))


def _file_lines(file: FileLine) -> Iterator[str]:
    alone = file.records[0] if len(file.records) == 1 else None
    facts = _facts(alone) if alone else file.why
    yield _clean(f"{file.outcome:9} {file.path}{': ' + facts if facts else ''}")
    yield from (_clean(f"          {note}") for note in file.notes)
    for record in file.records:
        indent = "          "
        if alone is None:
            yield _clean(f"{indent}{record.outcome}: {_facts(record)}")
            indent += "  "
        elif file.outcome in ("failed", "conflict") and file.why:
            yield _clean(f"{indent}{file.why}")
        yield from (_clean(f"{indent}{said}") for said in record.said)
        yield from (_clean(f"{indent}two ways to read it: {way}") for way in record.two_ways)


def _facts(record: RecordLine) -> str:
    parts = [record.node_id, f'"{record.title}"', record.status, record.decided_on or "no date"]
    return " ".join(part for part in parts if part)


def _summary(report: Report, missing: int) -> Iterator[str]:
    yield f"{'':10}{'files':>7}{'records':>9}"
    records = report.record_counts()
    for outcome, count in report.counts().items():
        yield f"{outcome:10}{count:>7}{records.get(outcome, ''):>9}"
    links = report.links
    yield f"links: {links.made} made, {links.kept} kept, {links.removed} taken back; references without a record: {missing}"
    if report.dry_run:
        yield "Dry run: nothing was written."
    yield f"{report.seconds:.1f} s"


def _clean(text: str) -> str:
    return one_line(text)
