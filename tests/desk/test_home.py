"""What the overview counts: since when, each number as many as its list has, the same cost with more rows."""

import re
from datetime import timedelta
from html import unescape

import pytest
from django.core.cache import cache
from django.db import connection
from django.test.utils import CaptureQueriesContext
from django.utils import timezone

from decisions.actions import contradict, create_decision
from desk.home.models import Visit
from desk.home.queries import confidence_movers
from patterns.actions import adjust_confidence, create_pattern, record_evidence
from patterns.models import Evidence
from projects.models import Membership
from records.guard import writing
from records.models import ProjectionMark, Revision
from records.verbs import archive, review
from runs.actions import record_run

pytestmark = [pytest.mark.database, pytest.mark.django_db]
BACKEND = "django.contrib.auth.backends.ModelBackend"
PAUSE = timedelta(minutes=31)


@pytest.fixture(autouse=True)
def _no_counts_of_other_tests():
    cache.clear()


def home(client, **headers):
    cache.clear()
    response = client.get("/p/shop/", headers=headers)
    assert response.status_code == 200
    return response


def since(client, **headers):
    return home(client, **headers).context["since"]


def said(row):
    return {item.label: item.number for item in row.rows}


def later(**pause):
    """As if the last look had been so long ago."""
    ago = timedelta(**pause)
    for visit in Visit.objects.all():
        Visit.objects.filter(pk=visit.pk).update(seen_at=visit.seen_at - ago, since_at=visit.since_at - ago)


def older(model, when, **of):
    with writing():
        model.objects.filter(**of).update(created_at=when)


def test_a_first_look_shows_the_last_week(as_curator, agent, project):
    create_decision(actor=agent, project=project, title="Long ago", decision="x")
    older(Revision, timezone.now() - timedelta(days=8), project=project)
    create_decision(actor=agent, project=project, title="New", decision="x")
    shown = since(as_curator)
    assert shown.is_first
    assert said(shown) == {"new decision": "1"}
    assert "New to you" in home(as_curator).content.decode() or not since(as_curator).is_first


def test_what_came_since_the_visit_before_and_not_since_the_reload(as_curator, agent, project):
    create_decision(actor=agent, project=project, title="Seen", decision="x")
    since(as_curator)
    later(hours=2)
    create_decision(actor=agent, project=project, title="Unseen", decision="x")
    first = since(as_curator)
    assert said(first) == {"new decision": "1"}
    assert timedelta(hours=1, minutes=59) < timezone.now() - first.at < timedelta(hours=2, minutes=1)
    create_decision(actor=agent, project=project, title="While one looks", decision="x")
    later(minutes=10)
    assert said(since(as_curator)) == {"new decisions": "2"}, "the same visit"
    later(minutes=31)
    assert since(as_curator).rows == [], "a new one"


def test_a_fragment_a_prefetch_or_a_head_moves_nothing(as_curator, agent, project):
    since(as_curator)
    later(hours=2)
    before = Visit.objects.values().get()
    create_decision(actor=agent, project=project, title="Unseen", decision="x")
    for headers in ({"HX-Request": "true"}, {"Sec-Purpose": "prefetch;prerender"}, {"Purpose": "prefetch"}):
        assert said(since(as_curator, **headers)) == {"new decision": "1"}
        assert Visit.objects.values().get() == before
    as_curator.head("/p/shop/")
    as_curator.get("/p/shop/fresh/", {"since": "0"})
    as_curator.get("/p/shop/decisions/")
    assert Visit.objects.values().get() == before
    assert said(since(as_curator)) == {"new decision": "1"}


def test_each_person_and_each_project_has_a_visit_of_its_own(
    as_curator, client, viewer_user, curator_user, other_project, agent, project
):
    since(as_curator)
    later(hours=2)
    Membership.objects.create(user=curator_user, project=other_project, role="viewer")
    assert as_curator.get("/p/bank/").context["since"].is_first
    client.force_login(viewer_user, backend=BACKEND)
    assert since(client).is_first
    assert Visit.objects.count() == 3


@pytest.fixture
def filled(agent, curator, project):
    decisions = [
        create_decision(actor=agent, project=project, title=f"D {number}", decision="x")
        for number in range(4)
    ]
    review(decisions[:2], "approved", actor=curator)
    contradict(actor=agent, decision=decisions[2], other=decisions[3])
    pattern = create_pattern(actor=agent, project=project, category="c", name="Cache-aside", confidence=0.5)
    for worked in (True, True, True, False):
        record_evidence(actor=agent, pattern=pattern, worked=worked)
    for number in range(3):
        record_run(
            actor=agent,
            project=project,
            agent_name="order bot&co",
            status="failed" if number else "succeeded",
        )
    record_run(actor=agent, project=project, agent_name="calm-bot", status="succeeded")
    return decisions, pattern


