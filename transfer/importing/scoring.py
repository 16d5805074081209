"""An import scored against a list of what is right, by what is in the database after it; nothing of it stays there."""

from __future__ import annotations

import csv
import time
from dataclasses import dataclass
from datetime import UTC
from pathlib import Path
from typing import Any, cast

from django.db import connection, transaction
from django.test.utils import CaptureQueriesContext

from decisions.models import Decision
from decisions.models import Status as DecisionStatus
from projects.models import Project
from records.models import Link, ProjectionMark, Relation, Revision
from transfer.adr.records import ParsedFile, ParsedRecord, Status
from transfer.adr.score import Score, score_files
from transfer.importing.importer import Options, import_folder
from transfer.importing.report import Report

SCRATCH = "score-adr-import"


@dataclass
class ImportScore:
    """The score of the rows, the report of the first and of the second run, and what the second wrote."""

    score: Score
    first: Report
    second: Report
    links: dict[str, int]
    superseded: list[str]
    superseded_without_successor: list[str]
    superseded_by_unresolved: list[str]
    second_wrote: dict[str, int]
    seconds: float

    @property
    def good(self) -> bool:
        return (
            all(self.score.share(name) >= 97 for name in self.score.counted)
            and not self.score.not_imported
            and not self.score.imported_besides
            and not self.superseded_by_unresolved
            and not any(self.second_wrote.values())
        )


def score_import(folder: Path, expected: Path) -> ImportScore:
    """Import twice into a project of its own, read the rows, roll all of it back."""
    with expected.open(encoding="utf-8", newline="") as stream:
        rows = {row["file"]: row for row in csv.DictReader(stream, delimiter="\t")}
    with transaction.atomic():
        try:
            project = Project.objects.create(name=SCRATCH, slug=SCRATCH)
            return score_project(folder, project, rows)
        finally:
            transaction.set_rollback(True)


def score_project(folder: Path, project: Project, rows: dict[str, dict[str, str]]) -> ImportScore:
    """The same in a project that is there, and stays."""
    began = time.monotonic()
    first = import_folder(folder, project, Options())
    seconds = time.monotonic() - began
    before = _sizes(project)
    with CaptureQueriesContext(connection) as queries:
        second = import_folder(folder, project, Options())
    written = {name: after - before[name] for name, after in _sizes(project).items()}
    written["statements"] = sum(_writes(query["sql"]) for query in queries.captured_queries)
    decisions = list(Decision.objects.filter(project=project).order_by("pk"))
    score = score_files(_as_files(decisions, first), rows)
    links = Link.objects.filter(project=project)
    followed = set(links.filter(relation=Relation.SUPERSEDES).values_list("target", flat=True))
    superseded = [decision for decision in decisions if decision.status == DecisionStatus.SUPERSEDED]
    return ImportScore(
        score=score,
        first=first,
        second=second,
        links={name: links.filter(relation=name).count() for name in ("SUPERSEDES", "RELATES_TO")},
        superseded=[decision.node_id for decision in superseded],
        superseded_without_successor=[d.origin["path"] for d in superseded if d.node_id not in followed],
        superseded_by_unresolved=[
            f'{m.source}: "{m.reference.written}": {m.why}'
            for m in first.missing
            if m.reference.relation == "SUPERSEDED_BY"
        ],
        second_wrote=written,
        seconds=seconds,
    )


def _sizes(project: Project) -> dict[str, int]:
    marks = ProjectionMark.objects.filter(project_id=project.pk)
    return {
        "decisions": Decision.objects.filter(project=project).count(),
        "revisions": Revision.objects.filter(project=project).count(),
        "links": Link.objects.filter(project=project).count(),
        "marks wanted": sum(marks.values_list("wanted_version", flat=True)),
    }


def _writes(sql: str) -> bool:
    """Whether a statement writes; the lease that keeps two imports apart is not of the records."""
    return (
        sql.lstrip().upper().startswith(("INSERT", "UPDATE", "DELETE", "REPLACE"))
        and "worker_leases" not in sql
    )


def _as_files(decisions: list[Decision], report: Report) -> list[ParsedFile]:
    """The rows in the shape that is scored."""
    by_file: dict[str, list[ParsedRecord]] = {}
    for decision in decisions:
        by_file.setdefault(decision.origin["file"], []).append(_as_record(decision, decision.origin))
    files = [ParsedFile(path, "record", "", records) for path, records in by_file.items()]
    others = [line for line in report.files if line.path not in by_file]
    return files + [ParsedFile(line.path, "not-a-record", line.why) for line in others]


def _as_record(decision: Decision, origin: dict[str, Any]) -> ParsedRecord:
    return ParsedRecord(
        key=origin["path"],
        path=origin["file"],
        number=origin["number"],
        designation=origin["designation"],
        title=decision.title,
        title_source=origin["title_source"],
        status=None if origin["status_defaulted"] else cast("Status | None", decision.status),
        status_written=decision.status_written or "",
        status_source=origin["status_source"],
        decided_on=decision.decided_at.astimezone(UTC).date() if decision.decided_at else None,
        date_source=origin["date_source"],
        date_written=origin["date_written"],
        body=decision.source_text or "",
        ambiguities=origin["notes"],
    )
