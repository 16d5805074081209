"""The incident view: from a pasted alert to what was done the last time."""

from __future__ import annotations

import json
import re
from datetime import timedelta
from html import unescape

import pytest
from django.conf import settings as desk_settings
from django.db import connection
from django.test import Client
from django.test.utils import CaptureQueriesContext
from django.urls import reverse
from django.utils import timezone

from decisions.actions import create_decision, record_outcome
from desk.incident import actions as keeping
from desk.incident import similar
from desk.incident.actions import without_secrets
from desk.incident.alerts import title_of, words_of
from desk.incident.models import Alert
from pitfalls.actions import create_pitfall
from projects.models import ProjectPolicy
from recall import fulltext, nearby
from recall.words import keep_words
from records.actor import Actor
from records.guard import writing
from records.links import link
from records.models import Read, Relation
from records.reads import flush_reads
from records.retention import purge
from records.verbs import archive, review
from runs.actions import record_run, remember
from runs.models import Memory, Run
from tests.agent_api.conftest import ApiClient
from tests.conftest import make_token
from work_sessions.actions import start_session

# MySQL's full-text index holds what is committed.
pytestmark = [pytest.mark.mysql, pytest.mark.django_db(transaction=True)]

HOSTILE = "replication <script>alert(1)</script> lag"
ALERT = "db-9: replication lag 340 s, rising"


def indexed(*records) -> None:
    keep_words(list(records))


@pytest.fixture
def page(client, viewer_user, project):
    client.force_login(viewer_user)
    return client


def paste(client, text=ALERT, **fields):
    return client.post(reverse("incident:ask", args=["shop"]), {"text": text, **fields})


def shown(client, text=ALERT, **fields) -> str:
    answer = paste(client, text, **fields)
    assert answer.status_code == 303
    answer = client.get(answer.url)
    assert answer.status_code == 200
    return answer.content.decode()


@pytest.fixture
def world(agent, curator, project):
    """A run with its summary, pitfall, decision and the outage that followed; another agent's run; one put away."""
    session = start_session(actor=agent, project=project, session_id="ses-8841")
    run = record_run(
        actor=agent, project=project, agent_name="dba", trigger_type="alert", status="failed", token_cost=5120,
        trigger_payload={"alert": HOSTILE, "host": "db-2"}, escalated_to_human=True,
        outcome={"finding": "a long query held the relay log"},
        tool_calls=[
            {"name": "mysql.processlist", "duration_ms": 812, "input": {"host": "db-2"}, "result": "query 77"},
            {"name": "throttle", "error": "timeout"},
        ],
    )  # fmt: skip
    memory = remember(
        actor=agent, project=project, agent_name="dba", summary="Replication lag after a report.", run=run
    )
    other = record_run(
        actor=agent, project=project, agent_name="web", trigger_type="alert", status="succeeded",
        trigger_payload={"alert": "replication lag of the page cache"},
    )  # fmt: skip
    gone = record_run(
        actor=agent, project=project, agent_name="dba", trigger_type="alert", trigger_payload={"alert": "replication lag, gone"}
    )  # fmt: skip
    pitfall = create_pitfall(
        actor=agent, project=project, category="database", title="Reports on the primary", severity="high",
        how_to_avoid="Run them on a replica.",
    )  # fmt: skip
    decision = create_decision(
        actor=agent, project=project, title="One primary", decision="Everything reads there."
    )
    record_outcome(actor=agent, decision=decision, type="outage", note="An hour.")
    link(run, Relation.RELATES_TO, pitfall, actor=agent)
    link(pitfall, Relation.RELATES_TO, decision, actor=agent)
    review([pitfall], "approved", actor=curator)
    indexed(run, memory, other, gone, pitfall, decision)
    archive([gone], actor=curator)
    return {"run": run, "memory": memory, "other": other, "gone": gone, "pitfall": pitfall, "decision": decision, "session": session}  # fmt: skip


