"""The import: file by file, each whole or not at all; run again, only what changed is written."""

from __future__ import annotations

import logging
import time
from collections.abc import Mapping
from dataclasses import dataclass, replace
from pathlib import Path
from typing import Any

from django.db import DataError, IntegrityError

from database.transactions import transactional
from decisions.actions import edit_outcome, record_outcome
from decisions.kind import OUTCOME
from decisions.models import Decision
from pitfalls.actions import create_pitfalls, edit_pitfall
from pitfalls.kind import PITFALL
from projects.models import Project
from records import leases
from records.actor import Actor, Channel, SourceKind
from records.errors import VerbError
from records.links import link
from records.models import Relation
from runs.actions import edit_memory, edit_run, record_run, remember
from runs.kind import MEMORY, RUN
from transfer.importing.folders import FoundFile, find_files, one_line
from transfer.importing.importer import LEASE_SECONDS, ImportRunning
from transfer.importing.report import OUTCOMES, FileLine, RecordLine
from transfer.postmortems.arriving import Arrivals, Row, key_of, worst
from transfer.postmortems.columns import memory_columns, outcome_columns, pitfall_columns, run_columns
from transfer.postmortems.forms import SUFFIXES
from transfer.postmortems.named import Decisions
from transfer.postmortems.reading import read_one_file
from transfer.postmortems.records import NotOne, PostMortem
from transfer.postmortems.report import Report

log = logging.getLogger("memory_desk.import")
ACTOR_NAME = "import_postmortems"
AGENT_NAME = "post-mortem"


@dataclass(frozen=True)
class Options:
    """`source` tells folders of several repositories in one project apart; `agent_name` is whose runs they become."""

    source: str = ""
    agent_name: str = AGENT_NAME
    dry_run: bool = False


def import_postmortems(path: Path, project: Project | None, options: Options) -> Report:
    """Bring the post-mortems under `path` into the project (None: a dry run into one that is not made yet)."""
    return _Import(path, project, options).run()


