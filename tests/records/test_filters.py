"""Every filter of every FilterSet finds what it names, whatever plain SQL left in the rows."""

from datetime import timedelta

import pytest
from django.utils import timezone

from decisions.actions import record_outcome
from decisions.models import Decision
from patterns.actions import record_evidence
from pitfalls.actions import meet_again
from records.models import RecordTag
from records.reads import flush_reads, note_reads
from records.sweep import sweep
from records.verbs import archive, review
from tests.conftest import make_token
from tests.records.filter_sets import FILTERSETS, at, found
from tests.records.samples import LISTS, list_url, make, write_as_sql

pytestmark = [pytest.mark.database, pytest.mark.django_db]


# kind: query -> columns of a row that it finds (beside one row that it must not find)
OWN_FILTERS = [
    ("decision", "status=rejected", {"status": "rejected"}),
    ("decision", "status=rejected&status=pending", {"status": "pending"}),
    ("decision", "decided=2026-03-15", {"decided_at": at("2026-03-15T23:59:59.999999")}),
    ("decision", "decided_after=2027-03-15", {"decided_at": at("2027-03-15T00:00:00")}),
    ("decision", "decided_before=2020-01-01", {"decided_at": at("2020-01-01T23:59:59.999999")}),
    ("outcome", "type=outage", {"type": "outage"}),
    ("outcome", "occurred_after=2027-01-01", {"occurred_at": at("2027-01-01T00:00:00")}),
    ("outcome", "occurred_before=2020-01-01", {"occurred_at": at("2020-01-01T23:59:59")}),
    ("pattern", "category=net", {"category": "net"}),
    ("pattern", "language=go", {"language": "go"}),
    ("pattern", "confidence_min=0.8", {"confidence": 0.8}),
    ("pattern", "confidence_max=0.2", {"confidence": 0.2}),
    ("pattern", "confidence_above=0.8", {"confidence": 0.81}),
    ("pattern", "confidence_below=0.2", {"confidence": 0.19}),
    ("pitfall", "category=net", {"category": "net"}),
    ("pitfall", "severity=critical&severity=high", {"severity": "high"}),
    ("session", "session_id=alpha", {"title": "alpha"}),
    ("session", "open=false", {"ended_at": at("2026-01-02T00:00:00")}),
    ("session", "started_after=2027-01-01", {"started_at": at("2027-01-01T00:00:00")}),
    ("session", "started_before=2020-01-01", {"started_at": at("2020-01-01T23:59:59")}),
    ("run", "agent_version=2.1", {"agent_version": "2.1"}),
    ("run", "trigger=alert", {"title": "alert"}),
    ("run", "status=failed", {"status": "failed"}),
    ("run", "escalated=true", {"escalated_to_human": True}),
    ("run", "started_after=2027-01-01", {"started_at": at("2027-01-01T00:00:00")}),
    ("run", "started_before=2020-01-01", {"started_at": at("2020-01-01T23:59:59")}),
    *[(kind, "tag=redis", {"tags": ["redis", "x"]}) for kind in LISTS],
    *[(kind, "q=needle", {"title": "A NEEDLE in it"}) for kind in LISTS],
]
COVERED_APART = {
    *((kind, name) for kind in LISTS for name in ("review", "source", "by", "session", "show", "findings", "recalled", "unchanged_for")),
    ("outcome", "about"),
    ("decision", "outcome"), ("outcome", "decision"), ("pattern", "usage_min"), ("pattern", "usage_max"),
    ("pitfall", "met_min"), ("pitfall", "met_max"),
    ("run", "agent"),
    *(("run", name) for name in ("payload", "tokens_min", "tokens_max", "took_min", "took_max")),  # tests/runs
}  # fmt: skip


def test_every_filter_has_a_test():
    tested = {(kind, part.partition("=")[0]) for kind, query, _ in OWN_FILTERS for part in query.split("&")}
    every = {(kind, name) for kind, filterset in FILTERSETS.items() for name in filterset.base_filters}
    assert every == tested | COVERED_APART


@pytest.mark.parametrize(("kind", "query", "fields"), OWN_FILTERS)
def test_a_filter_finds_what_it_names_and_nothing_else(agent, project, kind, query, fields):
    wanted = make(kind, agent, project, **{"title": "Wanted", **fields})
    make(kind, agent, project, title="Other")
    assert found(kind, project, query) == {wanted.pk}


@pytest.mark.parametrize("kind", LISTS)
def test_who_where_and_what_a_person_thinks_of_it(agent, curator, project, kind):
    by_agent, by_person = make(kind, agent, project, "One"), make(kind, curator, project, "Two")
    assert found(kind, project, "source=agent") == {by_agent.pk}
    assert found(kind, project, "by=cleo") == {by_person.pk}
    assert found(kind, project, "by=Cleo") == set()
    assert found(kind, project, "session=ses-8841") == {by_agent.pk}
    assert found(kind, project, "review=approved") == {by_person.pk}
    assert found(kind, project, "review=approved&review=unreviewed") == {by_agent.pk, by_person.pk}


@pytest.mark.parametrize("kind", LISTS)
def test_show_is_active_hidden_or_everything(agent, curator, project, kind):
    one, two, three = (make(kind, agent, project, title) for title in ("One", "Two", "Three"))
    archive([two], actor=curator)
    review([three], "rejected", actor=curator, reason="wrong")
    assert found(kind, project, "") == found(kind, project, "show=active") == {one.pk}
    assert found(kind, project, "show=hidden") == {two.pk, three.pk}
    assert found(kind, project, "show=all") == {one.pk, two.pk, three.pk}


