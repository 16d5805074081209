"""CSV and JSON of the very changes that the history page finds, streamed."""

from __future__ import annotations

import csv
import json
from collections.abc import Iterator
from typing import Any

from django.db.models import QuerySet
from django.http import StreamingHttpResponse
from django.utils import timezone

from curation.history.queries import all_changes
from records.models import Revision
from records.pages.exports import FORMATS as FORMATS
from records.pages.exports import Echo, cell

COLUMNS = (
    "id", "created_at", "act", "verb", "node_id", "kind", "version", "by", "door", "token", "session", "run",
    "request_id", "reason", "changed", "detail",
)  # fmt: skip


def export_changes(rows: QuerySet[Revision], form: str, slug: str) -> StreamingHttpResponse:
    """All of them, newest first. `form` is one of FORMATS; JSON has each column's value before and after as well."""
    content_type, lines = ("text/csv", _csv(rows)) if form == "csv" else ("application/json", _json(rows))
    response = StreamingHttpResponse(lines, content_type=f"{content_type}; charset=utf-8")
    stamp = timezone.now().strftime("%Y%m%d-%H%M")
    response["Content-Disposition"] = f'attachment; filename="{slug}-history-{stamp}.{form}"'
    return response


def _plain(revision: Revision) -> dict[str, Any]:
    return {
        "id": revision.pk,
        "created_at": revision.created_at.isoformat(),
        "act": revision.act,
        "verb": revision.verb,
        "node_id": revision.node_id,
        "kind": revision.kind,
        "version": revision.version,
        "by": revision.actor_name,
        "door": revision.channel,
        "token": revision.token_id,
        "session": revision.session,
        "run": revision.run,
        "request_id": revision.request_id,
        "reason": revision.reason,
        "changed": revision.changed,
        "detail": revision.detail,
    }


def _csv(rows: QuerySet[Revision]) -> Iterator[str]:
    writer = csv.writer(Echo())
    yield "\ufeff" + writer.writerow(COLUMNS)
    for revision, _before in all_changes(rows):
        plain = _plain(revision)
        yield writer.writerow([cell(plain[column]) for column in COLUMNS])


def _json(rows: QuerySet[Revision]) -> Iterator[str]:
    yield "["
    for position, (revision, before) in enumerate(all_changes(rows)):
        after = revision.after or {}
        changes = {name: {"before": before.get(name), "after": after.get(name)} for name in revision.changed}
        line = json.dumps({**_plain(revision), "changes": changes}, ensure_ascii=False)
        yield (",\n" if position else "\n") + line
    yield "\n]\n"
