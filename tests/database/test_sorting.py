"""Rows are sorted whatever they hold."""

import pytest

from runs.actions import record_run
from runs.models import Run

pytestmark = [pytest.mark.database, pytest.mark.django_db]
LARGE = {"n": [1.5] * 200_000}  # nearly 1 MiB as text, more than twice that as MySQL keeps it


def test_rows_of_large_json_are_sorted_whole(project, agent):
    for name in ("one", "two", "three"):
        record_run(
            actor=agent,
            project=project,
            agent_name=name,
            trigger_payload=LARGE,
            outcome=LARGE,
            tool_calls=[LARGE],
        )
    assert [run.outcome for run in Run.objects.order_by("agent_name", "-started_at")] == [LARGE] * 3