CHIP = re.compile(
    r'<a class="(?:chip|link)[^"]*" href="([^"]+)">(?:<span[^>]*></span>)?(?:<b>)?([\d,]+)\+?(?:</b>)? ([^<]*)<'
)


def test_each_number_is_as_many_as_its_list_has(as_curator, filled):
    text = re.sub(r"\s+", " ", home(as_curator).content.decode())
    links = [(unescape(url), number, label) for url, number, label in CHIP.findall(text)]
    labels = {label for _url, _number, label in links}
    assert {
        "changes",
        "new decisions",
        "approved",
        "To review",
        "Stale",
        "Conflicts",
        "Duplicates",
        "failed",
        "runs",
        "steps",
    } <= labels
    wrong = {}
    for url, number, label in links:
        answer = as_curator.get(url)
        count = answer.context["listing"].count if "/inbox/" in url else answer.context["count"]
        if (answer.status_code, f"{count:,}") != (200, number):
            wrong[label, url] = (number, answer.status_code, count)
    assert wrong == {}


def test_agents_fail_by_name_in_these_days_alone(as_curator, agent, project):
    now = timezone.now()
    for number, days in ((1, 0), (2, 6), (3, 7)):
        when = timezone.localtime(now).replace(hour=0, minute=0, second=0, microsecond=0) - timedelta(
            days=days
        )
        for _time in range(number):
            record_run(actor=agent, project=project, agent_name="bot", status="failed", started_at=when)
    hidden = record_run(actor=agent, project=project, agent_name="bot", status="failed")
    archive([hidden], actor=agent)
    record_run(actor=agent, project=project, agent_name="bot")
    (row,) = home(as_curator).context["failing"]
    assert (row.agent, row.failed.number, row.runs.number) == ("bot", "3", "4")


def test_confidence_moves_from_where_it_stood_a_week_ago(agent, curator, project):
    today = timezone.localdate()
    week_ago, first = timezone.now() - timedelta(days=9), today - timedelta(days=6)
    rose, fell, same, old, young = (
        create_pattern(actor=agent, project=project, category="c", name=name, confidence=0.5)
        for name in ("Rose", "Fell", "Same", "Old", "Young")
    )
    adjust_confidence(actor=curator, pattern=rose, confidence=0.6, reason="seen")
    adjust_confidence(actor=curator, pattern=old, confidence=0.9, reason="seen")
    for pattern in (rose, fell, same, old):
        older(Evidence, week_ago, pattern=pattern)
        older(Revision, week_ago, node_id=pattern.node_id)
    adjust_confidence(actor=curator, pattern=rose, confidence=0.85, reason="seen")
    adjust_confidence(actor=curator, pattern=fell, confidence=0.1, reason="seen")
    adjust_confidence(actor=curator, pattern=same, confidence=0.9, reason="seen")
    adjust_confidence(actor=curator, pattern=same, confidence=0.5, reason="no")
    record_evidence(actor=agent, pattern=young, worked=True)
    found = {
        one.pattern.name: (round(one.before, 2), round(one.now, 2), one.is_new, one.steps)
        for one in confidence_movers(project, first).movers
    }
    assert found == {
        "Fell": (0.5, 0.1, False, 1),
        "Rose": (0.6, 0.85, False, 1),
        "Young": (0.5, 0.6, True, 1),
    }
    assert next(iter(found)) == "Fell", "whose confidence moved furthest"
    cache.clear()
    archive([fell], actor=curator)
    assert "Fell" not in {one.pattern.name for one in confidence_movers(project, first).movers}


def test_only_who_sees_the_health_page_is_told_numbers_of_the_graph(client, admin_user, viewer_user, filled):
    decisions, _pattern = filled
    ProjectionMark.objects.update(next_try_at=None)
    client.force_login(admin_user, backend=BACKEND)
    assert "It shows everything that was written" in home(client).content.decode()
    ProjectionMark.objects.filter(node_id=decisions[0].node_id).update(dead=True)
    rows = home(client).context["graph_rows"]
    assert [(row.number, row.url) for row in rows] == [("1", "/health/#given-up")]
    client.force_login(viewer_user, backend=BACKEND)
    answer = home(client)
    assert answer.context["graph_rows"] == []
    assert "are not in it" in answer.content.decode()


def test_the_overview_costs_the_same_with_more_of_everything(as_curator, agent, curator, project, filled):
    def cost():
        cache.clear()
        with CaptureQueriesContext(connection) as asked:
            as_curator.get("/p/shop/")
        return len(asked)

    def more(numbers):
        for number in numbers:
            pattern = create_pattern(actor=agent, project=project, category="c", name=f"P {number}")
            record_evidence(actor=agent, pattern=pattern, worked=True)
            record_run(actor=agent, project=project, agent_name=f"bot {number}", status="failed")
            create_decision(actor=curator, project=project, title=f"E {number}", decision="x")

    home(as_curator)
    more(range(2))
    few = cost()
    more(range(2, 8))
    assert cost() == few
    assert few < 52
