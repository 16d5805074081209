"""Every filter of every FilterSet; days in the reader's zone; what cannot be applied is explained."""

from datetime import UTC, date, datetime, timedelta

import pytest
from django.http import QueryDict
from django.utils import timezone
from django.utils.html import escape

from decisions.actions import change_status, create_decision, record_outcome
from decisions.filters import DecisionFilterSet, OutcomeFilterSet
from decisions.models import Decision
from patterns.actions import record_evidence
from patterns.filters import PatternFilterSet
from pitfalls.actions import meet_again
from pitfalls.filters import PitfallFilterSet
from recall.models import SearchText
from recall.tokenise import search_text
from records.models import RecordTag
from records.reads import flush_reads, note_reads
from records.sweep import sweep
from records.verbs import archive, review
from runs.filters import RunFilterSet
from tests.conftest import make_token
from tests.records.samples import LISTS, list_url, make, write_as_sql
from work_sessions.filters import SessionFilterSet

pytestmark = [pytest.mark.database, pytest.mark.django_db]

FILTERSETS = {
    "decision": DecisionFilterSet, "outcome": OutcomeFilterSet, "pattern": PatternFilterSet,
    "pitfall": PitfallFilterSet, "session": SessionFilterSet, "run": RunFilterSet,
}  # fmt: skip


def found(kind, project, query):
    filterset = FILTERSETS[kind]
    filters = filterset(
        QueryDict(query),
        queryset=filterset._meta.model.objects.filter(project=project),
        project_id=project.pk,
    )
    assert filters.problems == {}, filters.problems
    return {record.pk for record in filters.rows()}


def at(text):
    return datetime.fromisoformat(text).replace(tzinfo=UTC)


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


# --- Days ------------------------------------------------------------------------------------------------------------
ZONES = [
    # zone, instant in UTC, the day it is there
    ("UTC", "2026-03-15T23:30:00", "2026-03-15"),
    ("America/Sao_Paulo", "2026-03-15T02:59:59.999999", "2026-03-14"),
    ("America/Sao_Paulo", "2026-03-15T03:00:00", "2026-03-15"),
    ("Asia/Kolkata", "2026-03-14T18:29:59.999999", "2026-03-14"),
    ("Asia/Kolkata", "2026-03-14T18:30:00", "2026-03-15"),
    # 23 and 25 hours long: summer time begins and ends in Berlin
    ("Europe/Berlin", "2026-03-29T21:59:59", "2026-03-29"),
    ("Europe/Berlin", "2026-03-29T22:00:00", "2026-03-30"),
    ("Europe/Berlin", "2026-10-25T22:59:59", "2026-10-25"),
    ("Europe/Berlin", "2026-10-25T23:00:00", "2026-10-26"),
    # a day without a midnight, and a midnight after an hour that came twice
    ("America/Sao_Paulo", "2017-10-15T02:59:59", "2017-10-14"),
    ("America/Sao_Paulo", "2017-10-15T03:00:00", "2017-10-15"),
    ("America/Sao_Paulo", "2018-02-18T02:30:00", "2018-02-17"),
    ("America/Sao_Paulo", "2018-02-18T03:00:00", "2018-02-18"),
    ("Pacific/Apia", "2011-12-30T10:00:00", "2011-12-31"),  # the 30th was left out there
]


@pytest.mark.parametrize(("zone", "instant", "day"), ZONES)
def test_an_instant_is_on_the_day_that_it_is_in_the_readers_zone(agent, project, zone, instant, day):
    decision = make("decision", agent, project, decided_at=at(instant))
    run = make("run", agent, project, started_at=at(instant))
    before = date.fromordinal(date.fromisoformat(day).toordinal() - 1)
    after = date.fromordinal(date.fromisoformat(day).toordinal() + 1)
    with timezone.override(zone):
        assert found("decision", project, f"decided={day}") == {decision.pk}
        assert (
            found("decision", project, f"decided={before}")
            == found("decision", project, f"decided={after}")
            == set()
        )
        for kind, start, key in (("decision", "decided", decision.pk), ("run", "started", run.pk)):
            assert found(kind, project, f"{start}_after={day}&{start}_before={day}") == {key}
            assert found(kind, project, f"{start}_after={after}") == set()
            assert found(kind, project, f"{start}_before={before}") == set()


