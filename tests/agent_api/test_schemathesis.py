"""The whole description against the running API: what it says holds for any request that a machine thinks of.

No answer is a 5xx, none is undescribed, data against the schema is refused. Its state machine follows the ids of one
answer into the next call.
"""

from __future__ import annotations

import subprocess
import sys
from pathlib import Path

import pytest

from decisions.actions import create_decision, record_outcome
from patterns.actions import create_pattern
from pitfalls.actions import create_pitfall
from projects.models import Project
from records.actor import Actor
from runs.actions import record_run, remember
from tests.conftest import make_token
from work_sessions.actions import start_session

pytestmark = pytest.mark.django_db(transaction=True)
CONFIGURATION = Path(__file__).with_name("schemathesis.toml")
CHECKS = (
    "not_a_server_error,status_code_conformance,content_type_conformance,response_headers_conformance,"
    "response_schema_conformance,negative_data_rejection"
)


@pytest.fixture
def token(transactional_db) -> str:
    """Of a project with a record of each kind to read, change and follow."""
    project = Project.objects.create(name="Shop", slug="shop")
    token, text = make_token(project, ("read", "write", "review"))
    agent = Actor.agent(token)
    decision = create_decision(actor=agent, project=project, title="Use Redis", decision="Cache totals.")
    record_outcome(actor=agent, decision=decision, type="outage")
    create_pattern(actor=agent, project=project, category="caching", name="Cache-aside")
    create_pitfall(actor=agent, project=project, category="caching", title="Stampede", severity="high")
    start_session(actor=agent, project=project, session_id="ses-1", context={"step": 1})
    run = record_run(actor=agent, project=project, agent_name="order-bot", trigger_type="alert")
    remember(actor=agent, project=project, agent_name="order-bot", summary="Throttled the purge.", run=run)
    return text


def run(url: str, token: str, folder: Path, phases: str, examples: int) -> None:
    answer = subprocess.run(
        [
            Path(sys.executable).with_name("schemathesis"), f"--config-file={CONFIGURATION}", "run",
            f"{url}/api/v1/schema", f"--url={url}", "-H", f"Authorization: Bearer {token}", f"--phases={phases}",
            f"--max-examples={examples}", f"--checks={CHECKS}", "--seed=1", "--suppress-health-check=all",
            "--warnings=off", "--no-color",
        ],
        capture_output=True, text=True, check=False, cwd=folder,
    )  # fmt: skip
    told = "\n".join(line[:400] for line in answer.stdout.splitlines())  # a body can be a megabyte
    sys.stdout.write(told[-1500:])
    assert answer.returncode == 0, told[-20_000:]


def test_requests_at_random(live_server, token, tmp_path):
    run(live_server.url, token, tmp_path, "examples,fuzzing", examples=2)


@pytest.mark.slow
def test_every_boundary_and_the_state_machine(live_server, token, tmp_path):
    run(live_server.url, token, tmp_path, "coverage,fuzzing,stateful", examples=15)
