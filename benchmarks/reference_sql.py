"""The four reads of people and agents who ask by SQL: through our query functions, beside the plain statements."""

from __future__ import annotations

import random
from datetime import timedelta
from typing import Any

from django.db import connection
from django.utils import timezone

from benchmarks.side_by_side import Pair, side_by_side
from decisions.queries import recent_decisions
from patterns.queries import patterns_above
from pitfalls.models import Pitfall
from pitfalls.queries import pitfalls_before_implementing
from work_sessions.models import WorkSession
from work_sessions.queries import session_named

ACTIVE = "archived_at IS NULL AND merged_into IS NULL AND review_state NOT IN ('rejected', 'quarantined')"
DECISIONS = f"""
    SELECT title, decision, rationale, decided_at FROM architecture_decisions
    WHERE project_id = %s AND decided_at > %s AND {ACTIVE} ORDER BY decided_at DESC LIMIT 10"""
PATTERNS = f"""
    SELECT category, name, description, code_example FROM code_patterns
    WHERE project_id = %s AND confidence_score >= 0.80 AND {ACTIVE}
    ORDER BY usage_count DESC, confidence_score DESC LIMIT 20"""
PITFALLS = f"""
    SELECT title, description, how_to_avoid FROM pitfalls
    WHERE project_id = %s AND category = %s AND severity IN ('critical', 'high') AND {ACTIVE}
    ORDER BY encountered_count DESC"""
SESSION = "SELECT context FROM work_sessions WHERE session_id = %s ORDER BY started_at DESC LIMIT 1"


def raw(statement: str, *parameters: Any) -> Any:
    with connection.cursor() as cursor:
        cursor.execute(statement, parameters)
        return cursor.fetchall()


def sql_pairs(projects: list[int], times: int, rng: random.Random) -> list[Pair]:
    """`projects` as often as their share of questions; each question at a random one."""
    month = timezone.now() - timedelta(days=30)
    asked = [rng.choice(projects) for _ in range(times)]
    categories = list(Pitfall.objects.order_by().values_list("category", flat=True).distinct())
    by_category = [(project, rng.choice(categories)) for project in asked]
    last = WorkSession.objects.order_by("-pk").values_list("pk", flat=True)[0]
    keys = [rng.randint(1, last) for _ in range(times)]
    sessions = list(WorkSession.objects.filter(pk__in=keys).values_list("project_id", "session_id"))
    return [
        side_by_side(
            "decisions of 30 days, 10",
            asked,
            lambda project: list(recent_decisions(project).values("title", "decision", "rationale", "decided_at")[:10]),
            lambda project: raw(DECISIONS, project, month),
        ),
        side_by_side(
            "patterns at 0.80 or more, 20",
            asked,
            lambda project: list(patterns_above(project, 0.8).values("category", "name", "description", "code_example")[:20]),
            lambda project: raw(PATTERNS, project),
        ),
        side_by_side(
            "pitfalls of a category",
            by_category,
            lambda one: list(pitfalls_before_implementing(*one).values("title", "description", "how_to_avoid")),
            lambda one: raw(PITFALLS, *one),
        ),
        side_by_side(
            "context of a session",
            sessions,
            lambda one: session_named(*one),
            lambda one: raw(SESSION, one[1]),
        ),
    ]  # fmt: skip
