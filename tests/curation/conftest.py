import pytest

from records.actor import Actor
from tests.conftest import make_token


@pytest.fixture
def other_agent(project) -> Actor:
    token, _text = make_token(project, agent_name="other-bot")
    return Actor.agent(token)
