"""Many new records in one call: each one's result; a bad one stops no other; once with a key."""

import pytest
from django.db import connection
from django.test.utils import CaptureQueriesContext

from decisions.models import Decision
from patterns.models import Evidence, Pattern
from records.models import ProjectionMark, Revision

pytestmark = [pytest.mark.database, pytest.mark.django_db]

NEW = {
    "decisions": {"title": "T", "decision": "D", "tags": ["x"], "decided_at": "2026-03-15"},
    "patterns": {"category": "c", "name": "N", "confidence": 0.7},
    "pitfalls": {"category": "c", "title": "T"},
    "runs": {"trigger_type": "alert", "summary": "S", "trigger_payload": {"host": "db"}},
    "memories": {"summary": "S"},
}


@pytest.mark.parametrize("plural", NEW)
def test_a_bad_item_stops_no_other(api, plural):
    new = NEW[plural]
    items = [new, {"nonsense": 1}, {**new, "tags": ["ok"]}, "text", {**new, "project": "bank"}]
    answer = api.post(f"/{plural}/bulk", {"items": items})
    assert answer.status_code == 200, answer.data
    results = answer.data["results"]
    assert [one["status"] for one in results] == [201, 422, 201, 422, 422]
    assert [one["index"] for one in results] == [0, 1, 2, 3, 4]
    assert (answer.data["written"], answer.data["refused"]) == (2, 3)
    assert "nonsense" in results[1]["errors"]
    assert "project" in results[4]["errors"]
    for one in (results[0], results[2]):
        assert api.get(f"/{plural}/{one['node_id']}").data["version"] == one["version"] == 1
        assert Revision.objects.filter(node_id=one["node_id"], version=1).exists()
        assert ProjectionMark.objects.filter(node_id=one["node_id"]).exists()


def test_outcomes_and_sessions_too(api, decision):
    items = [{"decision": decision.node_id, "type": "outage"}, {"decision": "dec_999999", "type": "outage"}]
    results = api.post("/outcomes/bulk", {"items": items}).data["results"]
    assert [one["status"] for one in results] == [201, 422]
    sessions = [
        {"session_id": "a"},
        {"session_id": "b"},
        {"session_id": "a", "summary": "S"},
        {"session_id": "ses_1"},
    ]
    results = api.post("/sessions/bulk/", {"items": sessions}).data["results"]
    assert [(one["status"], one.get("became")) for one in results] == [
        (201, "created"), (201, "created"), (200, "updated"), (422, None),
    ]  # fmt: skip


def test_what_only_the_verb_refuses_stands_alone_too(api, monkeypatch):
    from records import verbs

    checked = verbs.validate

    def validate(record, columns=None):
        if getattr(record, "title", "") == "bad":
            raise verbs.InvalidInput({"title": ["Is bad."]})
        checked(record, columns)

    monkeypatch.setattr(verbs, "validate", validate)
    titles = ["a", "bad", "b", "c", "bad", "d", "e"]
    answer = api.post("/decisions/bulk", {"items": [{"title": t, "decision": "D"} for t in titles]})
    assert [one["status"] for one in answer.data["results"]] == [422 if t == "bad" else 201 for t in titles]
    assert sorted(Decision.objects.values_list("title", flat=True)) == ["a", "b", "c", "d", "e"]
    assert Revision.objects.filter(verb="create").count() == 5


def test_with_a_key_it_is_done_once(api):
    body = {"items": [NEW["patterns"], {}]}
    first = api.post("/patterns/bulk", body, Idempotency_Key="k")
    again = api.post("/patterns/bulk", body, Idempotency_Key="k")
    assert again.content == first.content
    assert again["Idempotency-Replayed"] == "true"
    assert (Pattern.objects.count(), Evidence.objects.count()) == (1, 1)
    assert Pattern.objects.get().confidence_score == 0.7


@pytest.mark.parametrize("plural", ["runs", "sessions"])
def test_with_a_key_it_is_done_once_where_it_could_be_sent_again_too(api, plural):
    names = {"runs": ("id", "a" * 32), "sessions": ("session_id", "a")}
    item = dict([names[plural]], tags=["x"])
    body = {"items": [item, item, {**item, "tags": [5]}]}
    first = api.post(f"/{plural}/bulk", body, Idempotency_Key="k")
    again = api.post(f"/{plural}/bulk", body, Idempotency_Key="k")
    assert again.content == first.content
    assert [one.get("became") for one in first.data["results"]] == ["created", "unchanged", None]
    without = api.post(f"/{plural}/bulk", body).data["results"]
    assert [one.get("became") for one in without] == ["unchanged", "unchanged", None]
    assert Revision.objects.count() == 1


def test_too_many_or_none_write_nothing(api):
    many = api.post("/decisions/bulk", {"items": [NEW["decisions"]] * 1001})
    assert (many.status_code, list(many.data["errors"])) == (413, ["items"])
    for body in ({}, {"items": []}, {"items": {}}, {"items": [NEW["decisions"]], "reason": "r"}, []):
        assert api.post("/decisions/bulk", body).status_code == 422, body
    assert not Decision.objects.exists()


def test_a_body_beyond_the_cap_is_413(api, settings):
    settings.DATA_UPLOAD_MAX_MEMORY_SIZE = 10_000
    answer = api.post("/decisions/bulk", {"items": [{**NEW["decisions"], "rationale": "x" * 20_000}]})
    assert answer.status_code == 413
    assert not Decision.objects.exists()


def test_statements_do_not_grow_with_the_items_but_for_the_inserts(api):
    def cost(count):
        items = [{**NEW["pitfalls"], "title": f"T{count} {number}"} for number in range(count)]
        with CaptureQueriesContext(connection) as asked:
            assert api.post("/pitfalls/bulk", {"items": items}).data["written"] == count
        return sum('INSERT INTO "pitfalls"' not in one["sql"].replace("`", '"') for one in asked)

    cost(2)  # the first call notes that the token is used
    assert cost(60) - cost(5) <= 4  # a batch more, here and there


def test_a_reader_may_not(reader):
    assert reader.post("/decisions/bulk", {"items": [NEW["decisions"]]}).status_code == 403
