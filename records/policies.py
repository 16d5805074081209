"""What a project's policy makes of an agent's write: quarantine of what is flagged, approval of whom it trusts.

People's, imports' and plain SQL's writes are flagged and otherwise left to people.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any

from django.utils import timezone
from django.utils.translation import gettext as _

from projects.models import ProjectPolicy
from projects.queries import policy_of
from records.actor import Actor, SourceKind
from records.hygiene.findings import FieldFinding
from records.models import HIDDEN_STATES, ReviewState

# Who acts in the history where a policy does, and no person.
POLICY = "policy"


@dataclass(frozen=True, slots=True)
class Ruling:
    """The review state that a policy gives a write, and why; `verb` and `reason` go into the history."""

    state: ReviewState
    verb: str
    reason: str
    detail: dict[str, Any]

    @property
    def columns(self) -> dict[str, Any]:
        return {"review_state": self.state, "reviewed_at": timezone.now(), "reviewed_by": None}


class Policies:
    """The policies that one act needs, each read once and only where one is asked for."""

    def __init__(self, actor: Actor) -> None:
        self.actor = actor
        self.rules = actor.source_kind == SourceKind.AGENT
        self._read: dict[int | None, ProjectPolicy] = {}

    def of_new(self, project_id: int | None, found: Sequence[FieldFinding]) -> Ruling | None:
        if not self.rules:
            return None
        policy = self._of(project_id)
        if found:
            return _quarantine(found) if policy.quarantine_findings else None
        least = policy.auto_approve_trust
        if least is None or self.actor.trust < least:
            return None
        reason = _("By policy: writes of agents trusted %(least)s or more arrive approved.") % {
            "least": f"{least:.2f}"
        }
        detail = {"policy": "auto_approve_trust", "trust": self.actor.trust, "least": least}
        return Ruling(ReviewState.APPROVED, "approve", reason, detail)

    def of_change(self, record: Any, introduced: Sequence[FieldFinding]) -> Ruling | None:
        """`introduced`: what the change brings in, without what was there before and a person may have let pass."""
        if not self.rules or not introduced or record.review_state in HIDDEN_STATES:
            return None
        return _quarantine(introduced) if self._of(record.project_id).quarantine_findings else None

    def _of(self, project_id: int | None) -> ProjectPolicy:
        if project_id not in self._read:
            self._read[project_id] = policy_of(project_id)
        return self._read[project_id]


def _quarantine(found: Sequence[FieldFinding]) -> Ruling:
    codes = list(dict.fromkeys(finding.code for finding in found))
    places = ", ".join(f"{finding.code} ({finding.field})" for finding in found)
    reason = _("By policy, for what was found: %s.") % places
    return Ruling(
        ReviewState.QUARANTINED,
        "quarantine",
        reason,
        {"policy": "quarantine_findings", "findings": codes},
    )
