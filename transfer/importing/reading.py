"""A folder as it is now, compared with what was imported from it before."""

from __future__ import annotations

import logging
from collections.abc import Callable
from dataclasses import dataclass, field
from datetime import date
from pathlib import Path

from projects.models import Project
from records.actor import Actor
from transfer.adr.identity import Match
from transfer.adr.parse import parse_file
from transfer.adr.records import ParsedFile, ParsedRecord
from transfer.adr.resolve import Resolution, resolve
from transfer.importing.earlier import Earlier, imported_earlier, match, stand_ins
from transfer.importing.folders import FoundFile, find_files, one_line, read_file, root_of
from transfer.importing.git_dates import NoGit, first_commit_days
from transfer.importing.linking import superseded_elsewhere
from transfer.importing.report import FileLine

log = logging.getLogger("memory_desk.import")
Progress = Callable[[str, int, int], None]


@dataclass
class Reading:
    """`parsed` are the files with records, `lines` the report on all others; `superseded` are keys of records."""

    root: Path
    whole_folder: bool
    lines: list[FileLine] = field(default_factory=list)
    parsed: list[ParsedFile] = field(default_factory=list)
    notes: list[str] = field(default_factory=list)
    git_days: dict[str, date] = field(default_factory=dict)
    earlier: dict[str, Earlier] = field(default_factory=dict)
    matches: dict[str, Match] = field(default_factory=dict)
    resolution: Resolution = field(default_factory=Resolution)
    superseded: set[str] = field(default_factory=set)

    @property
    def records(self) -> list[ParsedRecord]:
        return [record for file in self.parsed for record in file.records]

    def known(self, key: str) -> Earlier | None:
        """What the record at this key was imported as before."""
        found = self.matches.get(key)
        return self.earlier[found.then] if found else None

    def unmatched(self) -> list[Earlier]:
        """Imported before and not read now."""
        matched = {found.then for found in self.matches.values()}
        return [old for key, old in self.earlier.items() if key not in matched]


def read_folder(path: Path, *, git_dates: bool, progress: Progress) -> Reading:
    """Read every file that can hold records; of each it is known afterwards what it is or why not."""
    reading = Reading(root_of(path), path.is_dir())
    found = list(find_files(path))
    taken: set[str] = set()
    for number, file in enumerate(found, 1):
        progress("read", number, len(found))
        _read_one(file, reading, taken)
    if git_dates:
        try:
            reading.git_days = first_commit_days(reading.root)
        except NoGit as error:
            reading.notes.append(f"no dates from git: {error}")
    return reading


def _read_one(file: FoundFile, reading: Reading, taken: set[str]) -> None:
    data, skipped, problem = b"", file.skipped, file.problem
    if file.path in taken:
        problem = "another file has this name, apart from bytes that are no text"
    taken.add(file.path)
    if not skipped and not problem:
        data, skipped, problem = read_file(file)
    if skipped or problem:
        reading.lines.append(FileLine(file.path, "failed" if problem else "left out", problem or skipped))
        return
    try:
        parsed = parse_file(data, file.path)
    except Exception as error:  # one file must not end the import of the others
        log.exception("%s cannot be read", one_line(file.path))
        reading.lines.append(FileLine(file.path, "failed", f"cannot be understood: {error!r}"))
        return
    if parsed.kind == "record":
        reading.parsed.append(parsed)
    else:
        why = f"{parsed.kind}: {parsed.why}"
        reading.lines.append(FileLine(file.path, "left out", why, notes=parsed.notes))


def compare(reading: Reading, project: Project | None, source: str, actor: Actor) -> None:
    """Find what each record was imported as before, and where its references lead."""
    records = reading.records
    if project is not None:
        reading.earlier = imported_earlier(project, source)
    reading.matches = match(
        records,
        reading.earlier,
        root=reading.root,
        whole_folder=reading.whole_folder,
        unread={line.path for line in reading.lines},
    )
    reading.resolution = resolve([*reading.parsed, *stand_ins(reading.unmatched(), records)])
    reading.superseded = {e.target for e in reading.resolution.edges if e.relation == "SUPERSEDES"}
    if project is not None:
        keys = {old.node_id: key for key in reading.matches if (old := reading.known(key))}
        elsewhere = superseded_elsewhere(project, actor, set(keys))
        reading.superseded |= {keys[node_id] for node_id in elsewhere if node_id in keys}
