"""The answers page: each question of the product, its count, the list that opens, and the API's call, on real records."""

from __future__ import annotations

import re
from datetime import UTC, datetime, timedelta
from html import unescape
from io import StringIO
from pathlib import Path
from urllib.parse import urlencode

import pytest
from django.conf import settings
from django.core.management import call_command
from django.db import connection
from django.test.utils import CaptureQueriesContext
from django.urls import reverse
from django.utils import timezone

from curation.inbox.queues import queue_named
from decisions.actions import create_decision, record_outcome
from decisions.models import Decision
from desk.answers.queries import query_of
from desk.answers.questions import all_questions
from patterns.actions import create_pattern, record_evidence
from pitfalls.actions import create_pitfall
from records.links import link
from records.models import Relation
from records.reads import flush_reads, note_reads
from records.verbs import archive, review
from runs.actions import record_run
from tests.agent_api.conftest import ApiClient
from tests.conftest import make_token
from tests.public_records import public_records
from work_sessions.actions import end_session, start_session

pytestmark = [pytest.mark.database, pytest.mark.django_db]

PLURALS = {"decision": "decisions", "outcome": "outcomes", "pattern": "patterns", "pitfall": "pitfalls", "session": "sessions", "run": "runs"}  # fmt: skip


@pytest.fixture
def page(client, viewer_user, project):
    client.force_login(viewer_user)
    return lambda: unescape(client.get(reverse("answers:page", args=["shop"])).content.decode())


@pytest.fixture
def api(project):
    return ApiClient(make_token(project, ("read",))[1])


def told(text: str) -> dict[str, list[tuple[str, str, str]]]:
    """Key of the question -> (label, address, count) of its links."""
    found = {}
    for key, inside in re.findall(r'<h3 id="question-(\w+)">(.*?)</li>', text, re.DOTALL):
        links = re.findall(r'<a class="chip" href="([^"]+)"><span>(.*?)</span>(?: <span class="count">([^<]*)</span>)?</a>', inside)  # fmt: skip
        found[key] = [(label, address, count) for address, label, count in links]
    return found


def counts(text: str) -> dict[tuple[str, str], str]:
    return {(key, label): count for key, links in told(text).items() for label, _address, count in links}


def test_each_call_stands_in_the_documentation_and_each_documented_question_on_the_page():
    text = (
        (Path(settings.BASE_DIR) / "docs" / "api.md").read_text(encoding="utf-8").partition("## Questions")[2]
    )
    documented = set(re.findall(r"`((?:GET|POST) [^`]+)`", text))
    assert {call for question in all_questions() for call in question.calls} == documented


@pytest.fixture
def memory(agent, curator, project):
    """By hand, so that each answer can be counted by reading."""
    now = timezone.now()
    made = {"actor": agent, "project": project}
    today, yesterday, old = (
        create_decision(**made, title=title, decision="D", decided_at=when)
        for title, when in (
            ("Redis for totals", now), ("No Redis", now - timedelta(days=1)), ("Postgres", now - timedelta(days=400)),
        )
    )  # fmt: skip
    record_outcome(actor=agent, decision=today, type="outage", note="At noon.")
    record_outcome(actor=agent, decision=today, type="success")
    record_outcome(actor=agent, decision=old, type="regression")
    trusted = create_pattern(**made, category="c", name="Trusted", confidence=0.9)
    for _time in range(11):
        record_evidence(actor=agent, pattern=trusted, worked=True)
    create_pattern(**made, category="c", name="Never used", confidence=0.95)
    for category, severity in (
        ("caching", "critical"),
        ("caching", "high"),
        ("caching", "low"),
        ("db", "high"),
    ):
        create_pitfall(**made, category=category, title=f"{category} {severity}", severity=severity)
    start_session(**made, session_id="open")
    end_session(actor=agent, session=start_session(**made, session_id="over"))
    record_run(**made, agent_name="dba", status="failed", escalated_to_human=True)
    record_run(**made, agent_name="dba", status="succeeded")
    link(today, Relation.CONTRADICTS, yesterday, actor=agent)
    review([today], "approved", actor=curator)
    hidden = create_decision(**made, title="Hidden", decision="D", decided_at=now)
    archive([hidden], actor=curator)
    note_reads([today.node_id], actor=agent, door="api.context")
    flush_reads()
    return {"today": today, "yesterday": yesterday, "old": old}


