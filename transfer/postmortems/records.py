"""What is read from a file, before the desk knows of it."""

from __future__ import annotations

from dataclasses import dataclass, field
from datetime import datetime


class NotOne(Exception):
    """The file holds no post-mortem; says why. `bad` where somebody should mend the file."""

    def __init__(self, why: str, *, bad: bool = False) -> None:
        super().__init__(why)
        self.bad = bad


@dataclass(frozen=True)
class Part:
    """A headed or labelled stretch: `role` as in `vocabulary`, `text` below the label, `verbatim` with it."""

    role: str
    label: str
    text: str
    verbatim: str


@dataclass
class Written:
    """One post-mortem as its file has it, whatever the form: each word of the file is in one of these."""

    title: str
    parts: list[Part]
    identity: str = ""
    fields: dict[str, str] = field(default_factory=dict)  # front matter, apart from the title
    tags: list[str] = field(default_factory=list)
    notes: list[str] = field(default_factory=list)

    def text_of(self, *roles: str) -> str:
        texts = (part.text.strip() for part in self.parts if part.role in roles)
        return "\n\n".join(text for text in texts if text)


@dataclass(frozen=True)
class Step:
    """A command that the text says was run: `said` is the whole sentence or line."""

    command: str
    said: str
    at: str = ""


@dataclass
class PostMortem:
    """What the importer works from. Texts are whole; `summary` alone is a selection of whole sentences."""

    key: str
    path: str
    title: str
    title_written: str
    category: str
    severity: str
    severity_written: str
    signal: str
    whole: str
    prevention: str
    summary: str
    started: datetime | None = None
    ended: datetime | None = None
    resolved: bool = False
    texts: dict[str, str] = field(default_factory=dict)
    steps: list[Step] = field(default_factory=list)
    fields: dict[str, str] = field(default_factory=dict)
    tags: list[str] = field(default_factory=list)
    said: list[str] = field(default_factory=list)
