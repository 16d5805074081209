"""`POST /api/v1/context`: its answer, its other form, its errors, the reads that it leaves."""

import pytest

from graph.worker import Worker
from records.models import Read
from records.reads import flush_reads
from records.verbs import review
from work_sessions.actions import start_session

pytestmark = [pytest.mark.mysql, pytest.mark.django_db(transaction=True)]

TASK = {"task": "Cache the totals of orders in Redis", "kinds": ["decision", "pitfall", "pattern", "session"]}


@pytest.fixture
def embedded(decision, outcome, pitfall):
    worker = Worker()
    while worker.work_once():
        pass
    return decision


def test_each_item_says_what_an_agent_needs_to_weigh_it(api, embedded, outcome):
    answer = api.post("/context", TASK)
    assert answer.status_code == 200, answer.data
    pack = answer.data
    assert pack["tokens"] <= pack["budget"] == 1500
    assert pack["tokens"] == pack["frame_tokens"] + sum(item["tokens"] for item in pack["items"])
    assert (pack["project"], pack["compressed_by"], pack["notes"]) == ("shop", "extractive", [])
    assert "WordPiece" in pack["tokenizer"]
    item = next(item for item in pack["items"] if item["node_id"] == embedded.node_id)
    assert item["kind"] == "decision"
    assert item["title"] == "Use Redis"
    assert (item["review_state"], item["trust"], item["source_kind"], item["source_name"]) == (
        "unreviewed", 0.5, "agent", "order-bot",
    )  # fmt: skip
    assert (item["version"], item["age_days"], item["status"]) == (1, 0, "accepted")
    assert item["text"] == "Decision: Cache totals."
    assert item["whole"] is True
    assert 0 < item["score"] <= 1
    assert "words" in item["why"]
    assert item["beside"] == [outcome.node_id]
    assert item["told_with_it"] == [f"led to {outcome.node_id} outage 0.20: Evicted."]
    assert item["text"] in pack["markdown"].replace("> ", "")


def test_the_markdown_alone(api, embedded):
    whole = api.post("/context", TASK)
    alone = api.post("/context", {**TASK, "format": "markdown"})
    assert alone["Content-Type"] == "text/markdown; charset=utf-8"
    assert alone.content.decode() == whole.data["markdown"]
    assert alone["Cache-Control"] == "no-store"


def test_the_same_question_gives_the_same_bytes(api, embedded):
    assert api.post("/context", TASK).content == api.post("/context", TASK).content


def test_every_record_that_was_told_is_noted_as_read(api, embedded, outcome):
    pack = api.post("/context", TASK, X_Session_Id="ses-9").data
    flush_reads()
    reads = Read.objects.filter(door="api.context", session="ses-9")
    told = {item["node_id"] for item in pack["items"]} | {outcome.node_id}
    assert set(reads.values_list("node_id", flat=True)) == told


def test_the_session_of_the_call_is_told(api, embedded, agent, project):
    start_session(actor=agent, project=project, session_id="ses-9", context={"step": 3})
    assert '"step": 3' in api.post("/context", TASK, X_Session_Id="ses-9").data["markdown"]
    assert '"step": 3' in api.post("/context", {**TASK, "session": "ses-9"}).data["markdown"]
    assert api.post("/context", {**TASK, "session": "gone"}).data["notes"] == [
        "There is no session “gone” in this project."
    ]


def test_a_trigger_of_json_and_reviewed_only(api, embedded, curator):
    asked = {"trigger": {"alert": "Redis totals are stale", "service": "orders"}, "reviewed_only": True}
    answer = api.post("/context", asked).data
    assert answer["items"] == []
    assert {"node_id": embedded.node_id, "reason": "unreviewed"}.items() <= answer["left_out"][0].items()
    review([embedded], "approved", actor=curator)
    assert [item["node_id"] for item in api.post("/context", asked).data["items"]] == [embedded.node_id]


def test_a_key_for_repeating_does_no_harm_to_a_question(api, embedded):
    asked = {**TASK, "format": "markdown"}
    first = api.post("/context", asked, Idempotency_Key="k")
    assert api.post("/context", asked, Idempotency_Key="k").content == first.content
    assert api.post("/context", TASK, Idempotency_Key="k").status_code == 200


@pytest.mark.parametrize(
    ("body", "field", "status"),
    [
        ({}, "task", 422),
        ({"task": "  \n"}, "task", 422),
        ({"trigger": {}}, "task", 422),
        ({"task": None}, "task", 422),
        ({"task": 5}, "task", 422),
        ({"task": "a\u0000b"}, "task", 422),
        ({"trigger": {"a": "\u0000"}}, "trigger", 422),
        ({"trigger": 7}, "trigger", 422),
        ({"task": "x" * (1024 * 1024 + 1)}, "task", 413),
        ({"task": "x", "budget": 99}, "budget", 422),
        ({"task": "x", "budget": 32_001}, "budget", 422),
        ({"task": "x", "budget": "1500"}, "budget", 422),
        ({"task": "x", "k": 0}, "k", 422),
        ({"task": "x", "kinds": []}, "kinds", 422),
        ({"task": "x", "kinds": ["outcome"]}, "kinds.0", 422),
        ({"task": "x", "reviewed_only": "yes"}, "reviewed_only", 422),
        ({"task": "x", "format": "html"}, "format", 422),
        ({"task": "x", "project": "bank"}, "project", 422),
        ({"task": "x", "buget": 5}, "buget", 422),
    ],
)
def test_what_cannot_be_asked_is_explained_by_its_name(api, body, field, status):
    answer = api.post("/context", body)
    assert (answer.status_code, list(answer.data["errors"])) == (status, [field])


@pytest.mark.parametrize(
    "text",
    ["x" * 1024 * 1024, "word " * 200_000, "🚀" * 50_000, "\u202eabc مرحبا שלום", "缓存" * 100_000, "\ufeff\u200b\u0301",
     "[MASK] [UNK] [CLS]", '"a" OR NOT (b) *:+-', "```\n" * 5000],
)  # fmt: skip
def test_any_text_is_answered(api, embedded, text):
    answer = api.post("/context", {"task": text, "trigger": [text[:1000]]})
    assert answer.status_code == 200, answer.data
    assert answer.data["tokens"] <= 1500
