"""Home, the overview, and the frame that every page has."""

import re
from datetime import timedelta

import pytest
from django.core.cache import cache
from django.db import connection
from django.test.utils import CaptureQueriesContext
from django.utils import timezone

from decisions.actions import change_status, contradict, create_decision
from desk.counts import counts_by_kind
from projects.models import Membership, User
from records.leases import Lease
from records.models import ProjectionMark
from records.verbs import archive, review
from runs.actions import record_run
from work_sessions.actions import start_session

pytestmark = [pytest.mark.database, pytest.mark.django_db]
BACKEND = "django.contrib.auth.backends.ModelBackend"


@pytest.fixture(autouse=True)
def _no_counts_of_other_tests():
    cache.clear()


def page(client, address="/p/shop/"):
    response = client.get(address)
    assert response.status_code == 200
    return re.sub(r"\s+", " ", response.content.decode())


def test_home_leads_into_the_only_project(as_curator):
    assert as_curator.get("/").url == "/p/shop/"


def test_home_lists_several_projects_with_what_waits_in_each(
    as_curator, curator_user, other_project, agent, project
):
    Membership.objects.create(user=curator_user, project=other_project, role="viewer")
    create_decision(actor=agent, project=project, title="Use Redis", decision="x")
    text = page(as_curator, "/")
    assert "1 to review" in text
    assert "nothing to review" in text
    assert "/p/bank/" in text


def test_home_tells_who_is_in_no_project_what_to_do(client, db):
    client.force_login(User.objects.create_user("new"), backend=BACKEND)
    assert "You are in no project yet" in page(client, "/")


def test_home_offers_an_operator_the_first_project(client, db):
    client.force_login(User.objects.create_superuser("olga"), backend=BACKEND)
    assert "/projects/new/" in page(client, "/")


def test_an_empty_project_says_what_to_do_next(as_curator):
    text = page(as_curator)
    assert "Nothing is remembered yet" in text
    assert "every memory has been reviewed" in text
    assert "No run has failed" in text


def test_what_waits_links_to_the_list_of_just_that(as_curator, agent, project):
    create_decision(actor=agent, project=project, title="Use Redis", decision="x")
    text = page(as_curator)
    assert "/p/shop/decisions/?review=unreviewed" in text
    assert "Use Redis" in page(as_curator, "/p/shop/decisions/?review=unreviewed")


def test_counts_follow_every_act(agent, curator, project):
    assert (counts_by_kind(project)["decision"].count, counts_by_kind(project)["decision"].waiting) == (0, 0)
    decision = create_decision(actor=agent, project=project, title="Use Redis", decision="x")
    assert (counts_by_kind(project)["decision"].count, counts_by_kind(project)["decision"].waiting) == (1, 1)
    review([decision], "approved", actor=curator)
    assert (counts_by_kind(project)["decision"].count, counts_by_kind(project)["decision"].waiting) == (1, 0)
    archive([decision], actor=curator)
    assert counts_by_kind(project)["decision"].count == 0


def test_counts_cost_one_query_when_nothing_was_written(project):
    counts_by_kind(project)
    with CaptureQueriesContext(connection) as queries:
        counts_by_kind(project)
    assert len(queries) <= 1


def test_a_contradiction_is_open_while_both_hold(as_curator, agent, curator, project):
    one = create_decision(actor=agent, project=project, title="Cache prices", decision="x")
    other = create_decision(actor=curator, project=project, title="Never cache prices", decision="x")
    contradict(actor=agent, decision=one, other=other, reason="They cannot both hold.")
    assert "Open contradictions" in page(as_curator)
    change_status(actor=curator, decisions=[one], status="rejected", reason="Prices are offers.")
    assert "Open contradictions" not in page(as_curator)


def test_failed_runs_say_what_triggered_them(as_curator, agent, project):
    record_run(
        actor=agent,
        project=project,
        agent_name="bot",
        status="failed",
        trigger_type="alert",
        trigger_payload={"alert": "replica lag"},
    )
    record_run(
        actor=agent, project=project, agent_name="bot", status="failed", trigger_payload=[1, {"a": None}]
    )
    assert "replica lag" in page(as_curator)


