"""References of a folder's records to each other, as edges between record keys."""

from __future__ import annotations

import posixpath
import re
from collections import defaultdict
from collections.abc import Iterable
from dataclasses import dataclass, field
from urllib.parse import unquote

from transfer.adr.inline import folded
from transfer.adr.records import ParsedFile, ParsedRecord, Reference, Relation

# A passive relation is the active one of the other record.
_TURNED: dict[Relation, Relation] = {
    "SUPERSEDED_BY": "SUPERSEDES",
    "AMENDED_BY": "AMENDS",
    "DEPRECATED_BY": "DEPRECATES",
}
_ORDER: tuple[Relation, ...] = ("SUPERSEDES", "DEPRECATES", "AMENDS", "RELATES_TO")


@dataclass(frozen=True)
class Edge:
    """`source` relates to `target`; both are record keys. `written` are the words on either side that say so."""

    source: str
    relation: Relation
    target: str
    written: tuple[str, ...] = ()


@dataclass(frozen=True)
class Missing:
    """A reference that leads to no record, and why."""

    source: str
    reference: Reference
    why: str


@dataclass
class Resolution:
    """Edges, each once, and the references that lead nowhere."""

    edges: list[Edge] = field(default_factory=list)
    missing: list[Missing] = field(default_factory=list)


class RecordIndex:
    """Finds records by path, designation, number and title."""

    def __init__(self, files: Iterable[ParsedFile]) -> None:
        self.records: list[ParsedRecord] = []
        self.kinds: dict[str, str] = {}
        self._by_path: dict[str, list[ParsedRecord]] = {}
        self._by_name: dict[str, list[ParsedRecord]] = defaultdict(list)
        self._by_key: dict[str, ParsedRecord] = {}
        self._by_number: dict[str, list[ParsedRecord]] = defaultdict(list)
        self._by_designation: dict[str, list[ParsedRecord]] = defaultdict(list)
        self._by_title: dict[str, list[ParsedRecord]] = defaultdict(list)
        for file in files:
            self.kinds[_same_case(file.path)] = file.kind
            self._by_path[_same_case(file.path)] = file.records
            for record in file.records:
                self._add(record)

    def _add(self, record: ParsedRecord) -> None:
        self.records.append(record)
        self._by_key[_same_case(record.key)] = record
        self._by_name[_same_case(posixpath.basename(record.path))].append(record)
        if record.number is not None:
            self._by_number[record.number].append(record)
        if record.designation:
            self._by_designation[_compact(record.designation)].append(record)
        self._by_title[_compact(record.title)].append(record)

    def find(self, source: ParsedRecord, reference: Reference) -> tuple[list[ParsedRecord], str]:
        """The records a reference can mean, and why there is none."""
        if reference.path:
            found, why = self._by_reference_path(source, reference.path)
            if found or not reference.number:
                return found, why
            numbered, _ = self._by_reference_number(source, reference)
            return numbered, why
        if reference.url:
            name = _same_case(unquote(posixpath.basename(reference.url.partition("#")[0])))
            found = self._nearest(source, self._by_name.get(name, []))
            if len(found) == 1:
                return found, ""
            # An issue's address behind "ADR-12" still means ADR 12; another repository's file does not.
            if reference.number is None or reference.where == "text" or re.search(r"\.[a-z]{2,8}$", name):
                return [], "an address outside the folder"
        if reference.number is not None:
            return self._by_reference_number(source, reference)
        found = self._by_title.get(_compact(reference.written), [])
        return found, "no record has this title" if not found else ""

    def _by_reference_path(self, source: ParsedRecord, written: str) -> tuple[list[ParsedRecord], str]:
        path, _, anchor = written.partition("#")
        if not path:
            record = self._by_key.get(_same_case(f"{source.path}#{anchor}"))
            return ([record], "") if record else ([], "no such section in the file")
        base = posixpath.dirname(source.path)
        tries = [path.lstrip("/")] if path.startswith("/") else [posixpath.join(base, path), path]
        tries += [
            f"{one}{suffix}"
            for one in tries
            for suffix in (".md", ".rst", ".adoc", "/README.md", "/index.md")
        ]
        for one in map(posixpath.normpath, tries):
            key = _same_case(one)
            if anchor and (record := self._by_key.get(f"{key}#{_same_case(anchor)}")):
                return [record], ""
            if key in self._by_path:
                records = self._by_path[key]
                if len(records) == 1:
                    return records, ""
                return (
                    [],
                    f"the file is no record ({self.kinds[key]})"
                    if not records
                    else "the file has several records",
                )
        name = _same_case(posixpath.basename(path))
        found = self._nearest(source, self._by_name.get(name, []) or self._by_name.get(f"{name}.md", []))
        if len(found) == 1 and name not in {"readme.md", "index.md"}:
            return found, ""
        return [], "no such file among those read"

    def _by_reference_number(
        self, source: ParsedRecord, reference: Reference
    ) -> tuple[list[ParsedRecord], str]:
        written = _compact(reference.designation)
        exact = self._nearest(source, self._by_designation.get(written, []))
        if len(exact) == 1:
            return exact, ""
        candidates = [r for r in self._by_number.get(str(reference.number), []) if r.key != source.key]
        candidates = [r for r in candidates if _shared(source.path, r.path) or _one_tree(source, r)]
        # A number alone is of the writer's own kind; a file name with a number alone is of any; "RFC 3" is not ADR 3.
        kind = _kind(reference.designation) or _kind(source.designation)
        same_kind = [r for r in candidates if _kind(r.designation) == kind]
        candidates = same_kind or [r for r in candidates if not _kind(r.designation) or not kind]
        found = self._nearest(source, candidates)
        if len(found) > 1:
            return [], f"{len(found)} records carry the number {reference.number}"
        return found, "" if found else "no record has this number"

    @staticmethod
    def _nearest(source: ParsedRecord, records: list[ParsedRecord]) -> list[ParsedRecord]:
        """Those that share the longest path with the source: its folder before another project's."""
        if len(records) < 2:
            return (
                records
                if not records or _shared(source.path, records[0].path) or _one_tree(source, records[0])
                else []
            )
        near = max(_shared(source.path, record.path) for record in records)
        if near == 0 and "/" in source.path:
            return []
        return [record for record in records if _shared(source.path, record.path) == near]


