"""The import itself: read everything, compare with what is kept, write file by file, then link.

A file is written whole or not at all, some files a transaction; stopped at any moment and run again, it goes on.
"""

from __future__ import annotations

import logging
import time
from dataclasses import dataclass
from pathlib import Path

from django.db import DataError, IntegrityError

from database.transactions import transactional
from decisions.actions import create_decisions
from decisions.imported import edited_here, import_again, note_conflict, withdraw_conflict
from decisions.models import Decision, Status
from projects.models import Project, User
from records import leases
from records.actor import Actor, Channel, SourceKind
from records.errors import VerbError
from records.models import ReviewState
from transfer.adr.records import ParsedFile, ParsedRecord
from transfer.importing.columns import Columns, check, columns_of
from transfer.importing.folders import one_line
from transfer.importing.judge import Verdict, judge
from transfer.importing.linking import link_records
from transfer.importing.reading import Progress, Reading, compare, read_folder
from transfer.importing.report import OUTCOMES, FileLine, RecordLine, Report

log = logging.getLogger("memory_desk.import")
ACTOR_NAME = "import_adrs"
FILES_A_TRANSACTION = 20
LEASE_SECONDS = 120.0


@dataclass(frozen=True)
class Options:
    """`source` tells folders of several repositories in one project apart; `approved_by` vets what is new."""

    status_default: str = Status.PENDING
    source: str = ""
    git_dates: bool = False
    approved_by: User | None = None
    dry_run: bool = False


class ImportRunning(Exception):
    """Another import into the project is at work."""


def import_folder(
    path: Path, project: Project | None, options: Options, progress: Progress = lambda what, done, total: None
) -> Report:
    """Bring the decision records under `path` into the project (None: a dry run into one that is not made yet)."""
    return _Import(path, project, options, progress).run()


