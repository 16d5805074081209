"""A bulk leaves and answers what its items would, sent one by one: good, bad, repeated, flagged, with secrets, of any kind."""

from __future__ import annotations

import random
import uuid
from typing import Any

import pytest
from django.db import transaction

from records.actor import Actor
from records.models import Revision
from records.queries import records_by_node_id
from runs import actions as run_actions
from runs.models import Run
from tests.agent_api.bulk_items import PLURALS, Cast, distinct, item_of
from tests.agent_api.conftest import ApiClient
from tests.agent_api.rows_left import left, nothing_is_unseen, told_of
from tests.conftest import make_token, person
from work_sessions import actions as session_actions
from work_sessions.models import WorkSession

pytestmark = [pytest.mark.database, pytest.mark.django_db]
ITEMS = 30


@pytest.fixture
def cast(agent, project, other_project, admin_user, stranger_user) -> Cast:
    elsewhere = Actor.agent(make_token(other_project, name="their bot")[0])
    return Cast(agent, person(admin_user), elsewhere, project, other_project)


def result_of(single: Any) -> dict[str, Any]:
    told = {**single.data, "status": single.status_code}
    if single.status_code >= 400:
        told.pop("node_id", None)  # of an erased record that it named
    return told


@pytest.mark.parametrize("seed", range(3))
@pytest.mark.parametrize("plural", PLURALS)
def test_a_bulk_leaves_what_single_writes_leave(api, cast, plural, seed):
    rng = random.Random(f"{plural} {seed}")
    items = [item_of(plural, rng, cast) for _ in range(ITEMS)]
    outcomes = []
    for send in (in_bulk, one_by_one):
        with transaction.atomic():
            results = send(api, plural, items)
            node_ids = [result.get("node_id") for result in results]
            first = {node_id: f"item {node_ids.index(node_id)}" for node_id in node_ids if node_id}
            nothing_is_unseen()
            outcomes.append(([told_of(result, first) for result in results], left(node_ids)))
            transaction.set_rollback(True)
    (bulk_said, bulk_left), (single_said, single_left) = outcomes
    assert bulk_said == single_said
    for table, rows in single_left.items():
        assert bulk_left[table] == rows, table
    statuses = {result["status"] for result in single_said}
    assert statuses & {200, 201}
    assert statuses - {200, 201}


def in_bulk(api: ApiClient, plural: str, items: list[Any]) -> list[dict[str, Any]]:
    answer = api.post(f"/{plural}/bulk", {"items": items})
    assert answer.status_code == 200, answer.data
    return answer.data["results"]


def one_by_one(api: ApiClient, plural: str, items: list[Any]) -> list[dict[str, Any]]:
    return [result_of(api.post(f"/{plural}", item)) for item in items]


@pytest.mark.parametrize("plural", ["outcomes", "memories"])
def test_what_names_an_erased_record_stops_no_other(api, cast, plural):
    field, gone, there = {
        "outcomes": ("decision", cast.decisions[3], cast.decisions[0]),
        "memories": ("run", cast.runs[1], cast.runs[0]),
    }[plural]
    more = {"type": "outage"} if plural == "outcomes" else {"summary": "S"}
    items = [{field: one.node_id, **more} for one in (there, gone, there)]
    results = api.post(f"/{plural}/bulk", {"items": items}).data["results"]
    assert [result["status"] for result in results] == [201, 410, 201]
    assert "erased" in results[1]["detail"]


def test_a_twin_that_was_first_is_found_by_the_whole_set(api, agent, project, monkeypatch):
    """Between the look and the insert somebody else writes one of the names."""
    ids = [uuid.uuid4().hex for _ in range(3)]

    def before(module, name, write):
        real, wrote = getattr(module, name), []

        def act(**asked):
            if not wrote:
                wrote.append(write())
            return real(**asked)

        monkeypatch.setattr(module, name, act)

    create_run, begin = run_actions.record_runs, session_actions.start_sessions
    common = {"actor": agent, "project": project}
    before(
        run_actions,
        "record_runs",
        lambda: create_run(**common, rows=[{"id": ids[1], "agent_name": "order-bot"}]),
    )
    before(session_actions, "start_sessions", lambda: begin(**common, rows=[{"session_id": ids[1]}]))
    runs = api.post("/runs/bulk", {"items": [{"id": id} for id in ids]}).data["results"]
    sessions = api.post("/sessions/bulk", {"items": [{"session_id": id} for id in ids]}).data["results"]
    for results in (runs, sessions):
        assert [result["became"] for result in results] == ["created", "unchanged", "created"]
    assert (Run.objects.count(), WorkSession.objects.count()) == (3, 3)


def test_each_item_has_its_own_reason_in_the_history(api):
    items = distinct("memories", "", 3)
    results = api.post("/memories/bulk", {"items": items}).data["results"]
    reasons = dict(Revision.objects.values_list("node_id", "reason"))
    assert [reasons[result["node_id"]] for result in results] == ["Reason 0", "Reason 1", "Reason 2"]
    (made,) = records_by_node_id([results[0]["node_id"]]).values()
    assert made.summary == items[0]["summary"]
