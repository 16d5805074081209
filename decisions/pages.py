"""What the page of a decision shows of the document it was read from."""

from __future__ import annotations

from typing import Any

from django.utils.functional import Promise
from django.utils.translation import gettext as _

from decisions.imported import FIELDS, fields_of, open_conflict, plain_fields
from decisions.models import Decision
from records.pages.history import diff_of

Fact = tuple[str, str, str]


def document_facts(decision: Decision) -> list[Fact]:
    """(label, text, "") of where in its document each thing was read."""
    origin = decision.origin or {}
    if not origin.get("path"):
        return []
    source = f"{origin['source']}: " if origin.get("source") else ""
    written = decision.status_written or _("not written")
    facts = [
        (_("read from"), f"{source}{origin['path']}", ""),
        (_("status as written"), _and_where(written, origin.get("status_source")), ""),
        (
            _("date as written"),
            _and_where(origin.get("date_written") or _("none"), origin.get("date_source")),
            "",
        ),
        (_("decided by"), ", ".join(origin.get("deciders") or []), ""),
        (_("authors"), ", ".join(origin.get("authors") or []), ""),
        (_("could be read two ways"), "; ".join(origin.get("notes") or []), ""),
    ]
    return [fact for fact in facts if fact[1]]


def _and_where(text: str, where: str | None) -> str:
    return f"{text} ({where})" if where else text


def conflict_context(decision: Decision) -> dict[str, Any]:
    """The open conflict with its document, column by column; {} where there is none."""
    standing = open_conflict(decision)
    if standing is None:
        return {}
    theirs, ours = (standing.detail or {})["theirs"], plain_fields(fields_of(decision))
    labels = {column.attname: column.verbose_name for column in Decision._meta.concrete_fields}
    rows = [
        (_label(labels[name]), diff_of(ours[name], theirs[name]))
        for name in FIELDS
        if ours[name] != theirs[name]
    ]
    return {"import_conflict": {"when": standing.created_at, "reason": standing.reason, "rows": rows}}


def _label(name: str | Promise) -> str:
    return str(name).capitalize()
