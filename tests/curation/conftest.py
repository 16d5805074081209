import pytest

from decisions.actions import create_decision
from records.actor import Actor
from tests.conftest import make_token


@pytest.fixture
def other_agent(project) -> Actor:
    token, _text = make_token(project, agent_name="other-bot")
    return Actor.agent(token)


@pytest.fixture
def decision(agent, project):
    return create_decision(actor=agent, project=project, title="Use Redis", decision="Cache totals.")
