"""Bringing an exported project into this desk: in batches, each one transaction with the place that it reached.

Stopped at any moment and run again it goes on; run again after that it brings nothing.
"""

from __future__ import annotations

import hashlib
from collections import Counter
from collections.abc import Callable
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

from django.core.exceptions import ValidationError

from database.transactions import transactional
from projects.actions import create_account, create_project
from projects.manager import Manager
from projects.models import Project, User
from projects.names import project_named
from records import leases
from records.arrivals import bring_in, bring_in_tombstones, holding_secrets, keep_arrived, said_of_secrets
from records.kinds import Kind, parse_node_id
from records.leases import LeaseBusy
from transfer.exchange.checking import Contents, check_file, parent_columns
from transfer.exchange.children import ChildWriter
from transfer.exchange.columns import read_fields
from transfer.exchange.lines import FileProblem, Line, read_lines
from transfer.exchange.naming import Names
from transfer.exchange.writing import ORDER, desk_name, project_sums
from transfer.models import Arrival
from work_sessions.models import WorkSession

LINES_A_BATCH, BYTES_A_BATCH = 200, 2 * 1024 * 1024
LEASE_SECONDS = 20.0
MANAGER = Manager.command("import_jsonl")
Progress = Callable[[int, int], None]


@dataclass
class Report:
    """Counts by type of line; `verified` None: not compared, since the project holds other things too."""

    project: Project
    there: Counter[str] = field(default_factory=Counter)
    brought: Counter[str] = field(default_factory=Counter)
    already: Counter[str] = field(default_factory=Counter)
    renamed: list[tuple[str, str]] = field(default_factory=list)
    notes: list[str] = field(default_factory=list)
    verified: bool | None = None


def import_file(path: Path, slug: str = "", progress: Progress = lambda done, total: None) -> Report:
    """The file into the project `slug`, or into one of the name that it had. Nothing is written if a line is wrong."""
    contents = check_file(path)
    try:
        with leases.held("import_jsonl", seconds=LEASE_SECONDS, wait=LEASE_SECONDS + 5) as holder:
            project, made = _project(contents, slug)
            importing = _Import(contents, project, holder, progress)
            report = importing.run(path)
            if made or _is_alone(project, contents):
                report.verified = _verified(report, contents)
            return report
    except LeaseBusy as error:
        raise FileProblem("Another import is at work.") from error


def _project(contents: Contents, slug: str) -> tuple[Project, bool]:
    """The project to bring it into, and whether it was made for it."""
    origin = hashlib.sha256(f"desk {contents.desk}".encode()).hexdigest()
    came = Arrival.objects.filter(origin=origin, kind="project", source_key=str(contents.project_id)).first()
    if not slug and came is not None and (known := Project.objects.filter(pk=int(came.node_id)).first()):
        return known, False
    wanted = slug or contents.slug
    project = project_named(wanted)
    own = project is not None and contents.desk == desk_name() and project.pk == contents.project_id
    if project is not None and not slug and not own:
        raise FileProblem(
            f"There is a project {wanted} here already: --project {wanted} brings all of it into that one, another name"
            " makes a new project. Nothing was written."
        )
    made = project is None
    if project is None:
        free = not Project.objects.filter(pk=contents.project_id).exists()
        try:
            project = create_project(
                by=MANAGER,
                name=slug or contents.name,
                slug=wanted,
                pk=contents.project_id if free else None,
            )
        except ValidationError as error:
            raise FileProblem(f"{wanted}: {' '.join(error.messages)}") from error
        if contents.created_at is not None:
            Project.objects.filter(pk=project.pk).update(created_at=contents.created_at)
    if came is None and not own:
        Arrival.objects.create(
            origin=origin, kind="project", source_key=str(contents.project_id), node_id=str(project.pk)
        )
    return project, made


def _is_alone(project: Project, contents: Contents) -> bool:
    """Nothing but this export is in the project."""
    held = sum(kind.model.objects.filter(project=project).count() for kind in ORDER)
    return held == contents.sums.counts.get("record", 0)


def _verified(report: Report, contents: Contents) -> bool | None:
    """Whether an export of it would have the same checksums; None where ids had to change."""
    if report.renamed or report.project.pk != contents.project_id:
        return None
    reads = "read" in contents.sums.counts
    found, wanted = project_sums(report.project, reads=reads).checksums, contents.sums.checksums
    differing = [kind for kind in wanted if found.get(kind) != wanted[kind]]
    if differing:
        report.notes.append(f"Checksums differ from the file's: {', '.join(differing)}.")
    return not differing


