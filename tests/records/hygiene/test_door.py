"""A secret that comes in by any verb is in no table, no search, no log."""

from __future__ import annotations

import json
import logging

import pytest
from django.apps import apps
from django.db import connection

from decisions.actions import contradict, create_decision, edit_decision, record_outcome
from graph.worker import Worker
from patterns.actions import adjust_confidence, create_pattern, record_evidence
from pitfalls.actions import create_pitfall, meet_again
from recall.search import search
from records.query_language import parse
from records.reads import flush_reads
from runs.actions import record_run
from tests.conftest import make_token
from tests.records.hygiene.test_secrets import planted
from work_sessions.actions import start_session

pytestmark = pytest.mark.django_db

SECRET = planted(7)["GitHub token"][0]
TOLD = f"It said {SECRET} in the log."


def everything_stored() -> str:
    """Every row of every table of ours, as text."""
    rows = []
    for model in apps.get_models(include_auto_created=True):
        with connection.cursor() as cursor:
            cursor.execute(f"SELECT * FROM {connection.ops.quote_name(model._meta.db_table)}")
            rows += [repr(row) for row in cursor.fetchall()]
    return "\n".join(rows)


def test_a_secret_is_kept_nowhere(client, agent, curator, project, caplog):
    caplog.set_level(logging.DEBUG)
    create = {"actor": agent, "project": project}
    decision = create_decision(
        **create, title=f"Rotate {SECRET}", decision=TOLD, rationale=TOLD, tags=["x", SECRET], reason=TOLD
    )
    edit_decision(actor=agent, decision=decision, changes={"alternatives_considered": TOLD}, reason=TOLD)
    other = create_decision(**create, title="Another", decision="x")
    contradict(actor=agent, decision=decision, other=other, reason=TOLD)
    record_outcome(actor=agent, decision=decision, type="outage", note=TOLD, reason=TOLD)
    pattern = create_pattern(**create, category="c", name="n", code_example=TOLD, reason=TOLD)
    record_evidence(actor=agent, pattern=pattern, worked=True, note=TOLD)
    adjust_confidence(actor=curator, pattern=pattern, confidence=0.7, reason=TOLD)
    pitfall = create_pitfall(**create, category="c", title="t", severity="low", how_to_avoid=TOLD)
    meet_again(actor=agent, pitfall=pitfall, note=TOLD)
    start_session(**create, session_id="s", context={"steps": [TOLD], SECRET: {"deep": TOLD}})
    record_run(
        **create, agent_name="a", agent_version="1", trigger_type="alert", trigger_payload={"text": TOLD},
        tool_calls=[{"name": "curl", "input": TOLD}], outcome={"note": TOLD}, status="succeeded",
    )  # fmt: skip
    _token, text = make_token(project)
    for _ in range(2):
        answer = client.post(
            "/api/v1/decisions/",
            json.dumps({"title": "By API", "decision": TOLD, "reason": TOLD}),
            "application/json",
            headers={"Authorization": f"Bearer {text}", "Idempotency-Key": "once"},
        )
        assert answer.status_code == 201
        assert SECRET not in answer.content.decode()
        assert "[redacted: GitHub token]" in answer.json()["decision"]
    worker = Worker()
    while worker.work_once():
        pass
    stored = everything_stored()
    assert SECRET not in stored
    assert SECRET[4:30] not in stored
    assert stored.count("[redacted: GitHub token]") > 20
    assert SECRET not in caplog.text
    assert search([project.pk], parse(f'"{SECRET}"')).hits == []


def test_fifty_secrets_of_five_and_twenty_kinds_are_kept_nowhere(client, agent, project, caplog):
    """In prose, in JSON and in addresses, by verbs and by API with a key, through worker, recall and its reads."""
    caplog.set_level(logging.DEBUG)
    _token, text = make_token(project)
    headers = {"Authorization": f"Bearer {text}"}
    hidden = [pair for seed in (11, 12) for pair in planted(seed).values()]
    assert (len(hidden), len(planted(11))) == (50, 25)
    for number, (secret, around) in enumerate(hidden):
        told = around.format(secret)
        address = f"https://deploy.example/?step=1&value={told}&next=2"
        made = create_decision(
            actor=agent, project=project, title=f"Step {number}", decision=f"At 02:14 it said {told} and went on.",
            rationale=address, reason=told,
        )  # fmt: skip
        body = {"title": f"By API {number}", "decision": told, "rationale": address, "reason": told}
        for _ in range(2):
            answer = client.post(
                "/api/v1/decisions", json.dumps(body), "application/json",
                headers={**headers, "Idempotency-Key": f"key {number}"},
            )  # fmt: skip
            assert answer.status_code == 201
        start_session(
            actor=agent,
            project=project,
            session_id=f"s{number}",
            context={"env": [told], "at": {"url": address}},
        )
        client.get(f"/api/v1/decisions/{made.node_id}", headers=headers)
    worker = Worker()
    while worker.work_once():
        pass
    client.get("/api/v1/search?q=step+said", headers=headers)
    flush_reads()
    stored = everything_stored()
    # A private key's lines are kept with their ends escaped.
    kept = [secret for secret, _around in hidden if secret in stored or repr(secret)[1:-1] in stored]
    assert kept == []
    assert [secret for secret, _around in hidden if secret in caplog.text] == []
    assert stored.count("[redacted: ") > 500