@pytest.mark.parametrize(
    "zone", ["UTC", "America/Sao_Paulo", "Asia/Kolkata", "Pacific/Kiritimati", "Pacific/Pago_Pago"]
)
def test_a_written_day_is_that_day_wherever_it_is_read(agent, project, zone):
    written = make("decision", agent, project, decided_at=at("2026-03-15T00:00:00"), decided_precision="day")
    with timezone.override(zone):
        assert found("decision", project, "decided=2026-03-15") == {written.pk}
        assert (
            found("decision", project, "decided=2026-03-14")
            == found("decision", project, "decided=2026-03-16")
            == set()
        )
        assert found("decision", project, "decided_after=2026-03-15&decided_before=2026-03-15") == {
            written.pk
        }
        assert found("decision", project, "decided_after=2026-03-16") == set()
        assert found("decision", project, "decided_before=2026-03-14") == set()


def test_a_person_filters_by_the_days_of_their_own_zone(client, curator_user, agent, project):
    make("decision", agent, project, title="Late at night", decided_at=at("2026-03-15T01:00:00"))
    curator_user.time_zone = "America/Sao_Paulo"
    curator_user.save()
    client.force_login(curator_user)
    assert "Late at night" in client.get(list_url("decision"), {"decided": "2026-03-14"}).content.decode()
    assert "Late at night" not in client.get(list_url("decision"), {"decided": "2026-03-15"}).content.decode()


@pytest.mark.parametrize("zone", ["America", "../../etc/passwd", "Mars/Olympus", "\x00", "Europe/", "a" * 60])
def test_a_zone_that_is_none_is_utc(client, curator_user, project, zone):
    curator_user.time_zone = zone
    curator_user.save()
    client.force_login(curator_user)
    assert client.get(list_url("decision")).status_code == 200


@pytest.mark.parametrize("zone", ["UTC", "America/Sao_Paulo", "Asia/Kolkata", "Pacific/Kiritimati"])
def test_times_at_the_edge_of_the_calendar_are_shown_everywhere(client, curator_user, agent, project, zone):
    curator_user.time_zone = zone
    curator_user.save()
    client.force_login(curator_user)
    records = {kind: make(kind, agent, project, "T") for kind in ("decision", "session", "run", "outcome")}
    for when in (datetime(9999, 12, 31, 23, 59, 59, tzinfo=UTC), datetime(1, 1, 1, tzinfo=UTC)):
        write_as_sql(records["decision"], decided_at=when, sort_at=when)
        write_as_sql(records["session"], started_at=when, ended_at=when, created_at=when)
        write_as_sql(records["run"], started_at=when, ended_at=when, reviewed_at=when)
        write_as_sql(records["outcome"], occurred_at=when)
        for kind, record in records.items():
            assert client.get(list_url(kind)).status_code == 200, (kind, when)
            assert client.get(f"/r/{record.node_id}/", follow=True).status_code == 200, (kind, when)
        for name in ("decisions", "outcomes"):
            pk = records[name.removesuffix("s")].pk
            assert client.get(f"/p/shop/{name}/{pk}/edit/").status_code == 200, (name, when)


