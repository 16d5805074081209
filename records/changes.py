"""What `verbs.update` was asked, record by record, and what became of the set."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from dataclasses import dataclass, field
from typing import Any

from django.utils.translation import gettext as _

from projects.access import Capability
from records.actor import Actor
from records.checks import as_kept
from records.errors import Conflict, Refused, VerbError
from records.kinds import Kind

Detail = Callable[[Any], Mapping[str, Any]]


@dataclass
class Outcome:
    """What became of a set: the records as they are now, by what happened to each."""

    updated: list[Any] = field(default_factory=list)
    unchanged: list[Any] = field(default_factory=list)
    refused: list[tuple[str, VerbError]] = field(default_factory=list)

    def add(self, part: Outcome) -> None:
        self.updated += part.updated
        self.unchanged += part.unchanged
        self.refused += part.refused

    @property
    def record(self) -> Any:
        """The one record of a set of one."""
        return (self.updated or self.unchanged)[0]


@dataclass(frozen=True)
class Change:
    """One change of a set of records of one kind."""

    changes: Mapping[str, Any] | Callable[[Any], Mapping[str, Any]]
    actor: Actor
    verb: str
    reason: str
    expected_version: int | Mapping[str, int] | None
    capability: Capability
    partial: bool
    detail: Detail | None
    merged_too: bool

    def plan_for(self, kind: Kind, record: Any) -> dict[str, Any]:
        """The columns that would change, after asking whether they may."""
        self.actor.require(record.project_id, self.capability)
        refuse_change_of_erased(record)
        expected = self._expected_of(record)
        if expected is not None and record.version != expected:
            raise Conflict(record, expected)
        if record.merged_into and not self.merged_too:
            raise Refused(_("It was merged into %s: change that one.") % record.merged_into, record.node_id)
        wanted = as_kept(kind, self.changes(record) if callable(self.changes) else self.changes)
        return {name: value for name, value in wanted.items() if getattr(record, name) != value}

    def _expected_of(self, record: Any) -> int | None:
        if isinstance(self.expected_version, Mapping):
            return self.expected_version.get(record.node_id)
        return self.expected_version


def refuse_change_of_erased(record: Any) -> None:
    if record.erased:
        raise Refused(
            _("It was erased for good: there is nothing left to change or to bring back."), record.node_id
        )
