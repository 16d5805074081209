"""What the shared floors know of patterns."""

from typing import Any

from django.utils.translation import gettext_lazy as _

from patterns.confidence import posterior_mean
from patterns.filters import PatternFilterSet
from patterns.models import Cause, Evidence, Pattern
from records.kinds import Kind, register

TOLERANCE = 1e-9


def pattern_body(pattern: Pattern) -> str:
    code = f"```{pattern.language or ''}\n{pattern.code_example}\n```" if pattern.code_example else ""
    return "\n\n".join(filter(None, [pattern.description, code]))


def _is_foreign(pattern: Pattern) -> bool:
    """A confidence that does not follow from prior and votes was written by plain SQL."""
    follows = posterior_mean(
        pattern.prior_confidence, pattern.prior_weight, pattern.worked_count, pattern.failed_count
    )
    return abs(follows - pattern.confidence_score) > TOLERANCE


def _take_in_sql(pattern: Pattern, new: bool) -> dict[str, Any]:
    """The confidence as written becomes the new prior; votes count from here."""
    if not new and not _is_foreign(pattern):
        return {}
    Evidence.objects.create(
        pattern=pattern,
        cause=Cause.START if new else Cause.SQL,
        confidence_after=pattern.confidence_score,
        actor_name="sql",
    )
    return {"prior_confidence": pattern.confidence_score, "worked_count": 0, "failed_count": 0}


PATTERN = register(
    Kind(
        name="pattern",
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
        is_foreign=_is_foreign,
        absorb=_take_in_sql,
    )
)  # fmt: skip