# --- What cannot be applied -----------------------------------------------------------------------------------------
WRONG = [
    *[(kind, {"colour": "red"}) for kind in LISTS],
    *[(kind, {"sort": "colour"}) for kind in LISTS],
    *[(kind, {"show": "some"}) for kind in ("decision", "run")],
    *[(kind, {"review": "maybe"}) for kind in ("decision", "run")],
    *[(kind, {"source": "alien"}) for kind in ("decision", "run")],
    *[(kind, {"cursor": "garbage"}) for kind in ("decision", "run")],
    *[(kind, {"format": "xls"}) for kind in ("decision", "run")],
    *[(kind, {"page_size": "3"}) for kind in ("decision", "run")],
    *[(kind, {"project": "bank"}) for kind in ("decision", "run")],
    *[(kind, {"q": "a\x00b"}) for kind in ("decision", "run")],
    *[(kind, {"tag": "t" * 101}) for kind in ("decision", "run")],
    ("decision", {"status": ["accepted", "nope"]}),
    ("decision", {"decided": "yesterdayish"}), ("decision", {"decided": "2026-02-30"}),
    ("decision", {"decided_after": "0001-01-01"}), ("decision", {"decided_before": "9999-12-31"}),
    ("outcome", {"decision": "dec_1"}), ("outcome", {"decision": "0"}), ("outcome", {"decision": str(2**31)}),
    ("pattern", {"confidence_min": "2"}), ("pattern", {"confidence_max": "nan"}), ("pattern", {"usage_min": "-1"}),
    ("pattern", {"usage_min": "0.5"}), ("outcome", {"decision": "1.5"}), ("pitfall", {"met_min": "1e1"}),
    ("pattern", {"usage_min": str(10**30)}), ("pitfall", {"met_min": "often"}), ("pitfall", {"severity": "dire"}),
    ("session", {"open": "banana"}), ("run", {"escalated": "2"}), ("run", {"status": "done"}),
]  # fmt: skip


@pytest.mark.parametrize(("kind", "query"), WRONG)
def test_a_filter_that_cannot_be_applied_is_explained(client, curator_user, agent, project, kind, query):
    make(kind, agent, project, "Not to be seen")
    client.force_login(curator_user)
    answer = client.get(list_url(kind), query, headers={"HX-Request": "true"})
    page = answer.content.decode()
    assert answer.status_code == 422
    assert 'role="alert"' in page
    assert f"<b>{next(iter(query))}</b>" in page
    if "format" not in query and "page_size" not in query and "project" not in query:
        assert "Not to be seen" not in page


def test_hostile_names_and_values_of_filters_are_escaped(client, curator_user, agent, project):
    make("decision", agent, project)
    client.force_login(curator_user)
    for query in (
        {"<script>alert(1)</script>": "x"}, {"q": "<script>alert(1)</script>"}, {"tag": '"><script>alert(1)</script>'},
        {"sort": "<script>alert(1)</script>"}, {"format": "<script>alert(1)</script>"}, {"q": "%_\\' OR 1=1 --"},
        {"by": "‮<script>alert(1)</script>"}, {"q": " ".join("abcdefgh" * 12)}, {"q": "x" * 201}, {"cursor": "<script>"},
    ):  # fmt: skip
        answer = client.get(list_url("decision"), query)
        assert answer.status_code in (200, 422), query
        assert "<script>alert" not in answer.content.decode()


def test_words_with_the_wildcards_of_sql_are_words(agent, project):
    percent, plain = (
        make("decision", agent, project, "100 % sure_"),
        make("decision", agent, project, "100 x sure!"),
    )
    assert found("decision", project, "q=%25") == {percent.pk}
    assert found("decision", project, "q=sure_") == {percent.pk}
    assert found("decision", project, "q=sure+100") == {percent.pk, plain.pk}


# --- Chips and counts -----------------------------------------------------------------------------------------------
def test_each_filter_in_force_is_a_chip_with_the_way_out(client, curator_user, agent, project):
    make("decision", agent, project, tags=["redis"])
    client.force_login(curator_user)
    page = client.get(
        list_url("decision") + "?status=accepted&status=pending&tag=redis&sort=oldest"
    ).content.decode()
    for address, label, value in (
        ("?status=pending&tag=redis&sort=oldest", "Status", "accepted"),
        ("?status=accepted&tag=redis&sort=oldest", "Status", "pending"),
        ("?status=accepted&status=pending&sort=oldest", "Tag", "redis"),
    ):
        assert f'href="{escape(list_url("decision") + address)}"' in page
        assert f"<span>{label} <b>{value}</b></span>" in page
    assert "show" not in [chip.label for chip in DecisionFilterSet(QueryDict("show=active")).chips("/")]


