"""Records through the API: written, read, changed, listed."""

import pytest
from django.db import connection
from django.test.utils import CaptureQueriesContext

from decisions.actions import create_decision, create_decisions, supersede
from decisions.models import Decision
from patterns.models import Pattern
from records.models import ProjectionMark, Revision
from tests.agent_api.conftest import ApiClient
from tests.conftest import make_token

pytestmark = [pytest.mark.mysql, pytest.mark.django_db]

DECISION = {
    "title": "Keep totals in Redis",
    "decision": "For 15 minutes.\n\n    code stays as it is  \n",
    "rationale": "900 ms at peak.",
    "tags": ["redis"],
}


def test_a_decision_is_written_and_read_back(api, project):
    answer = api.post("/decisions", DECISION, X_Session_Id="ses-8841", X_Run_Id="run_1")
    assert answer.status_code == 201, answer.data
    made = answer.data
    assert made["became"] == "created"
    assert (made["project"], made["kind"], made["status"]) == ("shop", "decision", "accepted")
    assert made["decision"] == DECISION["decision"]
    assert (made["review_state"], made["source_kind"], made["source_name"]) == (
        "unreviewed",
        "agent",
        "order-bot",
    )
    assert (made["source_session"], made["source_run"], made["trust"]) == ("ses-8841", "run_1", 0.5)
    assert answer["Location"] == f"/api/v1/decisions/{made['node_id']}"
    assert answer["ETag"] == '"1"'
    assert made["url"].endswith(f"/r/{made['node_id']}/")
    read = api.get(f"/decisions/{made['node_id']}")
    about_the_write = {"became", "duplicate_of", "searchable_at", "queued"}
    assert read.data == {name: value for name, value in made.items() if name not in about_the_write}
    assert (made["duplicate_of"], made["searchable_at"], made["queued"]) == ([], None, True)
    revision = Revision.objects.get(node_id=made["node_id"])
    assert (revision.channel, revision.session, revision.run) == ("api", "ses-8841", "run_1")
    assert revision.request_id == answer["X-Request-ID"]
    assert ProjectionMark.objects.filter(node_id=made["node_id"]).exists()


@pytest.mark.parametrize("slash", ["", "/"])
def test_an_address_is_the_same_with_and_without_its_last_slash(api, decision, slash):
    assert api.get(f"/decisions/{decision.node_id}{slash}").status_code == 200
    assert api.post(f"/decisions{slash}", DECISION).status_code == 201


def test_a_day_is_answered_as_a_day_and_an_instant_as_an_instant(api):
    by_day = api.post("/decisions", {**DECISION, "decided_at": "2026-03-15"}).data
    assert by_day["decided_at"] == "2026-03-15"
    at = api.post("/decisions", {**DECISION, "decided_at": "2026-03-15T10:00:00+05:30"}).data
    assert at["decided_at"] == "2026-03-15T04:30:00Z"
    unknown = api.post("/decisions", {**DECISION, "decided_at": None}).data
    assert unknown["decided_at"] is None
    found = api.get("/decisions?decided=2026-03-15").data["results"]
    assert [one["node_id"] for one in found] == [at["node_id"], by_day["node_id"]]


def test_a_token_of_two_projects_must_name_one(project, other_project):
    token, text = make_token(project)
    token.projects.add(other_project)
    both = ApiClient(text)
    unnamed = both.post("/decisions", DECISION)
    assert (unnamed.status_code, list(unnamed.data["errors"])) == (422, ["project"])
    assert both.post("/decisions", {**DECISION, "project": "bank"}).data["project"] == "bank"
    assert both.post("/decisions", {**DECISION, "project": "nowhere"}).status_code == 422
    both.post("/decisions", {**DECISION, "project": "shop"})
    assert len(both.get("/decisions").data["results"]) == 2
    assert [one["project"] for one in both.get("/decisions?project=shop").data["results"]] == ["shop"]
    assert both.get("/decisions?project=nowhere").status_code == 400


def test_a_change_needs_the_version_that_was_read(api, decision):
    path = f"/decisions/{decision.node_id}"
    assert api.patch(path, {"title": "A"}).status_code == 428
    changed = api.patch(path, {"title": "A", "version": 1, "reason": "clearer"})
    assert (changed.status_code, changed.data["became"], changed.data["version"]) == (200, "updated", 2)
    assert changed["ETag"] == '"2"'
    assert Revision.objects.filter(node_id=decision.node_id).first().reason == "clearer"
    stale = api.patch(path, {"title": "B"}, If_Match='"1"')
    assert (stale.status_code, stale["Content-Type"]) == (412, "application/problem+json")
    assert (stale.data["current"]["title"], stale.data["current"]["version"]) == ("A", 2)
    assert Decision.objects.get().title == "A"
    assert api.patch(path, {"title": "A"}, If_Match='"2"').data["became"] == "unchanged"
    assert api.patch(path, {"title": "C"}, If_Match="*").data["title"] == "C"
    assert api.patch(path, {"title": "D", "version": 3}, If_Match='"2"').status_code == 400
    assert api.patch(path, {"title": "D"}, If_Match="latest").status_code == 400