def test_every_count_is_what_one_counts_by_hand(page, memory):
    found = counts(page())
    assert {
        key: count
        for key, count in found.items()
        if key[0] not in ("range", "waiting", "duplicated", "contradictory", "incident")
    } == {
        ("day", "today"): "1",
        ("day", "yesterday"): "1",
        ("lately", "last 30 days"): "2",
        ("outages", "outage"): "1",
        ("outages", "regression"): "1",
        ("outages", "failure"): "0",
        ("outages", "security"): "0",
        ("outages", "reversal"): "0",
        ("about", "all outcomes"): "3",
        ("patterns", "patterns"): "1",
        ("pitfalls", "all categories"): "3",
        ("pitfalls", "caching"): "2",
        ("pitfalls", "db"): "1",
        ("session", "still open"): "1",
        ("stale", str(queue_named("stale").label)): "0",
        ("unused", "patterns never used"): "1",
        ("unused", "decisions never told to an agent"): "2",
    }
    assert found["incident", "failed runs"] == "1"
    assert found["incident", "a person was called"] == "1"
    # All but the approved and the archived decision: 2 decisions, 3 outcomes, 2 patterns, 4 pitfalls, 2 sessions, 2 runs.
    assert found["waiting", str(queue_named("review").label)] == "15"


def agree(page, api, client) -> int:
    """Page, list and API say the same number of the same question; how many were compared."""
    shown, today, compared = told(page()), timezone.localdate(), 0
    for question in all_questions():
        for asks in question.asks(today):
            (address, count), *_more = [
                (a, c) for label, a, c in shown[question.key] if label == str(asks.label)
            ]
            query = query_of(asks)
            answer = api.get(f"/{PLURALS[asks.kind]}?{urlencode({'count': 'true'})}&{query}")
            assert answer.status_code == 200, query
            assert f"{answer.data['count']:,}" == count, (question.key, query)
            listed = client.get(address)
            assert listed.status_code == 200
            rows = listed.content.decode().count('<li class="row k-')
            assert rows == min(50, int(count.replace(",", ""))), (question.key, address)
            compared += 1
    return compared


def test_page_list_and_api_answer_alike(page, api, client, memory):
    assert agree(page, api, client) == 18


def test_each_way_of_the_page_leads_somewhere(page, client, memory):
    text = page()
    for links in told(text).values():
        for _label, address, _count in links:
            assert client.get(address).status_code == 200, address
    forms = re.findall(
        r'<form class="answer-ask" method="get" action="([^"]+)">(.*?)</form>', text, re.DOTALL
    )
    values = {
        "decided": "2026-03-15", "about": "redis", "category": "caching", "node": memory["today"].node_id,
        "id": "open", "text": "cache", "payload": "host=db-2",
    }  # fmt: skip
    assert len(forms) == 8
    for address, inside in forms:
        name = re.search(r'name="(\w+)" type="(?:text|date)"', inside)[1]
        hidden = re.findall(r'type="hidden" name="(\w+)" value="([^"]*)"', inside)
        answer = client.get(f"{address}?{urlencode([(name, values[name]), *hidden])}", follow=True)
        assert answer.status_code == 200, address


