"""What was imported before into the project, and which of it each record is now."""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from decisions.kind import DECISION
from decisions.models import Decision
from projects.models import Project
from transfer.adr.identity import Fingerprint, Match, fingerprint, fingerprint_of, match_renames
from transfer.adr.records import ParsedFile, ParsedRecord

CHUNK = 200


@dataclass(frozen=True)
class Earlier:
    """A decision that came from a document: its row and where that was."""

    pk: int
    origin: dict[str, Any]

    @property
    def key(self) -> str:
        return str(self.origin["path"])

    @property
    def file(self) -> str:
        return str(self.origin.get("file") or self.key)

    @property
    def node_id(self) -> str:
        return DECISION.node_id(self.pk)


def imported_earlier(project: Project, source: str) -> dict[str, Earlier]:
    """By path inside the folder; of two with one path (which only plain SQL can make) the first counts."""
    rows = Decision.objects.filter(project=project, origin__isnull=False).order_by("-pk")
    return {
        str(origin["path"]): Earlier(pk, origin)
        for pk, origin in rows.values_list("pk", "origin").iterator(chunk_size=CHUNK)
        if isinstance(origin, dict)
        and origin.get("format") == "adr"
        and origin.get("path")
        and origin.get("source", "") == source
    }


def match(
    records: Sequence[ParsedRecord],
    earlier: dict[str, Earlier],
    *,
    root: Path,
    whole_folder: bool,
    unread: set[str],
) -> dict[str, Match]:
    """By key now. A file that is still there, read or not, was not renamed; of one file alone the folder tells."""
    keys = {record.key for record in records}
    gone = [
        old
        for key, old in earlier.items()
        if key not in keys and old.file not in unread and (whole_folder or not (root / old.file).exists())
    ]
    then = [_stand_in(key, earlier[key]) for key in keys if key in earlier]
    then += _fingerprints(gone)
    now = [
        _stand_in(record.key, earlier[record.key])
        if record.key in earlier
        else (fingerprint_of(record) if gone else _by_name(record))
        for record in records
    ]
    return {found.now: found for found in match_renames(now, then)}


def _stand_in(key: str, old: Earlier) -> Fingerprint:
    """Of a record that is known by its path: nothing else is asked of it."""
    return Fingerprint(key, str(old.origin.get("title", "")), old.origin.get("number"), key, frozenset())


def _by_name(record: ParsedRecord) -> Fingerprint:
    return Fingerprint(record.key, record.title, record.number, record.key, frozenset())


def _fingerprints(gone: Sequence[Earlier]) -> list[Fingerprint]:
    prints = []
    by_pk = {old.pk: old for old in gone}
    keys = list(by_pk)
    for start in range(0, len(keys), CHUNK):
        texts = Decision.objects.filter(pk__in=keys[start : start + CHUNK]).values_list("pk", "source_text")
        for pk, text in texts:
            old = by_pk[pk]
            title = str(old.origin.get("title", ""))
            prints.append(fingerprint(old.key, title, old.origin.get("number"), text or ""))
    return prints


def stand_ins(earlier: Iterable[Earlier], records: Sequence[ParsedRecord]) -> list[ParsedFile]:
    """Records imported before that are not read now, for references to lead to; a number in use now is not theirs."""
    taken = {(record.number, record.designation) for record in records}
    by_file: dict[str, list[ParsedRecord]] = {}
    for old in earlier:
        number, designation = old.origin.get("number"), str(old.origin.get("designation") or "")
        if (number, designation) in taken and number is not None:
            continue
        by_file.setdefault(old.file, []).append(
            ParsedRecord(
                key=old.key,
                path=old.file,
                number=number,
                designation=designation,
                title=str(old.origin.get("title", "")),
                title_source="",
                status=None,
                status_written="",
                status_source="",
                decided_on=None,
                date_source="",
                date_written="",
                body="",
            )
        )
    return [ParsedFile(path, "record", "imported before", found) for path, found in by_file.items()]