def test_a_row_changed_by_plain_sql_is_a_conflict(api, decision):
    with connection.cursor() as cursor:
        cursor.execute("UPDATE architecture_decisions SET rationale = 'by hand' WHERE id = %s", [decision.pk])
    answer = api.patch(f"/decisions/{decision.node_id}", {"title": "B", "version": 1})
    assert (answer.status_code, answer.data["current"]["rationale"]) == (412, "by hand")


def test_status_supersede_contradict(api, decision, agent, project):
    path = f"/decisions/{decision.node_id}"
    assert api.post(f"{path}/status", {"status": "pending"}).status_code == 422
    assert api.post(f"{path}/status", {"status": "pending", "reason": "wait"}).data["status"] == "pending"
    again = api.post(f"{path}/status", {"status": "pending", "reason": "wait"})
    assert again.data["became"] == "unchanged"
    new = create_decision(actor=agent, project=project, title="Use Valkey", decision="V")
    superseded = api.post(f"{path}/supersede", {"by": new.node_id, "reason": "licence"})
    assert (superseded.data["status"], superseded.data["became"]) == ("superseded", "updated")
    assert [one["node_id"] for one in superseded.data["superseded_by"]] == [new.node_id]
    assert api.post(f"{path}/supersede", {"by": new.node_id}).data["became"] == "unchanged"
    circle = api.post(f"/decisions/{new.node_id}/supersede", {"by": decision.node_id})
    assert circle.status_code == 409
    assert api.post(f"{path}/supersede", {"by": "dec_999999"}).status_code == 422
    assert api.post(f"{path}/contradict", {"other": new.node_id}).data["became"] == "updated"
    assert api.post(f"{path}/contradict", {"other": new.node_id}).data["became"] == "unchanged"
    assert api.post(f"{path}/contradict", {"other": decision.node_id}).status_code == 409


def test_outcomes_of_a_decision(api, decision):
    path = f"/decisions/{decision.node_id}/outcomes"
    made = api.post(path, {"type": "outage", "success_rate": 0.1, "note": "Evicted.", "tags": ["cache"]})
    assert (made.status_code, made.data["decision"]) == (201, decision.node_id)
    assert api.get(path).data["results"][0]["node_id"] == made.data["node_id"]
    other = api.post("/outcomes", {"decision": decision.node_id, "type": "success"})
    assert other.status_code == 201
    assert len(api.get("/outcomes").data["results"]) == 2
    changed = api.patch(f"/outcomes/{other.data['node_id']}", {"type": "cost", "version": 1})
    assert changed.data["type"] == "cost"
    assert api.post(path, {"type": "Not A Type"}).data["errors"].keys() == {"type"}
    assert api.get("/decisions?outcome=outage").data["results"][0]["node_id"] == decision.node_id
    assert api.get("/decisions/dec_999/outcomes").status_code == 404


def test_patterns_are_voted_on_and_adjusted(api, reviewer):
    made = api.post("/patterns", {"category": "caching", "name": "Cache-aside", "confidence": 0.5}).data
    path = f"/patterns/{made['node_id']}"
    voted = api.post(f"{path}/worked", {"note": "again"}).data
    assert (voted["became"], voted["usage_count"], voted["version"]) == ("updated", 1, 1)
    assert voted["confidence_score"] == pytest.approx(0.6)
    assert api.post(f"{path}/failed").data["confidence_score"] == pytest.approx(0.5)
    asked = {"confidence": 0.9, "reason": "proved"}
    assert api.post(f"{path}/confidence", asked).status_code == 403
    assert reviewer.post(f"{path}/confidence", asked).data["confidence_score"] == 0.9
    assert reviewer.post(f"{path}/confidence", {"confidence": 0.9}).status_code == 422
    assert api.patch(path, {"language": "python", "version": 2}).data["language"] == "python"
    assert [one["name"] for one in api.get("/patterns?confidence_min=0.8").data["results"]] == ["Cache-aside"]
    assert Pattern.objects.get().usage_count == 2


def test_pitfalls_are_met_again_and_change_their_severity(api):
    made = api.post("/pitfalls", {"category": "db", "title": "Pool drains"}).data
    path = f"/pitfalls/{made['node_id']}"
    assert (made["severity"], made["encountered_count"]) == ("medium", 1)
    assert api.post(f"{path}/met-again", {"note": "on Monday"}).data["encountered_count"] == 2
    severe = api.post(f"{path}/severity", {"severity": "critical", "reason": "outage", "version": 1})
    assert severe.data["severity"] == "critical"
    assert api.post(f"{path}/severity", {"severity": "low", "reason": "x", "version": 1}).status_code == 412


def test_review_needs_its_own_scope(api, reviewer, decision):
    path = f"/decisions/{decision.node_id}"
    assert api.post(f"{path}/review", {"state": "approved"}).status_code == 403
    approved = reviewer.post(f"{path}/review", {"state": "approved"}).data
    assert (approved["review_state"], approved["became"]) == ("approved", "updated")
    assert reviewer.post(f"{path}/review", {"state": "rejected"}).status_code == 422
    rejected = reviewer.post(f"{path}/review", {"state": "rejected", "reason": "wrong"}).data
    assert rejected["active"] is False
    assert api.get("/decisions").data["results"] == []
    assert len(api.get("/decisions?show=hidden").data["results"]) == 1
    assert api.get(path).data["active"] is False


