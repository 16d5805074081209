"""The values of one row as the desk can keep them; what cannot be read is told, and kept as it was written."""

from __future__ import annotations

import json
import math
import re
from collections.abc import Mapping
from dataclasses import dataclass, field
from datetime import UTC, datetime, tzinfo
from typing import Any

import numpy as np
from django.conf import settings
from django.core.exceptions import ValidationError

from records.foreign_json import read_json
from records.validation import FIRST_YEAR, LAST_YEAR, TAG_MAX_LENGTH, check_json

WRITTEN_KEPT = 20_000  # characters of what could not be kept, in the record's history
INT_MOST = 2**31 - 1
_ZERO = re.compile(r"0000-00-00")
_MANY_SPACES = re.compile(r"\s+")


class LeftOut(Exception):
    """The row holds nothing that a record could be made of."""


@dataclass(frozen=True)
class Problem:
    """One thing that could not be taken over as it is: of which table, row and column, and why."""

    table: str
    key: str
    field: str
    reason: str

    def __str__(self) -> str:
        return f"{self.table} {self.key}{'.' + self.field if self.field else ''}: {self.reason}"


@dataclass
class Cells:
    """Reads a row's values by name. `types` are the columns' types, where a database has them."""

    table: str
    key: str
    row: Mapping[str, Any]
    zone: tzinfo
    types: Mapping[str, str] = field(default_factory=dict)
    problems: list[Problem] = field(default_factory=list)
    as_written: dict[str, str] = field(default_factory=dict)

    def tell(self, name: str, reason: str, written: Any = None) -> None:
        self.problems.append(Problem(self.table, self.key, name, reason))
        if written is not None:
            text = written if isinstance(written, str) else _as_text(written)
            self.as_written[name] = text.replace("\0", "\ufffd")[:WRITTEN_KEPT]

    def text(self, name: str, *, most: int | None = None) -> str | None:
        """Clean text, at most so many characters, or None where there is none."""
        value = self.row.get(name)
        if value is None:
            return None
        text = self._decoded(name, value)
        if "\0" in text:
            self.tell(name, "held NUL characters, which no database here keeps: they show as U+FFFD")
            text = text.replace("\0", "\ufffd")
        if (
            most is not None
            and len(text) > most
            and len(one_line := _MANY_SPACES.sub(" ", text.strip())) <= most
        ):
            text = one_line
        if most is not None and len(text) > most:
            self.tell(name, f"has {len(text)} characters; the first {most - 1} are taken over", text)
            text = text[: most - 1] + "…"
        return self._cut(name, text) if text.strip() else None

    def _decoded(self, name: str, value: Any) -> str:
        if isinstance(value, bytes):
            try:
                return value.decode("utf-8")
            except UnicodeDecodeError as error:
                self.tell(
                    name, f"byte {error.start} is no UTF-8: shown as U+FFFD", value.hex()[:WRITTEN_KEPT]
                )
                return value.decode("utf-8", "replace")
        if isinstance(value, str):
            clean = value.encode("utf-16", "surrogatepass").decode("utf-16", "replace")
            if clean != value:
                self.tell(name, "held halves of characters: they show as U+FFFD")
            return clean
        return _as_text(value)

    def _cut(self, name: str, text: str) -> str:
        most = settings.TEXT_MAX_BYTES
        data = text.encode("utf-8")
        if len(data) <= most:
            return text
        self.tell(
            name, f"is longer than {most} bytes: taken over up to there, the rest is in the source only"
        )
        return data[:most].decode("utf-8", "ignore")

    def required(self, name: str, *, most: int | None = None, instead: str | None) -> str:
        """Text that a record cannot be without; `instead` is what stands for it where there is none."""
        text = self.text(name, most=most)
        if text is not None:
            return text
        if instead is None or not instead.strip():
            raise LeftOut(f"has no {name}, and nothing that could stand for it")
        line = _MANY_SPACES.sub(" ", instead.strip())
        self.tell(name, f"is empty: {line[:40]!r} stands for it")
        return line if most is None or len(line) <= most else line[: most - 1] + "…"

    def time(self, name: str) -> datetime | None:
        """An instant in UTC; a time without a zone is one of the source's zone."""
        value = self.row.get(name)
        if value is None:
            return None
        written = _as_text(value).strip()
        if not written or _ZERO.match(written):
            self.tell(name, f"is no date ({written or 'empty'}): left open", written)
            return None
        try:
            when = datetime.fromisoformat(written)
            if when.tzinfo is None:
                when = when.replace(
                    tzinfo=UTC if self.types.get(name) in ("timestamp", "date") else self.zone
                )
            when = when.astimezone(UTC)
        except (ValueError, OverflowError):
            self.tell(name, f"is no date ({written[:40]}): left open", written)
            return None
        if not FIRST_YEAR <= when.year <= LAST_YEAR:
            self.tell(name, f"lies outside the years {FIRST_YEAR} to {LAST_YEAR}: left open", written)
            return None
        return when

    def is_day(self, name: str) -> bool:
        return self.types.get(name) == "date"

    def fraction(self, name: str, default: float | None) -> float | None:
        """A number from 0 to 1. Of a FLOAT, the shortest decimal that is that FLOAT: 0.9, not 0.899999976."""
        value = self.row.get(name)
        if value is None:
            return default
        number = _number(value)
        if number is not None and self.types.get(name) == "float":
            number = float(str(np.float32(number)))
        if number is not None and -1e-6 < number < 1 + 1e-6:
            return min(max(number, 0.0), 1.0)
        self.tell(
            name, f"is no number from 0 to 1 ({_as_text(value)[:40]}): {_shown(default)} stands for it", value
        )
        return default

    def whole(self, name: str, default: int | None) -> int | None:
        """A whole number that is not negative."""
        value = self.row.get(name)
        if value is None:
            return default
        number = _number(value)
        if number is None or number < 0:
            self.tell(name, f"is no count ({_as_text(value)[:40]}): {_shown(default)} stands for it", value)
            return default
        if number > INT_MOST:
            self.tell(name, f"is larger than {INT_MOST}, which stands for it", value)
        return min(int(number), INT_MOST)

    def choice(self, name: str, allowed: Mapping[str, str], default: str, unknown: str) -> str:
        """One of the words, however it is written; `default` where nothing is, `unknown` for another word."""
        value = self.row.get(name)
        if value is None:
            return default
        written = self._decoded(name, value)
        word = _MANY_SPACES.sub("_", written.strip().lower())
        if word in allowed:
            return allowed[word]
        self.tell(
            name, f"is {written[:60]!r}, which is not known here: {str(unknown)!r} stands for it", written
        )
        return unknown

    def json(self, name: str) -> Any:
        """The value; text that is no JSON is kept as that text."""
        value = self.row.get(name)
        if isinstance(value, bytes):
            text = self.text(name)
            if text is None:
                return None
            value = read_json(text)
            if value == text:
                self.tell(name, "is no JSON: kept as text")
        try:
            check_json(value)
        except ValidationError as error:
            self.tell(name, f"{' '.join(error.messages)} Kept as text.", _as_text(value))
            return self._cut(name, _as_text(value).replace("\0", "\ufffd"))
        return value

    def tags(self, name: str = "tags") -> list[str] | None:
        """A list of words, from JSON or from words with commas between."""
        value = self.row.get(name)
        if isinstance(value, bytes):
            text = self.text(name) or ""
            value = read_json(text)
            if isinstance(value, str):
                value = value.split(",") if not text.lstrip().startswith(("{", "[")) else text
        if value is None:
            return None
        if not isinstance(value, list):
            self.tell(name, "are no list of words: left empty", value)
            return None
        words = [str(tag).strip() for tag in value if isinstance(tag, str | int | float)]
        kept = [word for word in dict.fromkeys(words) if 0 < len(word) <= TAG_MAX_LENGTH and "\0" not in word]
        if len(kept) < len(set(words) - {""}) or len(words) < len(value):
            self.tell(name, "hold something that is no word of 1 to 100 characters: left out", value)
        return kept or None


def _as_text(value: Any) -> str:
    if isinstance(value, bytes):
        return value.decode("utf-8", "replace")
    return value if isinstance(value, str) else json.dumps(value, ensure_ascii=False, default=str)


def _number(value: Any) -> float | None:
    if isinstance(value, bool):
        return float(value)
    try:
        number = float(value)
    except (TypeError, ValueError, OverflowError):
        return None
    return number if math.isfinite(number) else None


def _shown(value: Any) -> str:
    return "nothing" if value is None else str(value)
