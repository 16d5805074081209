"""A parsed record as the columns of a decision, and the `origin` that says where each of them was read."""

from __future__ import annotations

import hashlib
from dataclasses import dataclass, field
from datetime import UTC, date, datetime, time
from typing import Any

from decisions.imported import FIELDS_DIGEST, fields_digest
from decisions.models import Decision, Precision, Status
from records.checks import validate
from records.hygiene.secrets import redact, redact_json
from transfer.adr.records import ParsedFile, ParsedRecord

TITLE_LENGTH = Decision._meta.get_field("title").max_length or 255
STATUS_LENGTH = Decision._meta.get_field("status_written").max_length or 255
KEPT_TITLE = 500  # of the whole heading, to know the record again by
EARLIEST_YEAR = 1000  # MySQL's DATETIME knows no earlier one


@dataclass
class Columns:
    """What a decision gets; `said` is what the report must tell of how it got there."""

    values: dict[str, Any]
    said: list[str] = field(default_factory=list)

    @property
    def origin(self) -> dict[str, Any]:
        return dict(self.values["origin"])


def columns_of(
    record: ParsedRecord,
    file: ParsedFile,
    *,
    source: str,
    status_default: str,
    superseded: bool = False,
    git_day: date | None = None,
) -> Columns:
    """`superseded`: another record says that it supersedes this one. The record's own words go before that.

    Without secrets already here, as they will be kept: what is read again is compared with what was kept.
    """
    said: list[str] = []
    written, _kinds = redact(" ".join(record.status_written.split()))
    values: dict[str, Any] = {
        "title": _shortened(redact(record.title)[0], said),
        **_texts(record),
        "status": record.status or (Status.SUPERSEDED if superseded else status_default),
        "status_written": _cut(written, STATUS_LENGTH) or None,
        "tags": list(dict.fromkeys(tag.strip() for tag in record.tags if tag.strip())) or None,
        "source_text": record.body,
    }
    values, kinds = redact_json(values)
    if kinds:
        said.append(f"taken out of the text: {', '.join(dict.fromkeys(kinds))}")
    if superseded and record.status is None:
        said.append("no status is written; another record supersedes it")
    elif superseded and record.status not in (Status.SUPERSEDED, Status.DEPRECATED):
        said.append(f"another record says it supersedes this one, whose own status is {record.status}")
    day, source_of_day = record.decided_on, record.date_source
    if day is None and git_day is not None:
        day, source_of_day = git_day, "git: first commit"
    if day is not None and day.year < EARLIEST_YEAR:
        said.append(f"the year {day.year} is no date of a decision: none is kept")
        day = None
    values["decided_at"] = datetime.combine(day, time.min, tzinfo=UTC) if day else None
    values["decided_precision"] = Precision.DAY
    values["origin"], _kinds = redact_json(
        {
            "format": "adr",
            "source": source,
            "path": record.key,
            "file": record.path,
            "number": record.number,
            "designation": record.designation,
            "title": record.title[:KEPT_TITLE],
            "title_source": record.title_source,
            "status_source": record.status_source,
            "status_defaulted": record.status is None and not superseded,
            "date_source": source_of_day,
            "date_written": record.date_written[:KEPT_TITLE],
            "deciders": record.deciders,
            "authors": record.authors,
            "form": record.form,
            "language": record.language,
            "encoding": file.encoding,
            "notes": [*file.notes, *record.ambiguities, *said],
            "digest": text_digest(record.body),
            FIELDS_DIGEST: fields_digest(values),
        }
    )
    return Columns(values, said)


def check(columns: Columns) -> None:
    """InvalidInput, with the columns by name, when no database could keep these."""
    validate(Decision(**columns.values))


def text_digest(body: str) -> str:
    return hashlib.sha256(body.encode("utf-8", "replace")).hexdigest()


def _texts(record: ParsedRecord) -> dict[str, str | None]:
    """Each word of the body once: where no part is headed as the decision, the whole text is the decision."""
    if not record.decision.strip():
        return {
            "decision": record.remaining.strip() or record.body.strip(),
            "rationale": None,
            "alternatives_considered": None,
        }
    return {
        "decision": record.decision,
        "rationale": record.remaining.strip() or None,
        "alternatives_considered": record.alternatives.strip() or None,
    }


def _shortened(title: str, said: list[str]) -> str:
    title = " ".join(title.split())
    if len(title) <= TITLE_LENGTH:
        return title
    said.append(f"the title has {len(title)} characters: shortened, whole in the original document")
    return _cut(title, TITLE_LENGTH)


def _cut(text: str, length: int) -> str:
    if len(text) <= length:
        return text
    head = text[: length - 1]
    return (head.rsplit(" ", 1)[0] if " " in head[length // 2 :] else head) + "…"
