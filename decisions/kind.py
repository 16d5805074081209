"""What the shared floors know of decisions and outcomes."""

from typing import Any

from django.utils.translation import gettext_lazy as _

from decisions.filters import DecisionFilterSet, OutcomeFilterSet
from decisions.models import Decision, Outcome, Status
from decisions.queries import BAD_OUTCOMES, bad_outcomes_since, latest_outcomes, leads_to_edges
from records.kinds import Kind, register

# A pending one is still open: it contradicts nothing.
HOLDS = {
    Status.ACCEPTED: True,
    Status.REJECTED: False,
    Status.SUPERSEDED: False,
    Status.DEPRECATED: False,
}


def _sections(*parts: tuple[str, str | None]) -> str:
    return "\n\n".join(f"## {heading}\n\n{text}" for heading, text in parts if text)


def decision_body(decision: Decision) -> str:
    return _sections(
        ("Decision", decision.decision),
        ("Rationale", decision.rationale),
        ("Alternatives considered", decision.alternatives_considered),
    )


def _sorted_elsewhere(decision: Decision) -> bool:
    """Plain SQL wrote the date alone."""
    return decision.decided_at is not None and decision.sort_at != decision.decided_at


def _outcome_badges(decisions: list[Decision]) -> dict[str, tuple[str, str]]:
    followed = latest_outcomes(decision.pk for decision in decisions)
    return {DECISION.node_id(key): (outcome.heading, _level(outcome)) for key, outcome in followed.items()}


def _level(outcome: Outcome) -> str:
    if outcome.type == "success":
        return "good"
    return "bad" if outcome.type in BAD_OUTCOMES else "mute"


def _decision_properties(decision: Decision) -> dict[str, Any]:
    return {"decided_at": decision.decided_at}


DECISION = register(
    Kind(
        name="decision",
        sections="decisions/_decision.html",
        filterset=DecisionFilterSet,
        prefix="dec",
        label=_("decision"),
        label_plural=_("decisions"),
        pack_section="decisions",
        unpacked=("origin", "source_text"),
        model=Decision,
        url_name="decisions:detail",
        list_url_name="decisions:list",
        summary_of=lambda decision: decision.decision,
        body_of=decision_body,
        graph_label="Decision",
        when="sort_at",
        status_of=lambda decision: decision.status,
        holds=lambda decision: HOLDS.get(decision.status),
        outcome_badges=_outcome_badges,
        doubts_of=bad_outcomes_since,
        graph_properties=_decision_properties,
        status_column="status",
        is_foreign=_sorted_elsewhere,
        editable=(
            "title",
            "decision",
            "rationale",
            "alternatives_considered",
            "status",
            "decided_at",
            "decided_precision",
            "tags",
        ),
        follows=lambda decision, names: (
            {"sort_at": decision.decided_at or decision.created_at} if "decided_at" in names else {}
        ),
        dependents=(("outcome", "decision"),),
        goes_with={"decided_precision": "decided_at"},
        absorb=lambda decision, new: {"sort_at": decision.decided_at} if _sorted_elsewhere(decision) else {},
    )
)

OUTCOME = register(
    Kind(
        name="outcome",
        sections="decisions/_outcome.html",
        repeats_are_duplicates=False,
        filterset=OutcomeFilterSet,
        prefix="out",
        label=_("outcome"),
        label_plural=_("outcomes"),
        model=Outcome,
        url_name="decisions:outcome",
        list_url_name="decisions:outcomes",
        summary_of=lambda outcome: outcome.note or "",
        body_of=lambda outcome: outcome.note or "",
        graph_label="Outcome",
        when="occurred_at",
        status_of=lambda outcome: outcome.type,
        facts_of=lambda outcome: [(_("of"), f"dec_{outcome.decision_id} {outcome.decision_title}".strip())],
        graph_properties=lambda outcome: {"type": outcome.type, "success_rate": outcome.success_rate},
        editable=("type", "success_rate", "note", "occurred_at", "tags"),
        leads_to=lambda outcome: f"dec_{outcome.decision_id}",
        edges_of=leads_to_edges,
        headed=("type", "success_rate"),
        status_column="type",
        select=("decision",),
    )
)