def test_one_screen_tells_what_was_done_how_it_ended_and_who_knows(page, world):
    text = shown(page)
    run = world["run"]
    assert f"/runs/{run.pk}/" in text
    assert (
        text.count('<li class="incident') == 2
    )  # its summary is no incident of its own, the archived one is none
    for said in (
        "failed", "a person was called", "5,120", "mysql.processlist", "812 ms", "throttle", "query 77",
        "a long query held the relay log", "Replication lag after a report.", "Reports on the primary",
        "Run them on a replica.", "One primary", "led to outage", "cleo", "ses-8841", "tied to these runs",
    ):  # fmt: skip
        assert said in text, said
    assert "<script>alert" not in text
    assert world["gone"].pk not in text


def test_of_one_agent_alone(page, world):
    text = shown(page, agent="web")
    assert world["other"].pk in text
    assert world["run"].pk not in text
    assert "No run like this one" in shown(page, agent="nobody")


def test_the_api_answers_with_the_same_runs_in_the_same_order(page, world, project, monkeypatch):
    # Both are given one answer of the index: what MySQL says of it moves while it merges new words in the background.
    said, ask = {}, fulltext.matching

    def once(*question):
        if repr(question) not in said:
            said[repr(question)] = ask(*question)
        return said[repr(question)]

    monkeypatch.setattr(fulltext, "matching", once)
    api = ApiClient(make_token(project, ("read",))[1])
    text = shown(page)
    runs = re.findall(r"<h3>.*?/runs/([0-9a-f]{32})/", text)
    answered = api.post("/incidents", {"text": ALERT}).data["results"]
    assert [one["run"]["node_id"].removeprefix("run_") for one in answered] == runs


def test_how_like_an_incident_is_does_not_hang_on_what_else_is_looked_for():
    """A run of which a part is told by words, beside a pitfall that is far more like the alert, or without it."""

    def incident_scores(*others):
        near = nearby.Nearby(1)
        near.by_kind = {
            "run": [
                nearby.Near("run_1", 0.5, ("words",), None),
                nearby.Near("run_2", 0.25, ("words",), None),
            ],
            "memory": [],
            **dict(others),
        }
        return [one.score for one in similar._of_incidents(near)]

    assert incident_scores() == [1.0, 0.5]
    assert incident_scores(("pitfall", [nearby.Near("pit_1", 1.0, ("words",), None)])) == [1.0, 0.5]


def test_what_no_person_approved_is_kept_from_agents_where_the_policy_says_so(world, project, curator):
    api = ApiClient(make_token(project, ("read",))[1])
    ProjectPolicy.objects.update_or_create(project=project, defaults={"reviewed_only_recall": True})
    assert api.post("/incidents", {"text": ALERT}).data["results"] == []
    review([world["run"]], "approved", actor=curator)
    (only,) = api.post("/incidents", {"text": ALERT}).data["results"]
    assert (only["run"]["node_id"], only["memory"]) == (world["run"].node_id, None)


def test_to_look_leaves_no_read_and_no_history(page, world):
    shown(page)
    assert flush_reads() == 0
    assert not Read.objects.exists()


def test_the_address_is_the_same_for_the_same_alert_and_opens_for_others_of_the_project_only(
    page, world, curator_user, stranger_user
):
    address = paste(page).url
    assert paste(page, ALERT).url == address
    assert paste(page, ALERT, agent="dba").url != address
    second = Client()
    second.force_login(curator_user)
    assert second.post(reverse("incident:ask", args=["shop"]), {"text": ALERT}).url == address
    assert world["run"].pk in second.get(address).content.decode()
    stranger = Client()
    stranger.force_login(stranger_user)
    assert stranger.get(address).status_code == 404
    assert stranger.get(address.replace("/shop/", "/bank/")).status_code == 404
    assert stranger.post(reverse("incident:ask", args=["shop"]), {"text": ALERT}).status_code == 404
    assert Client().get(address).status_code == 302


@pytest.mark.parametrize(
    ("text", "kept", "kinds"),
    [
        ("DB_PASSWORD=v7Kq2-Zx81mW-pT4s failed", "v7Kq2", ["password"]),
        ('{"env": [{"name": "DB_PASSWORD", "value": "xK9-qq81-Zr4t-W"}]}', "xK9", ["password"]),
        ("mysql://root:s3cr3t-Pa55w0rd@db-2/shop is away", "s3cr3t", None),
    ],
)
def test_secrets_are_taken_out_before_it_is_kept(page, project, text, kept, kinds):
    answer = shown(page, text)
    alert = Alert.objects.get()
    assert kept not in alert.text
    assert kept not in unescape(answer)
    assert "Secrets were taken out" in answer
    assert alert.secrets
    assert kinds is None or alert.secrets == kinds


