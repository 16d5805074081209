"""What a record read again means for the decision that it is: nothing, an update, or a conflict for a person."""

from __future__ import annotations

from dataclasses import dataclass, field
from typing import Any

from decisions.imported import FIELDS, FIELDS_DIGEST, edited_here, fields_digest, fields_of
from decisions.models import Decision
from transfer.importing.columns import Columns
from transfer.importing.report import Outcome

DOCUMENT = ("source_text", "origin", "status_written")


@dataclass
class Verdict:
    outcome: Outcome
    changes: dict[str, Any] = field(default_factory=dict)
    said: list[str] = field(default_factory=list)


def judge(decision: Decision, columns: Columns) -> Verdict:
    """Three texts are compared: as last read from the document, as it is now, as the record is now."""
    before, now = decision.origin or {}, columns.origin
    same_text = before.get("digest") == now["digest"]
    same_fields = before.get(FIELDS_DIGEST) == now[FIELDS_DIGEST]
    edited = edited_here(decision)
    moved = before.get("path") != now["path"]
    said = [f"was {before.get('path')}"] if moved else []
    if decision.merged_into:
        return Verdict("unchanged", said=[f"merged into {decision.merged_into}: not read in again"])
    if same_text and same_fields:
        said += ["edited here; the document has not changed"] if edited else []
        return Verdict("updated", {"origin": now}, said) if moved else Verdict("unchanged", said=said)
    if not decision.is_active:
        said.append("hidden from agents, and stays so")
    document = {name: columns.values[name] for name in DOCUMENT}
    if not edited:
        return Verdict("updated", {**{name: columns.values[name] for name in FIELDS}, **document}, said)
    if fields_digest(fields_of(decision)) == now[FIELDS_DIGEST]:
        return Verdict("updated", document, [*said, "edited here to the same"])
    if same_fields:
        return Verdict(
            "updated", document, [*said, "edited here, which is kept: the document changed elsewhere"]
        )
    named = ", ".join(name for name in FIELDS if getattr(decision, name) != columns.values[name])
    why = f"edited here since it was imported, and changed in the document: not overwritten ({named})"
    return Verdict("conflict", said=[*said, why])
