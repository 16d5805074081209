"""What pages and API say of an erased record, and the page that erases."""

from __future__ import annotations

import json

import pytest
from django.urls import reverse

from decisions.actions import create_decision, record_outcome
from decisions.models import Decision
from records.erasing import erase
from records.models import Erasure, RecordTag
from records.sweep import sweep
from tests.conftest import make_token
from tests.records.erased import WHY, WORD, left
from tests.records.samples import KINDS, make, page_of, verb_url, write_as_sql

pytestmark = [pytest.mark.database, pytest.mark.django_db]


def test_a_chain_of_merges_still_leads_to_the_erased_survivor(client, admin_user, agent, admin, project):
    one, two = (
        create_decision(actor=agent, project=project, title=title, decision="D") for title in ("A", "B")
    )
    write_as_sql(one, merged_into=two.node_id)
    sweep()
    erase([two], actor=admin, reason=WHY)
    assert Decision.objects.get(pk=one.pk).merged_into == two.node_id
    client.force_login(admin_user)
    answer = client.get(page_of(two))
    assert answer.status_code == 410
    assert one.node_id in answer.content.decode()


def test_a_write_sent_again_with_its_key_is_told_that_it_was_erased(client, project, admin):
    _token, text = make_token(project)
    sent = {
        "data": json.dumps({"title": WORD, "decision": "D"}),
        "content_type": "application/json",
        "headers": {"Authorization": f"Bearer {text}", "Idempotency-Key": "k-1"},
    }
    made = client.post("/api/v1/decisions", **sent)
    assert made.status_code == 201
    erase(list(Decision.objects.all()), actor=admin, reason=WHY)
    assert left() == []
    again = client.post("/api/v1/decisions", **sent)
    assert (again.status_code, again["Content-Type"]) == (410, "application/problem+json")
    assert again.json()["type"].endswith(":erased")
    assert Decision.objects.count() == 1
    assert left() == []


def test_the_api_answers_410_and_says_when_and_why(client, agent, admin, project):
    _token, text = make_token(project)
    record = create_decision(actor=agent, project=project, title=WORD, decision="D")
    erase([record], actor=admin, reason=WHY)
    headers = {"Authorization": f"Bearer {text}"}
    for path in (f"decisions/{record.node_id}", f"records/{record.node_id}/history"):
        answer = client.get(f"/api/v1/{path}", headers=headers)
        assert answer.status_code == 410
        body = answer.json()
        assert (body["type"], body["node_id"], body["reason"]) == (
            "urn:memory-desk:problem:erased", record.node_id, WHY,
        )  # fmt: skip
    assert client.get("/api/v1/decisions", headers=headers).json()["results"] == []
    shown = client.get("/api/v1/decisions?show=all", headers=headers).json()["results"]
    assert [one["title"] for one in shown] == ["[erased]"]


def test_each_page_of_it_is_a_tombstone(client, viewer_user, agent, admin, project):
    client.force_login(viewer_user)
    for kind in KINDS:
        record = make(kind, agent, project, title=f"The {kind}")
        erase([record], actor=admin, reason=WHY)
        for url in (page_of(record), verb_url("history", record)):
            answer = client.get(url)
            assert answer.status_code == 410, url
            page = answer.content.decode()
            assert WHY in page
            assert "ada" in page
        assert client.get(reverse("records:node", args=[record.node_id])).url == page_of(record)


def test_the_page_asks_for_the_id_and_a_reason(client, admin_user, agent, project):
    record = create_decision(actor=agent, project=project, title=WORD, decision="D")
    outcome = record_outcome(actor=agent, decision=record, type="outage", note=WORD)
    client.force_login(admin_user)
    url = verb_url("erase", record)
    page = client.get(url)
    assert outcome.node_id in page.content.decode()
    for wrong in ({}, {"confirm": record.node_id}, {"reason": WHY, "confirm": "dec_999"}):
        assert client.post(url, wrong).status_code == 422
    assert not Erasure.objects.exists()
    fields = {"reason": WHY, "confirm": f" {record.node_id} ", "also": [outcome.node_id]}
    answer = client.post(url, fields)
    assert (answer.status_code, answer.url) == (303, page_of(record))
    assert client.get(answer.url).status_code == 410
    assert left() == []
    assert client.post(url, fields).status_code == 410  # twice is answered by the tombstone


def test_the_link_to_it_is_an_admins_alone(client, admin_user, curator_user, agent, project):
    record = create_decision(actor=agent, project=project, title="T", decision="D")
    for user, shown in ((admin_user, True), (curator_user, False)):
        client.force_login(user)
        assert (verb_url("erase", record) in client.get(page_of(record)).content.decode()) is shown


def test_marks_and_counts_move_so_that_nothing_kept_in_memory_shows_it(
    client, admin_user, agent, admin, project
):
    client.force_login(admin_user)
    record = create_decision(actor=agent, project=project, title=WORD, decision="D", tags=[WORD[:20]])
    url = reverse("decisions:list", args=["shop"])
    assert "Xylophon" in client.get(url).content.decode()
    erase([record], actor=admin, reason=WHY)
    page = client.get(url).content.decode()
    assert "Xylophon" not in page
    assert not RecordTag.objects.exists()