def test_an_alert_without_a_secret_is_kept_as_it_was_written(page, project):
    text = '  {"a": 1, "a": 2,\n "labels": {"host": "db-2"}}\n'
    paste(page, text.replace("\n", "\r\n"))
    assert Alert.objects.get().text == text


def test_json_is_looked_for_by_its_leaves(page, world):
    text = json.dumps(
        {"status": "firing", "labels": {"alertname": "ReplicationLag", "summary": "replication lag"}}
    )
    assert words_of(text).splitlines()[1] == "labels.alertname: ReplicationLag"
    answer = shown(page, text)
    assert world["run"].pk in answer
    assert '<h1 data-focus-after tabindex="-1">labels.alertname: ReplicationLag</h1>' in answer


@pytest.mark.parametrize(
    "text",
    [
        "[" * 5_000, "{" * 200 + "}" * 200, '{"a": NaN, "b": 1e999}', "[]", "{}", '"', "\ufeff{}", "null",
        "'; DROP TABLE agent_runs; --", "+-*()~<>@\"", "NEAR(a b)", "AND OR NOT", "%s %d {0}", "日本語の警報 レプリケーション",
        "\u202eevil\u200b", "a" * 200_000, "x " * 100_000, "<b>" * 30_000, "🔥" * 3_000, "word\x0b\x1f",
    ],
)  # fmt: skip
def test_no_alert_is_an_error_of_the_server(page, world, text):
    answer = paste(page, text)
    assert answer.status_code == 303
    assert page.get(answer.url).status_code == 200
    addressed = page.get(reverse("incident:ask", args=["shop"]), {"text": text})
    assert addressed.status_code == (200 if len(text) <= 2_000 else 422)


@pytest.mark.parametrize(
    ("fields", "said"),
    [
        ({"text": ""}, "This field is required"),
        ({"text": " \n\t "}, "This field is required"),
        ({"text": "a\x00b"}, "Null characters are not allowed"),
        ({"text": "x" * (desk_settings.TEXT_MAX_BYTES + 1)}, "nothing is cut silently"),
        ({"text": "x", "agent": "a" * 256}, "at most 255 characters"),
    ],
)
def test_what_cannot_be_kept_is_said_beside_its_field(page, project, fields, said):
    answer = page.post(reverse("incident:ask", args=["shop"]), fields)
    assert answer.status_code == 422
    assert said in answer.content.decode()
    assert not Alert.objects.exists()


def test_a_whole_megabyte_is_kept_and_answered(page, world):
    text = (ALERT + "\n").ljust(desk_settings.TEXT_MAX_BYTES, "x")
    answer = shown(page, text)
    assert world["run"].pk in answer
    assert "the first 4,000 characters were searched for" in answer


def test_in_an_address_it_is_answered_and_not_kept(page, world):
    answer = page.get(reverse("incident:ask", args=["shop"]), {"text": ALERT})
    assert world["run"].pk in answer.content.decode()
    assert not Alert.objects.exists()
    wrong = page.get(reverse("incident:ask", args=["shop"]), {"text": ALERT, "colour": "red"})
    assert wrong.status_code == 422
    assert "There is no parameter “colour”" in wrong.content.decode()


def test_the_markdown_has_links_from_anywhere_and_calls_nobody(page, world, agent, project):
    hostile = record_run(
        actor=agent, project=project, agent_name="dba", trigger_type="alert",
        trigger_payload={"alert": "replication lag @channel [click](https://evil.example) `x`"},
    )  # fmt: skip
    indexed(hostile)
    text = unescape(
        re.search(r"recall-markdown.*?<code data-copy-text>(.*?)</code>", shown(page), re.DOTALL)[1]
    )
    assert f"](http://testserver/p/shop/runs/{world['run'].pk}/)" in text
    assert "http://testserver/p/shop/incident/" in text
    assert "led to outage" in text
    assert "@channel" not in text
    assert "[click](" not in text
    assert "cleo" in text


