"""What reading a file gives: its kind and the decisions in it."""

from __future__ import annotations

from dataclasses import dataclass, field
from datetime import date
from typing import Literal

Kind = Literal["record", "template", "index", "empty", "not-a-record"]
Status = Literal["accepted", "pending", "rejected", "superseded", "deprecated"]
Relation = Literal[
    "SUPERSEDES", "SUPERSEDED_BY", "AMENDS", "AMENDED_BY", "DEPRECATES", "DEPRECATED_BY", "RELATES_TO"
]


@dataclass(frozen=True)
class Reference:
    """A record pointing at another: the relation, the words, and what of path, number or address they name."""

    relation: Relation
    written: str
    path: str | None = None
    number: str | None = None
    designation: str = ""
    url: str | None = None
    where: str = "text"  # "metadata", "status" or "text"


@dataclass
class ParsedRecord:
    """One decision as written; `status` and `decided_on` are None where nothing is written or it is ambiguous.

    `remaining` is the text in its own order without decision, alternatives, title and metadata; where no part is
    headed as the decision, alternatives are in it too.
    """

    key: str
    path: str
    number: str | None
    designation: str
    title: str
    title_source: str
    status: Status | None
    status_written: str
    status_source: str
    decided_on: date | None
    date_source: str
    date_written: str
    body: str
    context: str = ""
    decision: str = ""
    rationale: str = ""
    alternatives: str = ""
    consequences: str = ""
    remaining: str = ""
    tags: list[str] = field(default_factory=list)
    deciders: list[str] = field(default_factory=list)
    authors: list[str] = field(default_factory=list)
    language: str = "en"
    form: str = ""
    references: list[Reference] = field(default_factory=list)
    ambiguities: list[str] = field(default_factory=list)


@dataclass
class ParsedFile:
    """A file with what it is and why, its records (several in a decision log), and what was odd in reading it."""

    path: str
    kind: Kind
    why: str
    records: list[ParsedRecord] = field(default_factory=list)
    encoding: str = "utf-8"
    notes: list[str] = field(default_factory=list)
