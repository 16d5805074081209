"""What an act brings in: its texts looked at, the project's policy applied, findings kept, repetitions linked.

The verbs of records.verbs call it inside their transaction; nothing else does.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Any

from records.actor import Actor, SourceKind
from records.hygiene import kept
from records.hygiene.findings import FieldFinding
from records.kinds import Kind
from records.policies import Policies, Ruling
from records.same_text import first_of_same_text, text_hash_of


@dataclass(frozen=True, slots=True)
class Written:
    """What a verb knows of a record that it has just written. `findings` None: its text was not touched."""

    duplicate_of: tuple[str, ...] = ()
    findings: tuple[FieldFinding, ...] | None = None
    quarantined: bool = False


class Arrival:
    """One act of one actor on records of one kind."""

    def __init__(self, kind: Kind, actor: Actor) -> None:
        self.kind, self.actor = kind, actor
        self._policies = Policies(actor)
        self._columns = kept.text_columns(kind.model)
        self._found: dict[str, list[FieldFinding]] = {}
        self._new: list[tuple[list[FieldFinding], Ruling | None]] = []
        self._first: dict[str, str] = {}
        self.rulings: dict[str, Ruling] = {}

    def look_at_new(self, instances: Sequence[Any], *, may_rule: bool) -> None:
        """Find what is in them, and set the review state that the policy gives."""
        for instance in instances:
            found = kept.look_at(instance)
            ruling = self._policies.of_new(instance.project_id, found) if may_rule else None
            if ruling is not None:
                for name, value in ruling.columns.items():
                    setattr(instance, name, value)
            self._new.append((found, ruling))

    def look_at_change(
        self, record: Any, plan: Mapping[str, Any], before: Sequence[tuple[str, Any]]
    ) -> dict[str, Any]:
        """The further columns that the policy changes; `before` are the record's texts as they were."""
        if not any(name in self._columns for name in plan):
            return {}
        found = self._found[record.node_id] = kept.look_at(record)
        if not found:
            return {}
        known = set(kept.findings_by_field(before))
        ruling = self._policies.of_change(record, [finding for finding in found if finding not in known])
        if ruling is None:
            return {}
        self.rulings[record.node_id] = ruling
        return ruling.columns

    def keep_new(self, records: Sequence[Any]) -> None:
        """After the insert, in the order in which they were looked at."""
        for record, (found, ruling) in zip(records, self._new, strict=True):
            self._found[record.node_id] = found
            if ruling is not None:
                self.rulings[record.node_id] = ruling
        kept.keep(records, self._found, new=True)
        self._first = self._repetitions_in(records)
        for record in records:
            self._tell(record, (self._first[record.node_id],) if record.node_id in self._first else ())

    def link_repetitions(self) -> None:
        """After the histories of the new ones have begun."""
        if self._first:
            from records.links import link_duplicates  # links are told in histories, which the verbs write

            link_duplicates(self._first, actor=self.actor)

    def keep_changed(self, records: Sequence[Any]) -> None:
        looked_at = [record for record in records if record.node_id in self._found]
        if looked_at:
            kept.keep(looked_at, self._found)
        for record in records:
            self._tell(record)

    def _tell(self, record: Any, duplicate_of: tuple[str, ...] = ()) -> None:
        found = self._found.get(record.node_id)
        ruling = self.rulings.get(record.node_id)
        record.written = Written(
            duplicate_of,
            None if found is None else tuple(found),
            ruling is not None and ruling.verb == "quarantine",
        )

    def _repetitions_in(self, records: Sequence[Any]) -> dict[str, str]:
        """What people and agents write again is kept and linked; what is brought in from elsewhere came with its links."""
        if self.actor.source_kind not in (SourceKind.AGENT, SourceKind.PERSON):
            return {}
        hashes = {record.node_id: text_hash_of(record) for record in records}
        return first_of_same_text(self.kind, records, hashes)