class _Import:
    def __init__(self, path: Path, project: Project | None, options: Options, progress: Progress) -> None:
        self.path, self.project, self.options = path, project, options
        self.progress = progress
        self.report = Report(project.slug if project else "", str(path), options.dry_run)
        self.actor = Actor.command(
            ACTOR_NAME,
            channel=Channel.IMPORT,
            source_kind=SourceKind.DOCUMENT,
            user=options.approved_by,
        )
        self.holder = leases.new_holder()

    def run(self) -> Report:
        began = time.monotonic()
        reading = read_folder(self.path, git_dates=self.options.git_dates, progress=self.progress)
        self.report.notes += reading.notes
        if self.project is None or self.options.dry_run:
            self._bring_in(reading)
        else:
            self._lease()
            try:
                self._bring_in(reading)
            finally:
                leases.give_back(self._lease_name, self.holder)
        self.report.seconds = time.monotonic() - began
        return self.report

    @property
    def _lease_name(self) -> str:
        return f"import into project {self.project.pk if self.project else ''}"

    def _lease(self) -> None:
        if not leases.take(self._lease_name, self.holder, LEASE_SECONDS):
            raise ImportRunning("Another import into this project is running.")

    def _bring_in(self, reading: Reading) -> None:
        compare(reading, self.project, self.options.source, self.actor)
        self.report.missing = reading.resolution.missing
        lines = list(reading.lines)
        total = len(reading.parsed)
        for start in range(0, total, FILES_A_TRANSACTION):
            chunk = reading.parsed[start : start + FILES_A_TRANSACTION]
            if not self.options.dry_run:
                self._lease()
            lines += self._write_files(chunk, reading)
            self.progress("import", start + len(chunk), total)
        self.report.files = sorted(lines, key=lambda line: line.path)
        self._link(reading)
        self._say_gone(reading)

    @transactional
    def _write_files(self, chunk: list[ParsedFile], reading: Reading) -> list[FileLine]:
        known = [old.pk for file in chunk for r in file.records if (old := reading.known(r.key))]
        kept = Decision.objects.select_related("project").defer("source_text").in_bulk(known)
        return [self._write_file(file, reading, kept) for file in chunk]

    def _write_file(self, file: ParsedFile, reading: Reading, kept: dict[int, Decision]) -> FileLine:
        line = FileLine(file.path, "unchanged", notes=list(file.notes))
        if len(file.records) > 1:
            line.why = file.why
        try:
            all_columns = [self._columns(record, file, reading) for record in file.records]
            for columns in all_columns:
                check(columns)
            line.records = self._write_records(file, all_columns, reading, kept)
        except (VerbError, DataError, IntegrityError) as error:
            log.warning("%s is not imported: %s", one_line(file.path), error)
            line.records = [
                RecordLine(record.key, "failed", title=record.title[:255], two_ways=record.ambiguities)
                for record in file.records
            ]
            line.outcome, line.why = "failed", str(error)
            return line
        line.outcome = min((record.outcome for record in line.records), key=OUTCOMES.index)
        return line

    def _columns(self, record: ParsedRecord, file: ParsedFile, reading: Reading) -> Columns:
        return columns_of(
            record,
            file,
            source=self.options.source,
            status_default=self.options.status_default,
            superseded=record.key in reading.superseded,
            git_day=reading.git_days.get(record.path),
        )

    @transactional
    def _write_records(
        self, file: ParsedFile, all_columns: list[Columns], reading: Reading, kept: dict[int, Decision]
    ) -> list[RecordLine]:
        lines = []
        for record, columns in zip(file.records, all_columns, strict=True):
            old = reading.known(record.key)
            decision = kept.get(old.pk) if old else None
            if decision is None:
                node_id, verdict = self._create(record, columns), Verdict("imported")
            else:
                node_id, verdict = decision.node_id, self._again(record, columns, decision)
            decided = columns.values["decided_at"]
            lines.append(
                RecordLine(
                    record.key,
                    verdict.outcome,
                    node_id,
                    columns.values["title"],
                    columns.values["status"],
                    decided.date().isoformat() if decided else "",
                    [*columns.said, *verdict.said],
                    record.ambiguities,
                )
            )
        return lines

    def _create(self, record: ParsedRecord, columns: Columns) -> str:
        if self.options.dry_run or self.project is None:
            return ""
        (decision,) = create_decisions(
            actor=self.actor,
            project=self.project,
            rows=[columns.values],
            reason=_reason(record),
            review_state=ReviewState.APPROVED if self.options.approved_by else None,
        )
        return decision.node_id

    def _again(self, record: ParsedRecord, columns: Columns, decision: Decision) -> Verdict:
        verdict = judge(decision, columns)
        if self.options.dry_run:
            return verdict
        if verdict.outcome == "unchanged":
            if edited_here(decision):
                withdraw_conflict(
                    actor=self.actor, decision=decision, reason="The document is as it was imported."
                )
            return verdict

        def changes(locked: Decision) -> dict[str, object]:
            nonlocal verdict
            verdict = judge(locked, columns)  # somebody may have saved since it was read
            return verdict.changes

        import_again(actor=self.actor, decision=decision, changes=changes, reason=_reason(record))
        if verdict.outcome == "conflict":
            note_conflict(actor=self.actor, decision=decision, theirs=columns.values, reason=_reason(record))
        return verdict

    def _link(self, reading: Reading) -> None:
        read = {record.key: record.node_id for file in self.report.files for record in file.records}
        node_ids = {key: node_id for key, node_id in read.items() if node_id}
        node_ids |= {old.key: old.node_id for old in reading.unmatched() if old.key not in read}
        if self.options.dry_run:  # what is not imported yet still counts as an end
            node_ids |= {key: key for key, node_id in read.items() if not node_id}
        if self.project is not None:
            self.progress("link", len(reading.resolution.edges), len(reading.resolution.edges))
            self.report.links = link_records(
                reading.resolution.edges,
                node_ids,
                set(read),
                project=self.project,
                actor=self.actor,
                dry_run=self.options.dry_run,
            )
        else:
            self.report.links.made = len(reading.resolution.edges)

    def _say_gone(self, reading: Reading) -> None:
        by_path = {line.path: line for line in self.report.files}
        for old in sorted(reading.unmatched(), key=lambda old: old.key):
            line = by_path.get(old.file)
            if line is not None and line.outcome in ("left out", "failed"):
                line.notes.append(f"was {old.node_id}, which is left as it is")
            elif line is not None or (self.path.is_dir() and not (reading.root / old.file).exists()):
                self.report.gone.append((old.key, old.node_id))


def _reason(record: ParsedRecord) -> str:
    return f"Read from {one_line(record.key)}"