def test_statements_do_not_grow_with_the_memory(page, memory, agent, project):
    def statements() -> int:
        create_pitfall(actor=agent, project=project, category="x", title="X")  # what was kept is counted anew
        with CaptureQueriesContext(connection) as context:
            page()
        return len(context)

    page()  # what one page keeps for the next is kept now
    few = statements()
    for number in range(12):
        create_pitfall(actor=agent, project=project, category=f"c{number}", title="X", severity="high")
        create_decision(actor=agent, project=project, title="X", decision="D", tags=[f"t{number}"])
    assert statements() == few
    assert few < 60
    with CaptureQueriesContext(connection) as context:
        page()
    assert len(context) < few - 20  # kept until the history moves


def test_today_is_the_readers(page, client, viewer_user, agent, project, monkeypatch):
    late = datetime(2026, 3, 16, 1, tzinfo=UTC)
    monkeypatch.setattr(timezone, "now", lambda: late + timedelta(minutes=5))
    create_decision(actor=agent, project=project, title="T", decision="D", decided_at=late)
    create_decision(
        actor=agent, project=project, title="E", decision="D", decided_at=late - timedelta(hours=2)
    )
    for zone, today, yesterday in (
        ("UTC", "1", "1"),
        ("America/Sao_Paulo", "2", "0"),
        ("Asia/Kolkata", "2", "0"),
    ):
        type(viewer_user).objects.filter(pk=viewer_user.pk).update(time_zone=zone)
        found = counts(page())
        assert (found["day", "today"], found["day", "yesterday"]) == (today, yesterday), zone


def test_questions_of_real_records_have_the_answers_that_one_counts_in_their_files(
    page, api, client, project, curator
):
    """24 decision records of phodal/adr and 34 post-mortems; counted by hand in the files and their index."""
    for command, path in (("import_adrs", "adrs/phodal+adr"), ("import_postmortems", "postmortems")):
        call_command(
            command, str(public_records() / path), project=project.slug, no_wait=True, stdout=StringIO()
        )
    book = Decision.objects.get(project=project, title="编写完整的单元测试")
    record_outcome(actor=curator, decision=book, type="outage", note="By hand.")
    answers = {
        "/decisions?decided=2017-11-23": 5,
        "/decisions?decided=2017-11-29": 1,
        "/decisions?decided=2017-11-30": 0,
        "/decisions?decided_after=2017-11-22&decided_before=2017-11-30": 22,
        "/decisions?decided_after=2017-12-01&decided_before=2017-12-31": 2,
        '/decisions?q=decided:"last 30 days"': 0,
        "/decisions?status=deprecated": 1,
        "/decisions?outcome=outage": 1,
        "/decisions?outcome=regression": 0,
        "/outcomes?about=%E5%8D%95%E5%85%83%E6%B5%8B%E8%AF%95": 1,
        "/patterns?confidence_above=0.8&usage_min=11": 0,
        "/pitfalls?severity=critical&severity=high": 7,
        "/pitfalls?category=hallucination&severity=critical&severity=high": 2,
        "/pitfalls?category=prompt-injection&severity=critical&severity=high": 3,
        "/pitfalls?category=network&severity=critical&severity=high": 0,
        "/runs?status=failed": 0,
        "/decisions?recalled=false": 24,
        "/decisions?unchanged_for=180": 0,
    }
    for call, number in answers.items():
        path, _mark, query = call.partition("?")
        assert api.get(f"{call.replace(' ', '%20')}&count=true").data["count"] == number, call
        listed = client.get(f"/p/shop{path}/?{query}")
        assert listed.status_code == 200
        assert listed.content.decode().count('<li class="row k-') == number, call
    found = counts(page())
    assert found["outages", "outage"] == "1"
    assert found["about", "all outcomes"] == "1"
    assert found["pitfalls", "all categories"] == "7"
    assert found["pitfalls", "hallucination"] == "2"
    assert found["pitfalls", "prompt-injection"] == "3"
    assert found["unused", "decisions never told to an agent"] == "24"
    # 24 decisions, 34 runs with 34 memories, 34 pitfalls; the outcome is a person's own.
    assert found["waiting", str(queue_named("review").label)] == "126"
    assert agree(page, api, client) == 18
