"""Plain SQL may move one end of a relation to another project: nothing of it is told on this side of the wall."""

from __future__ import annotations

import json

import pytest
from django.urls import reverse

from decisions.actions import create_decision, record_outcome, supersede
from records.actor import Actor
from records.sweep import sweep
from runs.actions import record_run, remember
from runs.queries import memories_of
from tests.conftest import make_token
from tests.records.samples import make, page_of, write_as_sql

pytestmark = [pytest.mark.database, pytest.mark.django_db]
SECRET = "Sell the bank"


@pytest.fixture
def reader(client, project):
    _token, text = make_token(project)

    def get(path: str) -> str:
        answer = client.get(path, headers={"Authorization": f"Bearer {text}"})
        assert answer.status_code == 200, (path, answer.content)
        return answer.content.decode()

    return get


def test_a_successor_that_moved_away_is_not_named(as_curator, reader, agent, project, other_project):
    old = create_decision(actor=agent, project=project, title="Old", decision="D")
    new = create_decision(actor=agent, project=project, title=SECRET, decision="D")
    supersede(actor=agent, decision=old, by=new)
    write_as_sql(new, project_id=other_project.pk)
    for swept in (False, True):
        if swept:
            sweep()
        assert SECRET not in reader(f"/api/v1/decisions/{old.node_id}")
        assert SECRET not in reader("/api/v1/decisions")
        assert SECRET not in reader(f"/api/v1/records/{old.node_id}/neighbourhood")
        assert SECRET not in as_curator.get(page_of(old)).content.decode()


def test_an_outcome_tells_nothing_of_a_decision_that_moved_away(
    as_curator, reader, agent, project, other_project
):
    decision = create_decision(actor=agent, project=project, title=SECRET, decision="D")
    outcome = record_outcome(actor=agent, decision=decision, type="outage", note="It fell over")
    write_as_sql(decision, project_id=other_project.pk)
    assert SECRET not in reader(f"/api/v1/outcomes/{outcome.node_id}")
    assert SECRET not in reader("/api/v1/outcomes")
    for address in (page_of(outcome), reverse("decisions:outcomes", args=["shop"])):
        answer = as_curator.get(address)
        assert answer.status_code == 200
        assert SECRET not in answer.content.decode()


def test_a_decision_shows_no_outcome_of_another_project(as_curator, reader, agent, project, other_project):
    decision = create_decision(actor=agent, project=project, title="Ours", decision="D")
    outcome = record_outcome(actor=agent, decision=decision, type="secret-type", note=SECRET)
    write_as_sql(outcome, project_id=other_project.pk)
    for address in (page_of(decision), reverse("decisions:list", args=["shop"])):
        page = as_curator.get(address).content.decode()
        assert SECRET not in page
        assert "secret-type" not in page
    assert SECRET not in reader(f"/api/v1/decisions/{decision.node_id}/outcomes")


def test_a_run_shows_no_memory_of_another_project(agent, project, other_project):
    run = record_run(actor=agent, project=project, agent_name="order-bot")
    memory = remember(actor=agent, project=project, agent_name="order-bot", summary=SECRET, run=run)
    assert memories_of(run) == [memory]
    write_as_sql(memory, project_id=other_project.pk)
    assert memories_of(run) == []


def test_a_token_of_two_projects_cannot_join_them(client, agent, project, other_project):
    token, text = make_token(project)
    token.projects.add(other_project)
    here = create_decision(actor=agent, project=project, title="Here", decision="D")
    there = make("decision", Actor.command("test"), other_project, "There")
    for verb, field in (("supersede", "by"), ("contradict", "other")):
        answer = client.post(
            f"/api/v1/decisions/{here.node_id}/{verb}", {field: there.node_id}, content_type="application/json",
            headers={"Authorization": f"Bearer {text}"},
        )  # fmt: skip
        assert answer.status_code == 409, answer.content
    here.refresh_from_db()
    assert (here.status, here.version) == ("accepted", 1)


@pytest.mark.parametrize("tags", ["redis", 17, {"a": 1}, ["redis", None, 1]])
def test_agents_are_answered_a_list_of_tags_whatever_plain_sql_put_there(reader, agent, project, tags):
    record = make("decision", agent, project)
    write_as_sql(record, tags=tags)
    found = json.loads(reader(f"/api/v1/decisions/{record.node_id}"))["tags"]
    assert found == (["redis"] if isinstance(tags, list) else [])
