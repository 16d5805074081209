"""What a pattern's page shows of its confidence."""

from __future__ import annotations

from typing import Any

from django.utils.translation import gettext as _

from patterns import evidence
from patterns.confidence import interval_of
from projects.queries import policy_of
from records.pages.sparkline import HEIGHT, WIDTH, band, sparkline


def confidence_context(pattern: Any) -> dict[str, Any]:
    """For templates/patterns/_pattern.html and _confidence_steps.html. Two queries."""
    steps = evidence.steps_of(pattern)
    drawn = steps[::-1]
    return {
        "interval": interval_of(pattern.confidence_score, pattern.all_votes),
        "votes": pattern.votes,
        "half_life": policy_of(pattern.project_id).confidence_half_life_days,
        "steps": steps,
        "steps_shown": evidence.SHOWN,
        "points": sparkline([step.after for step in drawn]),
        "band": band([step.interval for step in drawn]),
        "spark_width": WIDTH,
        "spark_height": HEIGHT,
        "spark_text": _("confidence after each step: %s")
        % ", ".join(f"{step.after:.2f}" for step in drawn[-12:]),
    }