def test_a_chip_forgets_the_page_and_names_yes_and_no(project):
    filters = SessionFilterSet(
        QueryDict("open=true&cursor=abc"), queryset=SessionFilterSet._meta.model.objects.all()
    )
    assert filters.chips("/s/") == [("Still open", "yes", "/s/")]


def test_the_hidden_count_is_of_these_very_filters(client, curator_user, agent, curator, project):
    redis, other = make("decision", agent, project, tags=["redis"]), make("decision", agent, project, "Other")
    archive([redis, other], actor=curator)
    change_status(actor=curator, decisions=[other], status="rejected", reason="x")
    client.force_login(curator_user)
    assert "2 hidden" in client.get(list_url("decision")).content.decode()
    assert "1 hidden" in client.get(list_url("decision"), {"tag": "redis"}).content.decode()
    page = client.get(list_url("decision"), {"tag": "none"}).content.decode()
    assert " hidden</a>" not in page
    assert "Nothing matches these filters" in page
    assert " hidden</a>" not in client.get(list_url("decision"), {"show": "all"}).content.decode()


def test_a_rejected_memory_asked_for_by_its_state_is_shown(as_curator, agent, curator, project):
    rejected, archived = (
        create_decision(actor=agent, project=project, title=title, decision="x")
        for title in ("Wrong", "Old and wrong")
    )
    review([rejected, archived], "rejected", actor=curator, reason="wrong")
    archive([archived], actor=curator)
    answer = as_curator.get("/p/shop/decisions/", {"review": "rejected"})
    assert "Wrong" in answer.content.decode()
    assert "Old and wrong" not in answer.content.decode()
    assert answer.context["hidden_count"] == 1


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


LINES = {
    "redis status:accepted confidence:>0.5": None,
    "cache status:rejected": set(),
    "cache status:accepted tag:x": {"one"},
    "cache": {"one", "two"},
    '"in redis"': {"one"},
    "cache -redis": {"two"},
    "by:order-bot cache decided:2020-01-01": set(),
    "kind:pattern cache": None,
    "colour:red": None,
}


@pytest.mark.parametrize("line", LINES)
def test_q_is_a_line_of_search(agent, project, line):
    kept = {
        "one": make("decision", agent, project, "Cache in Redis", tags=["x"]).pk,
        "two": make("decision", agent, project, "Cache in Valkey").pk,
    }
    make("decision", agent, project, "Serve by Nginx")
    query = QueryDict(mutable=True)
    query["q"] = line
    filterset = FILTERSETS["decision"](query, Decision.objects.filter(project=project), project_id=project.pk)
    wanted = LINES[line]
    if wanted is None:
        assert filterset.problems["q"]
        assert not filterset.rows().exists()
    else:
        assert not filterset.problems
        assert {row.pk for row in filterset.rows()} == {kept[name] for name in wanted}


@pytest.mark.django_db(transaction=True)  # InnoDB's index of words holds what is committed
def test_q_finds_words_of_the_text_and_ids(agent, project):
    inside = make("decision", agent, project, "Plain title")
    other = make("decision", agent, project, "Another title")
    SearchText.objects.create(
        node_id=inside.node_id, kind="decision", project_id=project.pk, content_hash="x", words=search_text("jitter of retries")
    )  # fmt: skip
    assert found("decision", project, "q=jitter") == {inside.pk}
    assert (
        found("decision", project, "q=jitter+title") == set()
    )  # the index has all of the text, title included
    assert found("decision", project, "q=title+-jitter") == {other.pk}
    assert found("decision", project, f"q={other.node_id}") == {other.pk}
    assert found("decision", project, "q=%22of+retries%22") == {inside.pk}


def test_a_filter_that_contradicts_the_line_is_told(project):
    filterset = FILTERSETS["decision"](QueryDict("q=by:ada+x&by=bob"), Decision.objects.all())
    assert filterset.problems["q"]