def test_the_overview_and_its_frame_cost_the_same_with_more_rows(as_curator, agent, project):
    def fill(count):
        for number in range(count):
            one = create_decision(actor=agent, project=project, title=f"D {number}", decision="x")
            other = create_decision(actor=agent, project=project, title=f"E {number}", decision="x")
            contradict(actor=agent, decision=one, other=other)
            record_run(actor=agent, project=project, agent_name="bot", status="failed")
            start_session(actor=agent, project=project, session_id=f"s-{count}-{number}")
        cache.clear()

    fill(2)
    page(as_curator)  # the first look of somebody makes a row
    cache.clear()
    with CaptureQueriesContext(connection) as few:
        page(as_curator)
    fill(9)
    with CaptureQueriesContext(connection) as many:
        page(as_curator)
    assert len(many) == len(few)
    assert len(few) <= 41


def test_the_rail_marks_where_one_is_and_what_waits(as_curator, agent, project):
    create_decision(actor=agent, project=project, title="Use Redis", decision="x")
    text = page(as_curator)
    assert '<a href="/p/shop/" aria-current="page" data-go="o">' in text
    assert 'data-go="d"' in text
    assert "to review" in text


def test_the_frame_says_how_far_the_graph_is_behind(as_curator, agent, project):
    ProjectionMark.objects.update(next_try_at=None)
    assert "graph up to date" in page(as_curator)
    decision = create_decision(actor=agent, project=project, title="Use Redis", decision="x")
    assert "graph behind by 1" in page(as_curator)
    ProjectionMark.objects.filter(node_id=decision.node_id).update(dead=True)
    assert "1 record failed to reach the graph" in page(as_curator)


def test_the_frame_says_why_nothing_becomes_searchable(as_curator, agent, project):
    create_decision(actor=agent, project=project, title="Use Redis", decision="x")
    now = timezone.now()
    assert "not searchable" not in page(as_curator)  # a worker is given a minute
    ProjectionMark.objects.update(next_try_at=now - timedelta(minutes=2))
    assert "no worker runs" in page(as_curator)
    worker = Lease.objects.create(
        name="worker a:1", holder="a:1", until=now + timedelta(minutes=1), state={"problem": ""}
    )
    assert "not searchable" not in page(as_curator)
    Lease.objects.filter(pk=worker.pk).update(state={"problem": "The encoder is missing."})
    assert "not searchable yet: The encoder is missing." in page(as_curator)


def test_the_strip_is_there_for_writers_until_they_hide_it(as_curator, client, viewer_user):
    text = page(as_curator, "/p/shop/")
    assert "Two ways" not in page(as_curator, "/p/shop/decisions/")
    assert "import_adrs PATH --project shop" in text
    assert "http://testserver/api/v1/decisions" in text
    assert as_curator.get("/p/shop/first-run/hide/").status_code == 405
    assert as_curator.post("/p/shop/first-run/hide/").status_code == 303
    assert "Two ways to fill this desk" not in page(as_curator, "/p/shop/")
    client.force_login(viewer_user, backend=BACKEND)
    assert "Two ways to fill this desk" not in page(client, "/p/shop/")


def test_pages_of_another_project_are_absent(as_curator, other_project):
    assert as_curator.get("/p/bank/").status_code == 404
    assert as_curator.get("/p/nowhere/").status_code == 404
    assert "/p/bank/" not in page(as_curator)


def test_healthz_tells_nothing_to_strangers(client, db):
    answer = client.get("/healthz")
    assert answer.json()["status"] == "ok"
    assert set(answer.json()) == {"status", "version"}


def test_error_pages_show_the_requests_id(client, viewer_user):
    client.force_login(viewer_user, backend=BACKEND)
    response = client.get("/p/nowhere/")
    assert response["X-Request-ID"] in response.content.decode()
