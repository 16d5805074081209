"""Each question of docs/api.md, asked as it stands there."""

import re
from datetime import timedelta
from pathlib import Path

import pytest
from django.conf import settings
from django.utils import timezone

from decisions.actions import create_decision, record_outcome
from patterns.actions import create_pattern, record_evidence
from pitfalls.actions import create_pitfall
from recall.models import SearchText, Similarity
from recall.tokenise import search_text
from records.kinds import kind_of
from records.links import link
from runs.actions import record_run, remember

pytestmark = [pytest.mark.database, pytest.mark.django_db]


def names(answer) -> list[str]:
    assert answer.status_code == 200, answer.data
    return [one["node_id"] for one in answer.data["results"]]


def test_what_did_we_decide_on_a_day_in_a_range_in_the_last_30_days(api, agent, project):
    def decided(day):
        return api.post("/decisions", {"title": f"On {day}", "decision": "D", "decided_at": day}).data[
            "node_id"
        ]

    march, april = decided("2026-03-15"), decided("2026-04-02")
    lately = decided((timezone.now() - timedelta(days=3)).date().isoformat())
    assert names(api.get("/decisions?decided=2026-03-15")) == [march]
    assert names(api.get("/decisions?decided_after=2026-03-01&decided_before=2026-04-30")) == [april, march]
    assert names(api.get("/decisions?q=decided:%22last+30+days%22")) == [lately]
    assert names(api.get("/decisions?q=decided:March+15th+2026")) == [march]
    assert api.get("/decisions?q=decided:someday").data["errors"].keys() == {"q"}


def test_which_decisions_led_to_outages_and_what_followed_those_about_redis(
    api, decision, outcome, agent, project
):
    other = create_decision(actor=agent, project=project, title="Serve by Nginx", decision="N")
    record_outcome(actor=agent, decision=other, type="success")
    assert names(api.get("/decisions?outcome=outage")) == [decision.node_id]
    assert names(api.get("/outcomes?about=redis")) == [outcome.node_id]
    assert names(api.get("/outcomes?about=nginx&type=outage")) == []


def test_patterns_above_thresholds_and_pitfalls_before_i_implement(api, agent, project):
    trusted = create_pattern(actor=agent, project=project, category="c", name="Trusted", confidence=0.9)
    for _ in range(11):
        record_evidence(actor=agent, pattern=trusted, worked=True)
    create_pattern(actor=agent, project=project, category="c", name="New", confidence=0.95)
    assert names(api.get("/patterns?confidence_above=0.8&usage_min=11")) == [trusted.node_id]
    assert len(names(api.get("/patterns?usage_max=0"))) == 1
    wanted = [
        create_pitfall(
            actor=agent, project=project, category="caching", title=severity, severity=severity
        ).node_id
        for severity in ("critical", "high", "low")
    ]
    create_pitfall(actor=agent, project=project, category="db", title="other", severity="critical")
    found = names(api.get("/pitfalls?category=caching&severity=critical&severity=high"))
    assert sorted(found) == sorted(wanted[:2])


def test_what_is_like_it_contradicts_it_and_repeats_it(api, decision, agent, project):
    like, unlike, against = (
        create_decision(actor=agent, project=project, title=title, decision="D") for title in "ABC"
    )
    for other, score in ((like, 0.9), (unlike, 0.6)):
        Similarity.objects.create(
            source=decision.node_id, target=other.node_id, project_id=project.pk, score=score
        )
    found = api.get(f"/records/{decision.node_id}/similar?kind=decision&score=0.8")
    assert names(found) == [like.node_id]
    link(decision, "CONTRADICTS", against, actor=agent)
    contrary = api.get(f"/links?node={decision.node_id}&relation=CONTRADICTS").data["results"]
    assert {contrary[0]["source"], contrary[0]["target"]} == {decision.node_id, against.node_id}
    assert api.get("/links?relation=DUPLICATE_OF").status_code == 200


def test_what_waits_is_stale_or_was_never_told(api, reviewer, decision, pattern, monkeypatch):
    reviewer.post(f"/decisions/{decision.node_id}/review", {"state": "approved"})
    assert names(api.get("/search?q=is:unreviewed")) == [pattern.node_id]
    assert api.get("/projects/shop").data["counts"]["pattern"]["waiting"] == 1
    assert names(api.get("/decisions?recalled=true")) == []
    assert names(api.get("/decisions?unchanged_for=180")) == []
    later = timezone.now() + timedelta(days=200)
    monkeypatch.setattr(timezone, "now", lambda: later)
    assert names(api.get("/decisions?unchanged_for=180")) == [decision.node_id]


def indexed(record) -> None:
    """As the worker would."""
    kind = kind_of(record)
    SearchText.objects.create(
        node_id=record.node_id, kind=kind.name, project_id=record.project_id, content_hash="x",
        words=search_text(f"{record.heading}\n{kind.body_of(record)}"),
    )  # fmt: skip


@pytest.mark.django_db(transaction=True)  # InnoDB's index of words holds what is committed
class TestIncidents:
    @pytest.fixture
    def run(self, agent, project):
        run = record_run(
            actor=agent, project=project, agent_name="dba", trigger_type="alert",
            trigger_payload={"alert": "replication lag", "host": "db-2"}, tool_calls=[{"name": "throttle"}],
            status="succeeded", token_cost=5120, escalated_to_human=True,
        )  # fmt: skip
        indexed(run)
        indexed(remember(actor=agent, project=project, agent_name="dba", summary="Replication lag.", run=run))
        return run

    def test_a_run_is_told_once_with_what_it_did_and_cost(self, api, run):
        answer = api.post("/incidents", {"text": "status: failed, replication lag on db-9"})
        (incident,) = answer.data["results"]
        assert incident["run"]["node_id"] == run.node_id
        assert (incident["run"]["token_cost"], incident["run"]["escalated_to_human"]) == (5120, True)
        assert incident["run"]["tool_calls"] == [{"name": "throttle"}]
        assert "words" in incident["why"]

    def test_of_one_agent_of_one_project_and_within_bounds(self, api, elsewhere, run):
        assert api.post("/incidents", {"text": "replication lag", "agent": "web"}).data["results"] == []
        assert len(api.post("/incidents", {"text": "replication lag", "agent": "dba"}).data["results"]) == 1
        assert elsewhere.post("/incidents", {"text": "replication lag"}).data["results"] == []
        assert elsewhere.post("/incidents", {"text": "replication lag", "project": "shop"}).status_code == 422
        for wrong in (
            {},
            {"text": " "},
            {"text": "x", "k": 0},
            {"text": "x", "k": 51},
            {"text": "x", "K": 1},
        ):
            assert api.post("/incidents", wrong).status_code == 422, wrong

    def test_a_memory_without_a_run_is_told_too(self, api, agent, project):
        memory = remember(actor=agent, project=project, agent_name="dba", summary="Disk full on db-1.")
        indexed(memory)
        (incident,) = api.post("/incidents", {"text": "disk full"}).data["results"]
        assert (incident["run"], incident["memory"]["node_id"]) == (None, memory.node_id)


def test_the_table_of_questions_names_calls_that_exist(api, decision):
    text = (Path(settings.BASE_DIR) / "docs" / "api.md").read_text()
    calls = re.findall(r"`GET (/[^` ]*)`", text.partition("## Questions")[2])
    assert len(calls) > 12
    for call in calls:
        path = call.replace("{node_id}", decision.node_id).replace("{slug}", "shop").replace('"', "%22")
        if "{" not in path:
            assert api.get(path.replace(" ", "+")).status_code == 200, call
