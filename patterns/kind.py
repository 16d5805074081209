"""What the shared floors know of patterns."""

from collections.abc import Collection
from typing import Any

from django.utils.translation import gettext_lazy as _

from patterns.filters import PatternFilterSet
from patterns.models import PRIOR_WEIGHT, Cause, Evidence, Pattern
from patterns.pages import confidence_context
from projects.queries import policy_of
from records.counted import Counted
from records.kinds import Kind, register

TOLERANCE = 1e-9
MOVING = {"prior_confidence", "prior_weight", "worked_count", "failed_count", "worked_faded", "failed_faded"}
NO_VOTES = {"worked_count": 0, "failed_count": 0, "worked_faded": None, "failed_faded": None}


def pattern_body(pattern: Pattern) -> str:
    code = f"```{pattern.language or ''}\n{pattern.code_example}\n```" if pattern.code_example else ""
    return "\n\n".join(filter(None, [pattern.description, code]))


def _is_foreign(pattern: Pattern) -> bool:
    """A confidence that does not follow from prior and votes was written by plain SQL."""
    return abs(pattern.posterior - pattern.confidence_score) > TOLERANCE


def _follows(pattern: Pattern, names: Collection[str]) -> dict[str, Any]:
    return {"confidence_score": pattern.posterior} if MOVING.intersection(names) else {}


def _take_in_sql(pattern: Pattern, new: bool) -> dict[str, Any]:
    """The confidence as written becomes the new prior; votes count from here."""
    if not new and not _is_foreign(pattern):
        return {}
    weight = pattern.prior_weight
    if new and weight == PRIOR_WEIGHT:  # the table's own default: the writer named none
        weight = policy_of(pattern.project_id).prior_weight
    Evidence.objects.create(
        pattern=pattern,
        cause=Cause.START if new else Cause.SQL,
        confidence_after=pattern.confidence_score,
        votes_after=weight,
        actor_name="sql",
    )
    changes = {"prior_confidence": pattern.confidence_score, **NO_VOTES}
    return changes | {"prior_weight": weight} if new else changes


PATTERN = register(
    Kind(
        name="pattern",
        sections="patterns/_pattern.html",
        sections_of=confidence_context,
        filterset=PatternFilterSet,
        prefix="pat",
        label=_("pattern"),
        label_plural=_("patterns"),
        pack_section="patterns",
        model=Pattern,
        url_name="patterns:detail",
        list_url_name="patterns:list",
        summary_of=lambda pattern: pattern.description or pattern.code_example or "",
        body_of=pattern_body,
        graph_label="Pattern",
        headed=("name",),
        facts_of=lambda pattern: [
            ("", pattern.category),
            (_("confidence"), f"{pattern.confidence_score:.2f}"),
            (_("used"), str(pattern.usage_count)),
        ],
        graph_properties=lambda pattern: {
            "category": pattern.category, "language": pattern.language, "confidence_score": pattern.confidence_score,
        },
        archived_label=_("retired"),
        is_foreign=_is_foreign,
        absorb=_take_in_sql,
        editable=("category", "name", "description", "code_example", "language", "tags"),
        follows=_follows,
        counted=Counted(
            model=Evidence,
            parent="pattern",
            verb_of=lambda step: step.cause,
            verb_column="cause",
            counts={
                "worked": {"worked_count": 1, "usage_count": 1}, "failed": {"failed_count": 1, "usage_count": 1},
            },
            resets=(Cause.ADJUSTED, Cause.SQL),
            reset_counters=("worked_count", "failed_count", "worked_faded", "failed_faded"),
            faded={"worked_faded": "worked_count", "failed_faded": "failed_count"},
        ),
    )
)  # fmt: skip
