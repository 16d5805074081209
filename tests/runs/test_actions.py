"""Runs as their agents write them."""

import pytest

from records.errors import InvalidInput
from runs.actions import record_run

pytestmark = [pytest.mark.database, pytest.mark.django_db]


def test_a_confidence_given_as_a_float_is_the_decimal_it_shows(agent, project):
    assert (
        str(record_run(actor=agent, project=project, agent_name="bot", confidence=0.77).confidence) == "0.77"
    )
    with pytest.raises(InvalidInput) as refused:
        record_run(actor=agent, project=project, agent_name="bot", confidence=0.777)
    assert list(refused.value.errors) == ["confidence"]
    with pytest.raises(InvalidInput):
        record_run(actor=agent, project=project, agent_name="bot", confidence=float("nan"))
