"""The first reading of a file: every line is looked at before any is written."""

from __future__ import annotations

from dataclasses import dataclass, field
from datetime import datetime
from pathlib import Path
from typing import Any

from django.utils.dateparse import parse_datetime

from records.kinds import Kind, all_kinds, parse_node_id
from transfer.exchange.columns import CHILDREN, read_fields
from transfer.exchange.lines import FORMAT, TYPES, VERSION, FileProblem, Line, Sums, read_lines

MOST_SAID = 20


@dataclass
class Contents:
    """What the file says of itself, and what is needed to know before it is written."""

    desk: str = ""
    export: str = ""
    program: str = ""
    project_id: int = 0
    name: str = ""
    slug: str = ""
    created_at: datetime | None = None
    sums: Sums = field(default_factory=Sums)
    nodes: set[str] = field(default_factory=set)
    people: set[str] = field(default_factory=set)
    greatest: dict[str, int] = field(default_factory=dict)


class _Wrong(Exception):
    """One thing that is wrong with a line."""


def check_file(path: Path) -> Contents:
    """Raises FileProblem with the first things that are wrong, by line and field."""
    contents, wrong = Contents(), []
    ended = number = 0
    for number, _, line in read_lines(path):
        try:
            if ended:
                raise _Wrong("comes after the end")
            if number == 1:
                _header(line, contents)
            elif line.get("type") == "end":
                ended = number
                _end(line, contents)
            else:
                wrong += [f"line {number}: {said}" for said in _content(line, contents)]
                contents.sums.add(line)
        except (_Wrong, KeyError, TypeError, ValueError) as error:
            wrong.append(
                f"line {number}: {error if isinstance(error, _Wrong) else f'cannot be read: {error!r}'}"
            )
            if number == 1:
                break
        if len(wrong) >= MOST_SAID:
            wrong = [*wrong[:MOST_SAID], "… and no further line was looked at"]
            break
    if not wrong and not ended:
        wrong = [
            f"after line {number}: the file has no end: it is cut off" if number else "the file is empty"
        ]
    if wrong:
        raise FileProblem("\n".join([*wrong, "Nothing was written."]))
    return contents


def _header(line: Line, contents: Contents) -> None:
    if line.get("type") != "header" or line.get("format") != FORMAT:
        raise _Wrong(f"is not the header of an export ({FORMAT})")
    if line.get("version") != VERSION:
        raise _Wrong(
            f"the file is of version {line.get('version')!r} of its format; this program reads {VERSION}"
        )
    project = line["project"]
    contents.desk, contents.export, contents.program = (
        str(line[name]) for name in ("desk", "export", "program")
    )
    contents.project_id = int(project["id"])
    contents.name, contents.slug = str(project["name"]), str(project["slug"])
    contents.created_at = parse_datetime(str(project.get("created_at")))
    if not all(len(text) == 32 and text.isalnum() for text in (contents.desk, contents.export)):
        raise _Wrong("desk and export are names of 32 letters and digits")


def _content(line: Line, contents: Contents) -> list[str]:
    kind = line.get("type")
    if kind not in TYPES:
        raise _Wrong(f"type: {kind!r} is unknown; there are {', '.join(TYPES)}")
    if kind in ("record", "gone"):
        return _record(line, contents)
    values, wrong = read_fields(CHILDREN[kind], line.get("fields"))
    for name, of in _references(kind, line, values):
        if of not in contents.nodes:
            wrong.append(f"{name}: {of!r} is not in the file before this line")
    if kind == "link" and values.get("source") == values.get("target"):
        wrong.append("fields.target: is the source itself")
    if kind == "revision" and not wrong and _kind_name(values["node_id"]) != values["kind"]:
        wrong.append(f"fields.kind: {values['kind']!r} is not the kind of {values['node_id']}")
    _note_people(values, contents)
    after = values.get("after")
    if isinstance(after, dict) and after.get("reviewed_by_id") is not None:
        contents.people.add(str(after["reviewed_by_id"]))
    return wrong


def _record(line: Line, contents: Contents) -> list[str]:
    node_id = str(line.get("id"))
    parsed = parse_node_id(node_id)
    if parsed is None:
        raise _Wrong(
            f"id: {node_id!r} names no record; there are {', '.join(kind.prefix for kind in all_kinds())}"
        )
    if node_id in contents.nodes:
        raise _Wrong(f"id: {node_id} is twice in the file")
    kind, key = parsed
    wrong: list[str] = []
    if line["type"] == "record":
        values, wrong = read_fields(kind.model, line.get("fields"))
        for name in parent_columns(kind):
            if values.get(name) is not None and values[name] not in contents.nodes:
                wrong.append(f"fields.{name}: {values[name]!r} is not in the file before this line")
        _note_people(values, contents)
    contents.nodes.add(node_id)
    if kind.integer_key:
        contents.greatest[kind.name] = max(contents.greatest.get(kind.name, 0), key)
    return wrong


def parent_columns(kind: Kind) -> dict[str, str]:
    """Columns that are foreign keys to records, and the prefix of those."""
    return {"outcome": {"decision": "dec"}, "memory": {"source_run_fk": "run"}}.get(kind.name, {})


def _references(kind: str, line: Line, values: dict[str, Any]) -> list[tuple[str, Any]]:
    if kind in ("evidence", "encounter"):
        prefix = "pat_" if kind == "evidence" else "pit_"
        of = line.get("of")
        if not isinstance(of, str) or not of.startswith(prefix):
            raise _Wrong(f"of: must name a {kind}'s record, like {prefix}1")
        return [("of", of)]
    names = {"link": ("source", "target"), "revision": ("node_id",), "erasure": ("node_id",), "read": ()}[
        kind
    ]
    return [(f"fields.{name}", values.get(name)) for name in names]


def _kind_name(node_id: str) -> str:
    parsed = parse_node_id(node_id)
    return parsed[0].name if parsed else ""


def _note_people(values: dict[str, Any], contents: Contents) -> None:
    contents.people |= {values[name] for name in ("reviewed_by", "user") if values.get(name) is not None}


def _end(line: Line, contents: Contents) -> None:
    if line.get("counts") != contents.sums.counts or line.get("checksums") != contents.sums.checksums:
        raise _Wrong(
            "counts or checksums are not those of the lines before: something was changed or is missing"
        )
