"""The format: one JSON object a line, the header first, the end with counts and checksums last (docs/moving.md).

A checksum is the sum of the digests of a type's lines, so it says the same wherever the project is.
"""

from __future__ import annotations

import hashlib
import json
from collections.abc import Iterator
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

FORMAT, VERSION = "memory-desk-project", 1
TYPES = ("record", "evidence", "encounter", "gone", "erasure", "link", "revision", "read")
LONGEST_LINE = 64 * 1024 * 1024
Line = dict[str, Any]


class FileProblem(Exception):
    """The file cannot be read or taken; the text names lines and fields. Nothing was written."""


@dataclass
class Sums:
    """Count and checksum of each type of line, as they pass."""

    counts: dict[str, int] = field(default_factory=dict)
    _totals: dict[str, int] = field(default_factory=dict)

    def add(self, line: Line) -> None:
        kind = line["type"]
        digest = hashlib.sha256(as_text(line).encode("utf-8")).digest()
        self.counts[kind] = self.counts.get(kind, 0) + 1
        self._totals[kind] = (self._totals.get(kind, 0) + int.from_bytes(digest, "big")) % 2**256

    @property
    def checksums(self) -> dict[str, str]:
        return {kind: f"{total:064x}" for kind, total in sorted(self._totals.items())}

    def end_line(self) -> Line:
        return {"type": "end", "counts": dict(sorted(self.counts.items())), "checksums": self.checksums}


def as_text(line: Line) -> str:
    """Always the same text for the same content."""
    return json.dumps(line, sort_keys=True, ensure_ascii=False, separators=(",", ":"), allow_nan=False)


def read_lines(path: Path) -> Iterator[tuple[int, int, Line]]:
    """Number, bytes and content of each line. Raises FileProblem at the first that is no JSON object."""
    try:
        with path.open("rb") as file:
            number = 0
            while raw := file.readline(LONGEST_LINE + 1):
                number += 1
                if len(raw) > LONGEST_LINE:
                    raise FileProblem(f"line {number}: is longer than {LONGEST_LINE} bytes")
                yield number, len(raw), _parsed(number, raw)
    except OSError as error:
        raise FileProblem(f"{path}: {error.strerror}") from error


def _parsed(number: int, raw: bytes) -> Line:
    try:
        line = json.loads(raw.decode("utf-8"), parse_constant=_refuse)
    except (ValueError, RecursionError) as error:
        cut = "" if raw.endswith(b"\n") else " The file ends in the middle of it."
        raise FileProblem(f"line {number}: is no JSON: {error}.{cut}") from error
    if not isinstance(line, dict):
        raise FileProblem(f"line {number}: is no JSON object")
    return line


def _refuse(word: str) -> Any:
    raise ValueError(f"{word} is no number of JSON")
