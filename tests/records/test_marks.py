"""What the worker is asked for."""

from __future__ import annotations

from decisions.actions import create_decision
from records.marks import want_again
from records.models import ProjectionMark


def test_a_mark_that_waits_keeps_since_when_and_one_that_is_done_starts_anew(agent, project):
    decision = create_decision(actor=agent, project=project, title="T", decision="D")
    first = ProjectionMark.objects.get(node_id=decision.node_id)
    want_again([decision.node_id])
    waits = ProjectionMark.objects.get(node_id=decision.node_id)
    assert (waits.wanted_version, waits.wanted_at) == (first.wanted_version + 1, first.wanted_at)
    ProjectionMark.objects.update(next_try_at=None, attempts=3, dead=True, error="x")
    want_again([decision.node_id])
    anew = ProjectionMark.objects.get(node_id=decision.node_id)
    assert anew.wanted_at == anew.next_try_at > first.wanted_at
    assert (anew.wanted_version, anew.attempts, anew.dead, anew.error) == (
        first.wanted_version + 2,
        0,
        False,
        None,
    )
