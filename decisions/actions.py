"""Every write to decisions and outcomes."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any

from django.utils import timezone
from django.utils.translation import gettext as _

from database.transactions import transactional
from decisions.kind import DECISION, OUTCOME
from decisions.models import Decision, Outcome, Status
from projects.models import Project
from records import checks, verbs
from records.actor import Actor
from records.checks import Reason
from records.errors import InvalidInput, Refused
from records.links import leads_to, link
from records.models import Link, Relation

EDITABLE = DECISION.editable
IMPORTED = (*EDITABLE, "status_written", "source_text", "origin")
OUTCOME_EDITABLE = OUTCOME.editable


def create_decisions(
    *,
    actor: Actor,
    project: Project,
    rows: Sequence[Mapping[str, Any]],
    reason: Reason = "",
    review_state: str | None = None,
) -> list[Decision]:
    """A row without `decided_at` was decided now; with None, on a day nobody wrote down."""
    now = timezone.now()
    prepared = [{"decided_at": now, **row} for row in rows]
    for row in prepared:
        row["sort_at"] = row["decided_at"] or now
    return verbs.create(
        DECISION, prepared, actor=actor, project=project, reason=reason, review_state=review_state
    )


def create_decision(*, actor: Actor, project: Project, reason: str = "", **fields: Any) -> Decision:
    return create_decisions(actor=actor, project=project, rows=[fields], reason=reason)[0]


def edit_decision(
    *,
    actor: Actor,
    decision: Decision,
    changes: Mapping[str, Any],
    reason: str = "",
    expected_version: int | None = None,
) -> Decision:
    """Change any of EDITABLE."""
    changes = checks.only(changes, EDITABLE, decision.node_id)
    return verbs.update(
        [decision], changes, actor=actor, verb="edit", reason=reason, expected_version=expected_version
    ).record


def change_status(
    *, actor: Actor, decisions: Sequence[Decision], status: str, reason: str, **options: Any
) -> verbs.Outcome:
    """What the world did with the decision. The memory stays visible whatever its status."""
    if status not in Status.values:
        raise InvalidInput({"status": [_("Must be one of: %s.") % ", ".join(Status.values)]})
    checks.require_reason(reason)
    return verbs.update(
        decisions, {"status": status}, actor=actor, verb="change_status", reason=reason, **options
    )


@transactional
def supersede(
    *,
    actor: Actor,
    decision: Decision,
    by: Decision | None,
    reason: str = "",
    expected_version: int | None = None,
) -> Decision:
    """Status and link together. The successor may be unknown (`by` None)."""
    if by is not None:
        link_successor(actor=actor, decision=decision, by=by, reason=reason)
    return verbs.update(
        [decision], {"status": Status.SUPERSEDED}, actor=actor, verb="supersede", reason=reason,
        expected_version=expected_version,
    ).record  # fmt: skip


def link_successor(*, actor: Actor, decision: Decision, by: Decision, reason: str = "") -> Link:
    """The link alone, where the status is said by other words (a document's own)."""
    if by.node_id == decision.node_id:
        raise Refused(_("A decision cannot supersede itself."), decision.node_id)
    if leads_to(decision.node_id, Relation.SUPERSEDES, by.node_id):
        raise Refused(
            _("%(old)s already supersedes %(new)s; a decision cannot supersede what superseded it.")
            % {"old": decision.node_id, "new": by.node_id},
            decision.node_id,
        )
    return link(by, Relation.SUPERSEDES, decision, actor=actor, reason=reason)


def contradict(*, actor: Actor, decision: Decision, other: Any, reason: str = "") -> Link:
    """Say that two memories cannot both hold. Neither changes its status: which one is right is a person's call."""
    return link(decision, Relation.CONTRADICTS, other, actor=actor, reason=reason)


@verbs.taking_in_sql
@transactional
def record_outcomes(
    *, actor: Actor, project: Project, rows: Sequence[Mapping[str, Any]], reason: Reason = ""
) -> list[Outcome]:
    """What followed decisions of this project, each row with its `decision`: the graph's LEADS_TO."""
    live = verbs.lock_all_live([row["decision"] for row in rows])
    if any(decision.project_id != project.pk for decision in live.values()):
        raise InvalidInput({"decision": [_("The decision is in another project.")]})
    prepared = [
        {**checks.only(row, (*OUTCOME_EDITABLE, "decision")), "decision": live[row["decision"].node_id]}
        for row in rows
    ]
    return verbs.create(OUTCOME, prepared, actor=actor, project=project, reason=reason)


def record_outcome(*, actor: Actor, decision: Decision, reason: str = "", **fields: Any) -> Outcome:
    rows = [{**fields, "decision": decision}]
    return record_outcomes(actor=actor, project=decision.project, rows=rows, reason=reason)[0]


def edit_outcome(
    *,
    actor: Actor,
    outcome: Outcome,
    changes: Mapping[str, Any],
    reason: str = "",
    expected_version: int | None = None,
) -> Outcome:
    changes = checks.only(changes, OUTCOME_EDITABLE, outcome.node_id)
    return verbs.update(
        [outcome], changes, actor=actor, reason=reason, expected_version=expected_version
    ).record
