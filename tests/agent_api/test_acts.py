"""A write names its act; a token that may review takes it back; a merged record names its survivor."""

import pytest
from django.db import connection
from django.test.utils import CaptureQueriesContext

from decisions.models import Decision
from patterns.actions import create_pattern
from records.guard import writing
from records.merging import merge
from records.models import Revision
from tests.agent_api.conftest import ApiClient
from tests.conftest import make_token

pytestmark = pytest.mark.django_db


@pytest.fixture
def reviewer(project):
    return ApiClient(make_token(project, ("read", "write", "review"))[1])


def test_a_write_names_its_act_and_is_undone(reviewer, project):
    made = reviewer.post("/decisions", {"title": "T", "decision": "D"})
    act = made.headers["X-Act-Id"]
    node_id = made.data["node_id"]
    undone = reviewer.post(f"/acts/{act}/undo", {"reason": "no"})
    assert (undone.status_code, undone.data["updated"], undone.data["refused"]) == (200, [node_id], [])
    assert Decision.objects.get().archived_at is not None
    assert undone.headers["X-Act-Id"] == undone.data["act"]
    assert reviewer.post(f"/acts/{act}/undo", {}).data["unchanged"] == [node_id]
    reviewer.post(f"/acts/{undone.data['act']}/undo", {})
    assert Decision.objects.get().archived_at is None


def test_a_question_names_no_act(reviewer, project):
    assert "X-Act-Id" not in reviewer.get("/decisions").headers


def test_a_repeated_call_names_the_act_of_the_first(reviewer, project):
    first, second = (
        reviewer.post("/decisions", {"title": "T", "decision": "D"}, Idempotency_Key="k-1") for _ in range(2)
    )
    assert first.headers["X-Act-Id"] == second.headers["X-Act-Id"]


def test_a_bulk_is_one_act(reviewer, project):
    made = reviewer.post("/decisions/bulk", {"items": [{"title": t, "decision": t} for t in "AB"]})
    undone = reviewer.post(f"/acts/{made.headers['X-Act-Id']}/undo", {})
    assert len(undone.data["updated"]) == 2


@pytest.mark.parametrize("act", ["0" * 32, "x", "%00"])
def test_an_act_that_never_was_is_absent(reviewer, act):
    assert reviewer.post(f"/acts/{act}/undo", {}).status_code == 404


def test_a_strangers_act_is_absent(reviewer, project, other_project):
    made = reviewer.post("/decisions", {"title": "T", "decision": "D"})
    stranger = ApiClient(make_token(other_project, ("read", "write", "review"))[1])
    assert stranger.post(f"/acts/{made.headers['X-Act-Id']}/undo", {}).status_code == 404


def test_an_act_that_an_imported_history_repeats_is_taken_back_in_the_named_project(project, other_project):
    token, text = make_token(project, ("read", "write", "review"))
    token.projects.add(other_project)
    both = ApiClient(text)
    made = [
        both.post("/decisions", {"project": one.slug, "title": "T", "decision": "D"})
        for one in (project, other_project)
    ]
    act, copied = (answer.headers["X-Act-Id"] for answer in made)
    with writing():
        Revision.objects.filter(act=copied).update(act=act)
    asked = both.post(f"/acts/{act}/undo", {})
    assert (asked.status_code, list(asked.data["errors"])) == (422, ["project"])
    assert not Decision.objects.exclude(archived_at=None).exists()
    assert both.post(f"/acts/{act}/undo", {"project": "nowhere"}).status_code == 422
    undone = both.post(f"/acts/{act}/undo", {"project": project.slug})
    assert undone.data["updated"] == [made[0].data["node_id"]]
    assert Decision.objects.get(archived_at=None).project == other_project


def test_a_list_of_merged_records_asks_for_their_survivors_at_once(reviewer, project, agent, curator):
    made = [create_pattern(actor=agent, project=project, category="c", name=f"P{n}") for n in range(9)]
    asked = []
    for some in (made[:2], made[2:]):
        merge(some[0], some[1:], actor=curator)
        with CaptureQueriesContext(connection) as queries:
            rows = reviewer.get("/patterns?show=hidden").data["results"]
        asked.append(len(queries))
    assert len(rows) == 7
    assert all(row["survivor"] for row in rows)
    assert asked[1] <= asked[0]


def test_a_merged_record_names_its_survivor(reviewer, project, agent, curator):
    one, two, three = (
        create_pattern(actor=agent, project=project, category="c", name=name) for name in "ABC"
    )
    merge(two, [three], actor=curator)
    merge(one, [two], actor=curator)
    answer = reviewer.get(f"/patterns/{three.node_id}").data
    assert (answer["merged_into"], answer["active"]) == (two.node_id, False)
    assert answer["survivor"].endswith(f"/api/v1/patterns/{one.node_id}")
    assert reviewer.get(f"/patterns/{one.node_id}").data["survivor"] is None
    voted = reviewer.post(f"/patterns/{three.node_id}/worked", {})
    assert (voted.status_code, voted.data["node_id"]) == (200, one.node_id)
    change = reviewer.send("PATCH", f"/patterns/{three.node_id}", {"name": "X", "version": three.version + 1})
    assert change.status_code in (409, 422)
    assert one.node_id not in (change.data.get("name"),)
    assert two.node_id in change.data["detail"]