class _Import:
    def __init__(self, path: Path, project: Project | None, options: Options) -> None:
        self.path, self.project, self.options = path, project, options
        self.report = Report(project.slug if project else "", str(path), options.dry_run)
        self.actor = Actor.command(ACTOR_NAME, channel=Channel.IMPORT, source_kind=SourceKind.DOCUMENT)
        self.arrivals = Arrivals(project, options.source, dry_run=options.dry_run)
        self.decisions = Decisions(project)
        self.seen: dict[str, str] = {}
        self.holder = leases.new_holder()

    def run(self) -> Report:
        began = time.monotonic()
        writes = self.project is not None and not self.options.dry_run
        name = f"import into project {self.project.pk if self.project else ''}"
        try:
            for file in find_files(self.path, SUFFIXES):
                if writes and not leases.take(name, self.holder, LEASE_SECONDS):
                    raise ImportRunning("Another import into this project is running.")
                self.report.files.append(self._file(file))
        finally:
            if writes:
                leases.give_back(name, self.holder)
        self.report.seconds = time.monotonic() - began
        return self.report

    def _file(self, file: FoundFile) -> FileLine:
        try:
            found = read_one_file(file)
            self._told_apart(found)
        except NotOne as why:
            return FileLine(file.path, "failed" if why.bad else "left out", str(why))
        except Exception as error:  # one file must not end the import of the others
            log.exception("%s cannot be read", one_line(file.path))
            return FileLine(file.path, "failed", f"cannot be understood: {error!r}")
        return self._written(file, found)

    def _told_apart(self, found: list[PostMortem]) -> None:
        for one in found:
            if one.key in self.seen:
                raise NotOne(f"its {one.key} is that of {self.seen[one.key]} too", bad=True)
        self.seen |= {one.key: one.path for one in found}

    def _written(self, file: FoundFile, found: list[PostMortem]) -> FileLine:
        line = FileLine(file.path, "unchanged", notes=[note for one in found for note in one.said])
        try:
            line.records = self._write(found)
        except (VerbError, DataError, IntegrityError) as error:
            log.warning("%s is not imported: %s", one_line(file.path), error)
            line.outcome, line.why = "failed", str(error)
            return line
        line.outcome = worst(line.records, OUTCOMES)
        return line

    @transactional
    def _write(self, found: list[PostMortem]) -> list[RecordLine]:
        return [line for one in found for line in self._write_one(one)]

    def _write_one(self, one: PostMortem) -> list[RecordLine]:
        reason = f"Read from {one_line(one.path)}"
        lines = []
        line, run = self.arrivals.bring(self._run(one, reason))
        lines.append(line)
        # What follows says of itself which run it comes from.
        actor = replace(self.actor, run=run.node_id) if run is not None else self.actor
        line, _memory = self.arrivals.bring(self._memory(one, reason, actor, run))
        lines.append(line)
        line, pitfall = self.arrivals.bring(self._pitfall(one, reason, actor))
        lines.append(line)
        if line.outcome == "imported" and run is not None and pitfall is not None:
            link(run, Relation.RELATES_TO, pitfall, actor=actor, reason=reason)
        text = "\n".join([one.title_written, one.whole, one.prevention])
        lines += [
            self.arrivals.bring(self._outcome(one, reason, actor, key))[0]
            for key in self.decisions.named_in(text)
        ]
        return lines

    def _run(self, one: PostMortem, reason: str) -> Row:
        def create(columns: Mapping[str, Any]) -> Any:
            return record_run(
                actor=self.actor,
                project=self.project,
                agent_name=self.options.agent_name,
                reason=reason,
                **columns,
            )

        def edit(run: Any, columns: Mapping[str, Any]) -> Any:
            return edit_run(
                actor=self.actor, run=run, changes=columns, reason=reason, expected_version=run.version
            )

        return Row(RUN, key_of(one.key), run_columns(one), create, edit, one.title)

    def _memory(self, one: PostMortem, reason: str, actor: Actor, run: Any) -> Row:
        def create(columns: Mapping[str, Any]) -> Any:
            return remember(
                actor=actor,
                project=self.project,
                agent_name=self.options.agent_name,
                run=run,
                reason=reason,
                **columns,
            )

        def edit(memory: Any, columns: Mapping[str, Any]) -> Any:
            return edit_memory(
                actor=actor, memory=memory, changes=columns, reason=reason, expected_version=memory.version
            )

        return Row(MEMORY, key_of(one.key), memory_columns(one), create, edit, one.title)

    def _pitfall(self, one: PostMortem, reason: str, actor: Actor) -> Row:
        def create(columns: Mapping[str, Any]) -> Any:
            assert self.project is not None  # a dry run creates nothing
            return create_pitfalls(actor=actor, project=self.project, rows=[columns], reason=reason)[0]

        def edit(pitfall: Any, columns: Mapping[str, Any]) -> Any:
            return edit_pitfall(
                actor=actor, pitfall=pitfall, changes=columns, reason=reason, expected_version=pitfall.version
            )

        return Row(PITFALL, key_of(one.key), pitfall_columns(one), create, edit, one.title)

    def _outcome(self, one: PostMortem, reason: str, actor: Actor, key: int) -> Row:
        def create(columns: Mapping[str, Any]) -> Any:
            decision = Decision.objects.select_related("project").get(pk=key)
            return record_outcome(actor=actor, decision=decision, reason=reason, **columns)

        def edit(outcome: Any, columns: Mapping[str, Any]) -> Any:
            return edit_outcome(
                actor=actor, outcome=outcome, changes=columns, reason=reason, expected_version=outcome.version
            )

        title = f"of {Decisions.node_id(key)}"
        return Row(
            OUTCOME, key_of(one.key, Decisions.node_id(key)), outcome_columns(one), create, edit, title
        )