def resolve(files: Iterable[ParsedFile]) -> Resolution:
    """Edges of all references; "superseded by X" and X's "supersedes" are one edge, RELATES_TO yields to a stronger one."""
    index = RecordIndex(files)
    edges: dict[tuple[str, Relation, str], list[str]] = {}
    resolution = Resolution()
    for record in index.records:
        for reference in record.references:
            found, why = index.find(record, reference)
            if len(found) != 1:
                resolution.missing.append(
                    Missing(record.key, reference, why or "more than one record can be meant")
                )
                continue
            if found[0].key != record.key:
                source, target = record.key, found[0].key
                relation = reference.relation
                if relation in _TURNED:
                    source, target, relation = target, source, _TURNED[relation]
                if relation == "RELATES_TO" and target < source:
                    source, target = target, source
                words = edges.setdefault((source, relation, target), [])
                if reference.written not in words:
                    words.append(reference.written)
    strong = {frozenset((source, target)) for source, relation, target in edges if relation != "RELATES_TO"}
    for (source, relation, target), words in edges.items():
        if relation != "RELATES_TO" or frozenset((source, target)) not in strong:
            resolution.edges.append(Edge(source, relation, target, tuple(words)))
    resolution.edges.sort(key=lambda edge: (_ORDER.index(edge.relation), edge.source, edge.target))
    return resolution


def _same_case(path: str) -> str:
    return path.casefold()


def _compact(text: str) -> str:
    return re.sub(r"[\W_]+", "", re.sub(r"(?<![0-9])0+(?=[0-9])", "", folded(text)))


def _kind(designation: str) -> str:
    return re.sub(r"[\W_0-9]+", "", folded(designation)).removesuffix("s")


def _shared(one: str, other: str) -> int:
    count = 0
    for a, b in zip(posixpath.dirname(one).split("/"), posixpath.dirname(other).split("/"), strict=False):
        if a != b or not a:
            break
        count += 1
    return count


def _one_tree(source: ParsedRecord, record: ParsedRecord) -> bool:
    return "/" not in source.path or "/" not in record.path
