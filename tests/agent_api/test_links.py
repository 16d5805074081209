"""Links through the API: said once, listed, taken back; both histories tell."""

import pytest
from django.db import connection
from django.test.utils import CaptureQueriesContext

from decisions.actions import create_decision
from records.links import link
from records.models import Link, ProjectionMark, Revision

pytestmark = [pytest.mark.database, pytest.mark.django_db]


@pytest.fixture
def other(agent, project):
    return create_decision(actor=agent, project=project, title="Use Valkey", decision="V")


def test_a_link_is_said_once_and_told_in_both_histories(api, decision, pattern):
    body = {"source": decision.node_id, "relation": "RELATES_TO", "target": pattern.node_id, "reason": "same"}
    made = api.post("/links/", body)
    assert (made.status_code, made.data["became"], made.data["reason"]) == (201, "created", "same")
    assert made.data["source_name"] == "order-bot"
    assert {end["title"] for end in made.data["ends"]} == {"Use Redis", "Cache-aside"}
    reversed_ = {**body, "source": pattern.node_id, "target": decision.node_id}
    for again in (body, reversed_):
        answer = api.post("/links", again)
        assert (answer.status_code, answer.data["became"], answer.data["id"]) == (
            200,
            "unchanged",
            made.data["id"],
        )
    for node_id in (decision.node_id, pattern.node_id):
        assert Revision.objects.filter(node_id=node_id, verb="link", reason="same").count() == 1
        assert ProjectionMark.objects.get(node_id=node_id).wanted_version == 2


def test_superseding_a_decision_sets_its_status_too(api, decision, other):
    body = {
        "source": other.node_id,
        "relation": "SUPERSEDES",
        "target": decision.node_id,
        "reason": "licence",
    }
    assert api.post("/links", body).data["became"] == "created"
    superseded = api.get(f"/decisions/{decision.node_id}").data
    assert superseded["status"] == "superseded"
    assert [one["node_id"] for one in superseded["superseded_by"]] == [other.node_id]
    circle = api.post("/links", {**body, "source": decision.node_id, "target": other.node_id})
    assert circle.status_code == 409
    assert api.get(f"/decisions/{other.node_id}").data["status"] == "accepted"


def test_a_link_is_taken_back_with_a_reason(api, reader, elsewhere, decision, pattern, agent):
    made = link(decision, "CONTRADICTS", pattern, actor=agent)
    path = f"/links/{made.pk}"
    assert api.get(path).data["relation"] == "CONTRADICTS"
    assert elsewhere.get(path).status_code == 404
    assert elsewhere.send("DELETE", path).status_code == 404
    assert reader.send("DELETE", path).status_code == 403
    assert api.send("DELETE", path, {"reason": "in the body"}).status_code == 400
    assert api.send("DELETE", f"{path}?because=x").status_code == 400
    assert Link.objects.count() == 1
    gone = api.send("DELETE", f"{path}?reason=a+mistake", Idempotency_Key="k")
    assert (gone.status_code, gone.data["became"]) == (200, "deleted")
    assert api.send("DELETE", f"{path}?reason=a+mistake", Idempotency_Key="k").content == gone.content
    assert api.send("DELETE", path).status_code == 404
    assert Revision.objects.filter(verb="unlink", reason="a mistake").count() == 2


def test_links_are_listed_by_record_and_relation(api, elsewhere, decision, pattern, pitfall, other, agent):
    for target in (pattern, pitfall):
        link(decision, "RELATES_TO", target, actor=agent)
    link(other, "CONTRADICTS", decision, actor=agent)
    assert len(api.get("/links").data["results"]) == 3
    assert elsewhere.get("/links").data["results"] == []
    found = api.get(f"/links?node={decision.node_id}&relation=CONTRADICTS&count=true").data
    assert ([one["relation"] for one in found["results"]], found["count"]) == (["CONTRADICTS"], 1)
    assert len(api.get(f"/links?node={pattern.node_id}").data["results"]) == 1
    assert len(api.get("/links?relation=CONTRADICTS&relation=RELATES_TO").data["results"]) == 3
    first = api.get("/links?page_size=2").data
    rest = api.get("/" + first["next"].partition("/api/v1/")[2]).data
    assert len(rest["results"]) == 1
    for wrong in ("relation=LIKES", "node=%C3%BC", "project=bank", "kind=x", "cursor=x"):
        assert api.get(f"/links?{wrong}").status_code == 400, wrong

    def cost():
        with CaptureQueriesContext(connection) as asked:
            api.get("/links")
        return len(asked)

    before = cost()
    for number in range(4):
        new = create_decision(actor=agent, project=decision.project, title=f"D{number}", decision="D")
        link(decision, "RELATES_TO", new, actor=agent)
    assert cost() == before <= 6


@pytest.mark.parametrize("field", ["source", "target"])
def test_another_projects_record_is_as_absent_as_a_missing_one(api, elsewhere, decision, pattern, field):
    theirs = elsewhere.post("/decisions", {"title": "Secret", "decision": "S"}).data["node_id"]
    body = {"source": decision.node_id, "relation": "RELATES_TO", "target": pattern.node_id}
    answers = [api.post("/links", {**body, field: name}) for name in (theirs, "dec_999999", "nonsense")]
    assert {(answer.status_code, str(answer.data["errors"])) for answer in answers} == {
        (422, str({field: ["There is no such record."]}))
    }
    assert api.post("/links", {**body, "target": decision.node_id}).status_code == 409
    assert api.post("/links", {**body, "relation": "SIMILAR_TO"}).status_code == 422
    assert not Link.objects.exists()