def test_archive_and_restore(api, decision):
    path = f"/decisions/{decision.node_id}"
    assert api.post(f"{path}/archive", {"reason": "stale"}).data["active"] is False
    assert api.post(f"{path}/archive").data["became"] == "unchanged"
    assert api.post(f"{path}/restore").data["active"] is True


def test_history_tells_both_versions_and_events(api, decision):
    api.patch(f"/decisions/{decision.node_id}", {"title": "New", "version": 1, "reason": "why"})
    api.post(f"/decisions/{decision.node_id}/outcomes", {"type": "success"})
    first = api.get(f"/records/{decision.node_id}/history?page_size=1").data
    assert first["results"][0]["changes"] == {"title": {"before": "Use Redis", "after": "New"}}
    assert (first["results"][0]["by"], first["results"][0]["reason"]) == ("order-bot", "why")
    rest = api.get(f"/records/{decision.node_id}/history?before={first['next']}").data
    assert [one["verb"] for one in rest["results"]] == ["create"]
    assert rest["next"] is None
    assert api.get(f"/records/{decision.node_id}/history?before=x").status_code == 400


def test_who_am_i_and_where(api):
    me = api.get("/me").data
    assert (me["agent_name"], me["scopes"]) == ("order-bot", ["read", "write"])
    assert [project["slug"] for project in me["projects"]] == ["shop"]
    assert me["last_used_at"] is None or me["last_used_at"].endswith("Z")
    assert [project["slug"] for project in api.get("/projects").data["results"]] == ["shop"]


def test_lists_are_walked_by_cursor_forth_and_back(api, agent, project):
    rows = [{"title": f"D{number}", "decision": "x"} for number in range(7)]
    create_decisions(actor=agent, project=project, rows=rows)
    page, seen = api.get("/decisions?page_size=3&count=true").data, []
    assert (page["count"], page["count_is_exact"]) == (7, True)
    while True:
        seen += [one["title"] for one in page["results"]]
        if page["next"] is None:
            break
        page = api.get("/" + page["next"].partition("/api/v1/")[2]).data
    assert seen == [f"D{number}" for number in range(6, -1, -1)]
    back = api.get("/" + page["previous"].partition("/api/v1/")[2]).data
    assert [one["title"] for one in back["results"]] == ["D3", "D2", "D1"]


@pytest.mark.parametrize(
    ("query", "named"),
    [
        ("colour=red", "colour"),
        ("status=accpeted", "status"),
        ("decided=yesterday", "decided"),
        ("sort=random", "sort"),
        ("cursor=abc", "cursor"),
        ("cursor=%00", "cursor"),
        ("page_size=0", "page_size"),
        ("page_size=201", "page_size"),
        ("page_size=٣", "page_size"),
        ("count=yes", "count"),
        ("show=everything", "show"),
        ("format=csv", "format"),
        ("by=a&by=b", "by"),
        ("q=%00", "q"),
        ("decided_before=9999-12-31", "decided_before"),
        ("decided_after=0001-01-01", "decided_after"),
    ],
)
def test_a_filter_that_cannot_be_applied_is_refused_by_name(api, decision, query, named):
    answer = api.get(f"/decisions?{query}")
    assert answer.status_code == 400, answer.data
    assert answer["Content-Type"] == "application/problem+json"
    assert list(answer.data["errors"]) == [named]


def test_several_values_of_one_filter_are_any_of_them(api, decision):
    assert len(api.get("/decisions?status=accepted&status=pending").data["results"]) == 1


def queries_of(call):
    with CaptureQueriesContext(
        connection,
    ) as captured:
        assert call().status_code == 200
    return len(captured)


def test_a_list_costs_the_same_queries_whatever_it_holds(api, agent, project):
    create_decision(actor=agent, project=project, title="first", decision="x", tags=["a"])
    old = create_decision(actor=agent, project=project, title="old", decision="x")
    supersede(
        actor=agent, decision=old, by=create_decision(actor=agent, project=project, title="new", decision="x")
    )
    api.get("/decisions")
    few = queries_of(lambda: api.get("/decisions?page_size=200"))
    for number in range(20):
        old = create_decision(
            actor=agent, project=project, title=f"old {number}", decision="x", tags=["a", "b"]
        )
        new = create_decision(actor=agent, project=project, title=f"new {number}", decision="x")
        supersede(actor=agent, decision=old, by=new)
    assert queries_of(lambda: api.get("/decisions?page_size=200")) == few
    assert few <= 6


@pytest.mark.parametrize("kind", ["outcomes", "patterns", "pitfalls"])
def test_lists_of_other_kinds_cost_few_queries(api, outcome, pattern, pitfall, kind):
    api.get(f"/{kind}")
    assert queries_of(lambda: api.get(f"/{kind}")) <= 4
