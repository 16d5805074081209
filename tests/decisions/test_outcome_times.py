"""Outcomes that are recorded later: "it led to an outage on 3 June"; they wait for a review like all that agents write."""

from datetime import UTC, datetime
from unittest.mock import patch

import pytest
from django.utils import timezone

from decisions.actions import record_outcome
from decisions.models import Outcome
from records.models import Attention
from tests.records.samples import make, page_of

pytestmark = [pytest.mark.database, pytest.mark.django_db]
NOW = datetime(2026, 11, 30, 10, tzinfo=UTC)


def record(client, decision, when):
    with patch.object(timezone, "now", lambda: NOW):
        return client.post(f"{page_of(decision)}outcome/", {"type": "outage", "occurred_at": when})


@pytest.mark.parametrize(
    ("said", "when"),
    [
        ("3 June", datetime(2026, 6, 3, 12, tzinfo=UTC)),
        ("June 3rd, 2025", datetime(2025, 6, 3, 12, tzinfo=UTC)),
        ("yesterday", datetime(2026, 11, 29, 12, tzinfo=UTC)),
        ("2026-06-03", datetime(2026, 6, 3, 12, tzinfo=UTC)),
        ("2026-06-03 14:30", datetime(2026, 6, 3, 14, 30, tzinfo=UTC)),
        ("2026-06-03T14:30", datetime(2026, 6, 3, 14, 30, tzinfo=UTC)),
        ("2026-06-03T14:30+02:00", datetime(2026, 6, 3, 12, 30, tzinfo=UTC)),
    ],
)
def test_a_day_in_words_is_a_time(as_curator, agent, project, said, when):
    decision = make("decision", agent, project)
    assert record(as_curator, decision, said).status_code == 303
    assert Outcome.objects.get().occurred_at == when


@pytest.mark.parametrize(
    "said",
    ["", "someday", "last week", "June", "2026-13-01 10:00", "25:00", "\x00", "x" * 5000, "9999-12-31 23:59", "0000-00-00"],
)  # fmt: skip
def test_what_is_no_one_time_is_explained_beside_the_field(as_curator, agent, project, said):
    answer = record(as_curator, make("decision", agent, project), said)
    assert answer.status_code == 422
    assert "occurred_at" in answer.context["form"].errors
    assert not Outcome.objects.exists()


def test_an_untouched_time_keeps_its_seconds(as_curator, agent, project):
    when = datetime(2026, 6, 3, 10, 0, 17, tzinfo=UTC)
    outcome = make("outcome", agent, project, occurred_at=when)
    form = as_curator.get(f"{page_of(outcome)}edit/").context["form"]
    posted = {"type": "outage", "note": "Edited", "occurred_at": form["occurred_at"].value(), "version": 1}
    assert as_curator.post(f"{page_of(outcome)}edit/", posted).status_code == 303
    outcome.refresh_from_db()
    assert (outcome.type, outcome.occurred_at) == ("outage", when)


def test_an_agents_outcome_waits_for_its_review(agent, project):
    outcome = record_outcome(actor=agent, decision=make("decision", agent, project), type="outage")
    assert Attention.objects.get(node_id=outcome.node_id).standing == "waiting"