def test_what_was_learnt_is_begun_with_the_alert_and_its_address(world, client, curator_user):
    client.force_login(curator_user)
    address = paste(client).url
    text = unescape(client.get(address).content.decode())
    found = dict(re.findall(r'href="(/p/shop/[a-z]+/(?:new|\d+/outcome)/)\?(?:\w+)=([^"]+)"', text))
    assert set(found) == {
        reverse("pitfalls:create", args=["shop"]), reverse("decisions:create", args=["shop"]),
        reverse("decisions:record_outcome", args=["shop", world["decision"].pk]),
    }  # fmt: skip
    for href in re.findall(r'href="(/p/shop/[a-z]+/(?:new|\d+/outcome)/\?[^"]+)"', text):
        form = unescape(client.get(href).content.decode())
        assert f"http://testserver{address}" in form
        assert ALERT in form


def test_a_viewer_is_offered_no_form_of_what_was_learnt(page, world):
    assert "Record what we learnt" not in shown(page)


def test_an_alert_goes_after_its_time_and_its_address_says_so(page, project, settings):
    address = paste(page).url
    Alert.objects.update(asked_at=timezone.now() - timedelta(days=31))
    assert purge(5)[0]["alerts"] == 1
    answer = page.get(address)
    assert answer.status_code == 404
    assert "no longer kept" in answer.content.decode()


def test_pasted_again_it_is_kept_from_then_on(page, project):
    paste(page)
    Alert.objects.update(asked_at=timezone.now() - timedelta(days=29))
    paste(page)
    assert Alert.objects.get().asked_at > timezone.now() - timedelta(minutes=1)


def test_of_one_project_the_newest_are_kept(page, project, monkeypatch):
    monkeypatch.setattr(keeping, "MOST_KEPT", 3)
    for number in range(5):
        paste(page, f"alert {number}")
    assert set(Alert.objects.values_list("text", flat=True)) == {"alert 2", "alert 3", "alert 4"}


def test_the_statements_do_not_grow_with_what_is_found(page, world, agent, project):
    address = paste(page).url

    def statements() -> int:
        page.get(address)
        with CaptureQueriesContext(connection) as context:
            assert page.get(address).status_code == 200
        return len(context)

    few = statements()
    for number in range(6):
        run = record_run(
            actor=agent, project=project, agent_name="dba", trigger_type="alert", tool_calls=[{"name": "x"}],
            trigger_payload={"alert": f"replication lag {number}"},
        )  # fmt: skip
        summary = remember(
            actor=agent, project=project, agent_name="dba", summary=f"Replication lag {number}", run=run
        )
        pitfall = create_pitfall(
            actor=agent, project=project, category="db", title=f"Replication lag {number}"
        )
        decision = create_decision(
            actor=agent, project=project, title=f"Replication lag {number}", decision="D"
        )
        outcome = record_outcome(actor=agent, decision=decision, type="outage", note="Replication lag")
        link(run, Relation.RELATES_TO, pitfall, actor=agent)
        indexed(run, summary, pitfall, decision, outcome)
    many = statements()
    assert many <= few + 2  # outcomes were not looked at before
    assert many <= 40


def test_another_projects_run_behind_a_memory_stays_there(page, world, project, other_project):
    """Plain SQL may name any run as a memory's."""
    command = Actor.command("test")
    theirs = record_run(
        actor=command, project=other_project, agent_name="theirs", trigger_payload={"alert": "their secret"}
    )
    ours = remember(actor=command, project=project, agent_name="dba", summary="replication lag again")
    with writing():
        Memory.objects.filter(pk=ours.pk).update(source_run_fk=Run.objects.get(pk=theirs.pk))
    indexed(ours)
    text = shown(page)
    assert "their secret" not in text
    assert theirs.pk not in text
    assert "replication lag again" in text


def test_titles_are_one_line():
    assert title_of("\n\n  a   b \n c") == "a b"
    assert len(title_of("x" * 500)) == 120
    assert title_of(" \n ") == ""
    assert without_secrets("nothing here") == ("nothing here", [])