class _Import:
    def __init__(self, contents: Contents, project: Project, holder: str, progress: Progress) -> None:
        self.contents, self.project = contents, project
        self._holder, self._progress = holder, progress
        self.origin = hashlib.sha256(f"desk {contents.desk} into {project.pk}".encode()).hexdigest()
        self.report = Report(project)
        self._secrets: set[str] = set()
        self.people = self._people()
        is_own = contents.desk == desk_name() and project.pk == contents.project_id
        self.names = Names(self.origin, contents, project, is_own=is_own)
        self.renaming = self.names.renaming
        self.children = ChildWriter(
            self.origin,
            contents.export,
            project,
            self.people,
            self.renaming,
            f"import {contents.export} {project.pk}",
        )

    def _people(self) -> dict[str, int]:
        """Accounts by name. Those that are missing are made without a way to sign in, so that acts keep their names."""
        wanted = self.contents.people
        here = dict(User.objects.filter(username__in=wanted).values_list("username", "pk"))
        for name in sorted(wanted - here.keys()):
            try:
                user = create_account(by=MANAGER, username=name)
            except ValidationError as error:
                self.report.notes.append(f"{name!r} cannot be an account here: {' '.join(error.messages)}")
                continue
            User.objects.filter(pk=user.pk).update(is_active=False)
            here[name] = user.pk
            self.report.notes.append(f"The account {name} was made, inactive and without a password.")
        return here

    def run(self, path: Path) -> Report:
        total = sum(self.contents.sums.counts.values())
        batch: list[tuple[int, Line]] = []
        size = 0
        for number, length, line in read_lines(path):
            kind = line["type"]
            if batch and (
                _batch_of(batch[0][1]) != _batch_of(line)
                or len(batch) >= LINES_A_BATCH
                or size + length > BYTES_A_BATCH
            ):
                self._write(batch)
                self._progress(number, total)
                batch, size = [], 0
            if kind not in ("header", "end"):
                batch.append((number, line))
                size += length
        if batch:
            self._write(batch)
        self._ask_of_people()
        self.report.renamed = sorted(self.renaming.changed.items())
        self.report.notes += said_of_secrets(self._secrets)
        return self.report

    def _ask_of_people(self) -> None:
        """What each record asks for, once its links, history and reads are there."""
        rows = Arrival.objects.filter(origin=self.origin, batch=self.contents.export).order_by("pk")
        after = 0
        while page := list(rows.filter(pk__gt=after).values_list("pk", "node_id")[:LINES_A_BATCH]):
            after = page[-1][0]
            leases.take("import_jsonl", self._holder, LEASE_SECONDS)
            keep_arrived([node_id for _pk, node_id in page])

    def _write(self, batch: list[tuple[int, Line]]) -> None:
        if not leases.take("import_jsonl", self._holder, LEASE_SECONDS):
            raise FileProblem("Another import took over, since this one stood still for too long.")
        kind = batch[0][1]["type"]
        if kind == "record":
            brought = self._records(batch)
        elif kind == "gone":
            brought = self._gone(batch)
        else:
            brought = self.children.write(kind, batch)
        self.report.there[kind] += len(batch)
        self.report.brought[kind] += brought
        self.report.already[kind] += len(batch) - brought

    @transactional
    def _records(self, batch: list[tuple[int, Line]]) -> int:
        kind = _kind_of(batch)
        keys = self.names.awaited(kind, [line["id"] for _, line in batch])
        made = []
        for _, line in batch:
            if line["id"] in keys:
                record = self._instance(kind, line)
                record.pk = keys[line["id"]]
                made.append(record)
        if kind.model is WorkSession:
            self._name_sessions(made, [line for _, line in batch if line["id"] not in keys])
        self._secrets.update(holding_secrets(bring_in(kind, made)))
        self.names.came(kind, list(keys))
        return len(made)

    def _instance(self, kind: Kind, line: Line) -> Any:
        values, _ = read_fields(kind.model, line["fields"])
        reviewer = values.pop("reviewed_by", None)
        for name in parent_columns(kind):
            of = values.pop(name, None)
            parsed = parse_node_id(self.renaming.of(of)) if of is not None else None
            values[f"{name}_id"] = parsed[1] if parsed else None
        for name in ("merged_into", "source_run"):
            if values.get(name) is not None:
                values[name] = self.renaming.of(values[name])
        if values.get("source_session") is not None:
            values["source_session"] = self.renaming.of_session(values["source_session"])
        return kind.model(**values, project=self.project, reviewed_by_id=self.people.get(reviewer))

    def _name_sessions(self, made: list[Any], before: list[Line]) -> None:
        """A session's name is one of the whole desk: one that is taken gets a number. `before` came earlier."""
        here = {self.renaming.of(line["id"]): line["fields"]["session_id"] for line in before}
        keys = [int(node_id.partition("_")[2]) for node_id in here]
        for session in WorkSession.objects.filter(pk__in=keys).only("pk", "session_id"):
            if session.session_id != here[session.node_id]:
                self.renaming.sessions[here[session.node_id]] = session.session_id
        wanted = {record.session_id for record in made}
        found = WorkSession.objects.filter(session_id__in=wanted).values_list("session_id", flat=True)
        taken = {name.rstrip(" ") for name in found}  # spaces at the end tell no two apart on the servers
        for record in made:
            written = record.session_id
            number = 1
            while record.session_id.rstrip(" ") in taken or (
                number > 1 and WorkSession.objects.filter(session_id=record.session_id).exists()
            ):
                number += 1
                record.session_id = f"{written[:240].rstrip(' ')}#{number}"
            taken.add(record.session_id.rstrip(" "))
            if number > 1:
                self.renaming.sessions[written] = record.session_id
                self.report.notes.append(f"The session {written} is taken here: it is {record.session_id}.")

    @transactional
    def _gone(self, batch: list[tuple[int, Line]]) -> int:
        kind = _kind_of(batch)
        keys = self.names.awaited(kind, [line["id"] for _, line in batch])
        bring_in_tombstones(kind, list(keys.values()), self.project.pk)
        self.names.came(kind, list(keys))
        return len(keys)


def _kind_of(batch: list[tuple[int, Line]]) -> Kind:
    parsed = parse_node_id(batch[0][1]["id"])
    assert parsed is not None  # it was checked
    return parsed[0]


def _batch_of(line: Line) -> tuple[str, str]:
    """Lines of one type, and records of one kind, are written together."""
    return line["type"], str(line.get("id", "")).partition("_")[0]