def test_counters_and_what_a_decision_led_to(agent, curator, project):
    used, unused = (make("pattern", agent, project, title) for title in ("Used", "Unused"))
    record_evidence(actor=agent, pattern=used, worked=True)
    assert found("pattern", project, "usage_min=1") == {used.pk}
    assert found("pattern", project, "usage_min=0") == {used.pk, unused.pk}
    assert found("pattern", project, "usage_max=0") == {unused.pk}
    met = make("pitfall", agent, project, "Met")
    make("pitfall", agent, project, "Once")
    meet_again(actor=agent, pitfall=met)
    assert found("pitfall", project, "met_min=2") == {met.pk}
    assert met.pk not in found("pitfall", project, "met_max=1")
    decision, other = (make("decision", agent, project, title) for title in ("A", "B"))
    outcome = make("outcome", agent, project, decision=decision, type="outage")
    assert found("decision", project, "outcome=outage") == {decision.pk}
    assert found("outcome", project, f"decision={decision.pk}") == {outcome.pk}
    assert found("outcome", project, f"decision={other.pk}") == set()
    archive([outcome], actor=curator)
    assert found("decision", project, "outcome=outage") == set()


def test_runs_by_agent(agent, project):
    run = make("run", agent, project)
    assert found("run", project, "agent=order-bot") == {run.pk}
    assert found("run", project, "agent=Order-bot") == set()


@pytest.mark.parametrize("kind", ["decision", "run"])
def test_the_tags_index_knows_the_project_and_every_spelling(agent, project, other_project, kind):
    bank = type(agent).agent(make_token(other_project)[0])
    ours, theirs = (
        make(kind, agent, project, tags=["redis", "Ünïcode 🙂"]),
        make(kind, bank, other_project, tags=["redis"]),
    )
    assert found(kind, project, "tag=redis") == {ours.pk}
    assert found(kind, project, "tag=Redis") == set()
    assert found(kind, project, "tag=unicode") == set()
    assert found(kind, project, "tag=%C3%9Cn%C3%AFcode%20%F0%9F%99%82") == {ours.pk}
    assert theirs.project_id == other_project.pk


@pytest.mark.parametrize(
    "tags",
    [
        "redis",
        5,
        True,
        {"redis": 1},
        [1, None, "ok", " ok ", "ok"],
        ["x" * 101, ""],
        [["nested"]],
        [],
        ["a", "a "],
        0.5,
    ],
)
def test_tags_of_any_json_that_plain_sql_wrote_break_no_page_and_no_sweep(
    client, curator_user, agent, project, tags
):
    record = make("decision", agent, project, tags=["before"])
    write_as_sql(record, tags=tags)
    client.force_login(curator_user)
    for address in (
        list_url("decision"),
        f"/p/shop/decisions/{record.pk}/",
        f"/p/shop/decisions/{record.pk}/edit/",
    ):
        assert client.get(address).status_code == 200, address
    assert sweep() == 1
    known = set(RecordTag.objects.values_list("tag", flat=True))
    assert known == (
        {"ok"} if tags == [1, None, "ok", " ok ", "ok"] else {"a"} if tags == ["a", "a "] else set()
    )
    assert client.get(f"/p/shop/decisions/{record.pk}/").status_code == 200
    answer = client.post(
        f"/p/shop/records/{record.node_id}/review/", {"state": "rejected", "reason": "odd", "version": "2"}
    )
    assert answer.status_code == 303, "what breaks a rule must be rejectable"
    assert Decision.objects.get().review_state == "rejected"


def test_what_plain_sql_left_blank_can_be_archived_and_still_has_a_link(client, curator_user, agent, project):
    record = make("decision", agent, project)
    write_as_sql(record, title="", decision="")
    client.force_login(curator_user)
    assert f">{record.node_id}</a>" in client.get(list_url("decision")).content.decode()
    archive_url = f"/p/shop/records/{record.node_id}/archive/"
    assert client.post(archive_url, {"version": "1"}).status_code == 409, "the plain-SQL write came first"
    assert client.post(archive_url, {"version": "2"}).status_code == 303
    edit = {"title": "", "decision": "D", "status": "accepted", "version": "3"}
    assert client.post(f"/p/shop/decisions/{record.pk}/edit/", edit).status_code == 422


@pytest.mark.parametrize("kind", LISTS)
def test_what_nobody_was_told_and_what_nobody_touched(agent, project, kind, monkeypatch):
    told, untold = make(kind, agent, project, "One"), make(kind, agent, project, "Two")
    note_reads([told.node_id], actor=agent, door="api.test")
    flush_reads()
    assert found(kind, project, "recalled=true") == {told.pk}
    assert found(kind, project, "recalled=false") == {untold.pk}
    assert found(kind, project, "unchanged_for=1") == set()
    later = timezone.now() + timedelta(days=40)
    monkeypatch.setattr(timezone, "now", lambda: later)
    assert found(kind, project, "unchanged_for=30") == {told.pk, untold.pk}
    assert found(kind, project, "unchanged_for=50") == set()


def test_outcomes_of_decisions_about_something(agent, project):
    about, other = (make("decision", agent, project, title) for title in ("Cache in Redis", "Serve by Nginx"))
    wanted = record_outcome(actor=agent, decision=about, type="outage")
    record_outcome(actor=agent, decision=other, type="outage")
    assert found("outcome", project, "about=redis") == {wanted.pk}
    assert found("outcome", project, "about=redis&type=success") == set()
    assert found("outcome", project, "about=postgres") == set()
